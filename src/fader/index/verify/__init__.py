"""Checks of an index that trust nothing of it: checksums, invariants, packed structures."""
