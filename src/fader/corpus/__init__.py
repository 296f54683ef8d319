"""From files to documents, entities, types and tokens; knows nothing of indexes or queries."""
