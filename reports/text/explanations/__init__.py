"""Explanations: numbers taken apart, networks, codes and rules."""
