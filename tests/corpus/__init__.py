"""Tests of the way from files to documents, catalogs and tokens."""
