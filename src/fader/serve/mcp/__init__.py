"""The tools of a service for assistants, over the Model Context Protocol at /mcp.

`tools` may import the service and its answers; only `server` imports the SDK, late; `endpoint` is what the app mounts.
"""
