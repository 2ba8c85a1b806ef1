"""Costs that are fitted to tables of measurements."""
