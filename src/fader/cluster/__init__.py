"""Beyond one machine: the same jobs over shards, exact to the bit. The one place that imports Ray and fsspec.

Both come with the extra `cluster` and are imported inside of functions, so that everything else works without them.
"""
