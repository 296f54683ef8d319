"""Input that nobody should write: no crash, no traceback, no hang, and what is good among it is used."""
