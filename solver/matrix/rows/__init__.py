"""Rows solved: many at once in arrays, and exactly where arrays cannot decide."""
