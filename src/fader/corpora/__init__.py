"""Corpora in foreign formats, and raw text: both become Fader's own files. Nothing here knows of an index.

formats     one importer per file, found by discovery
frame       what an importer is (`base`), how one is run and resumed (`run`), what its records must be (`records`)
discover    entities found in texts, where there is no catalog
files       files as people have them: PDF, DOCX, mail, tables and others
parsers     readers of foreign syntaxes
annotate    the dictionary annotator
"""
