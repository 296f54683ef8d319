"""A comparison as tables, figures and pages.

Imports `experiment` and the standard library; draws, and measures nothing.
"""
