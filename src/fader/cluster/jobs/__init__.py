"""Batch, contexts and compare over the shards of a cluster."""
