"""Formulas as text."""
