"""Expressions: names bound, dimensions inferred, numbers folded."""
