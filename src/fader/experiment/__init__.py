"""How good a ranking is, against judgments; knows nothing of how it was made."""
