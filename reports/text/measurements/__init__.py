"""Fits, measurements and traces as text."""
