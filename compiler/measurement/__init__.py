"""Measurements: tables, fits to them, recorded packets. It knows nothing of specs."""
