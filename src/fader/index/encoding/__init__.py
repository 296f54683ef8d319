"""Encodings of numbers and strings on disk: packed lists, string tables, varints. Knows nothing of what they mean."""
