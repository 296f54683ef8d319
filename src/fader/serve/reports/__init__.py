"""Reports of comparisons as they are served: read, kept until they change, and their files. Knows nothing of routes."""
