"""The index on disk: immutable, checksummed, memory-mapped; knows nothing of queries or scores."""
