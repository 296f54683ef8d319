"""A comparison as tables, figures and pages.

May import the data of `experiment` (comparisons, provenance, significance). It draws and writes, and measures nothing.
"""
