"""Tests of the step from a query to its contexts."""
