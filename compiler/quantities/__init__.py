"""Dimensions, units and quantities, and how a number is known."""
