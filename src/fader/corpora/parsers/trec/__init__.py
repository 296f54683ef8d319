"""Files of TREC tracks: documents, topics, judgments."""
