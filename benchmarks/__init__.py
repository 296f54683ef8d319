"""Benchmarks: Fader against DuckDB, Polars, numpy and tantivy on one synthetic corpus. See README.md."""
