"""Slow, plain programs that the engine is compared with."""
