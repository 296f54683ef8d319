"""What the service may be asked and what it answers: parameters, shapes of answers, the OpenAPI description.

Imports the answers of `fader.search` and nothing of routes, middleware or MCP, which all build on it.
"""
