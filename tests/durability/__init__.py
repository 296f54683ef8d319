"""Power losses, killed writers and failing system calls: what an index promises of its commits."""
