"""Entities found in the texts themselves, for those who have no catalog: a catalog file that a person can edit.

`names` finds capitalised names, `patterns` what texts say of them, `grouping` puts spellings of one entity together,
`find` does it all for a corpus, and `spacy_names` adds what a spaCy model finds. docs/discovery.md measures it.
"""
