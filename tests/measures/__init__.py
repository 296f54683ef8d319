"""Measures of one query, against their definitions."""
