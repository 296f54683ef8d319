"""An index built on many machines: pieces, buckets, tasks, one commit."""
