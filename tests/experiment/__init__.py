"""Measures, compared with an outsider's."""
