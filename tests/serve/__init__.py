"""Tests of the service: HTTP, MCP and the page; `live.py` runs one on a port of loopback."""
