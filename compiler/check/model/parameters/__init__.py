"""Declarations of parameters and options, and of how uncertain numbers go together."""
