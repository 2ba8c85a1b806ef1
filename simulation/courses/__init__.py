"""Incidents and days as single requests over time, by simulation: it knows nothing of fluids."""
