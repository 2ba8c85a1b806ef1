"""Specs brought up to date: which of their numbers were observed, and what new observations say."""
