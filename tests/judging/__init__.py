"""Tests of judgments and of what is learned from them."""
