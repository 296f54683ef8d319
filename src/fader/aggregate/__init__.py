"""Aggregators V(e): from the scores of an entity's contexts to one value; one idea, one file.

They know nothing of features, queries or storage: a score is a number, an entity a stretch of an array.
"""
