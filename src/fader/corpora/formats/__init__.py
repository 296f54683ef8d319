"""Importers: one file per foreign format, found by discovery. Imports `corpora.frame` and `corpora.parsers`."""
