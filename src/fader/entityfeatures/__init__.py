"""Features of entities: one file per family of columns h(e), beside the features f(x, e) of contexts."""
