"""Judgments of people: kept for good beside an index, exported as judged queries, and learned from."""
