"""Tests of the contracts that every part of a kind keeps, found by discovery."""
