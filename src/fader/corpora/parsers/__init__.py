"""Readers of foreign syntaxes (RDF, web pages, JSON, wikitext, TREC): text in, records out. Knows no importer."""
