"""Aggregators V(e): from the scores of an entity's contexts to one value; one idea, one file."""
