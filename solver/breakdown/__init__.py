"""Numbers taken apart: the formula of a name, its parts, and what they come to at a population."""
