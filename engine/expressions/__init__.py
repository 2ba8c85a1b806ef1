"""Formulas: their nodes, what they are at a point, and what is the same as they are but simpler."""
