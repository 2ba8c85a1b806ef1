"""Expressions and numbers of a spec as formulas."""
