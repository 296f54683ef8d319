"""Tests of answers and of their evidence."""
