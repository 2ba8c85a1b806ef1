"""Specs of systems that were observed, as a person reads and keeps them."""
