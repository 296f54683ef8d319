"""Importers: foreign formats to Fader's own files, one importer one file, found by looking into this folder.

`base` says what an importer is, `run` runs one. Nothing here knows of an index.
"""
