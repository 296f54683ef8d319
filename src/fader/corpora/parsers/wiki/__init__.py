"""What the `wikipedia` importer is made of: pages of a dump, titles, redirects, wikitext, nouns and types.

Nothing here knows of batches and processes.
"""
