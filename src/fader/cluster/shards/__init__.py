"""A collection whose segments are elsewhere: shards, their answers, and how these are put together."""
