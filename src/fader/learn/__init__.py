"""Training weights through aggregation, from judgments of entities; cross-validation; model files."""
