"""Tests of training: losses, fits, soft cutoffs, model files."""
