"""Spans and tokens: where a mention is in a text."""
