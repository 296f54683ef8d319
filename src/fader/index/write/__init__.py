"""How an index comes about and changes: ingest, freeze, merge, commit. Imports `index` and `corpus`."""
