"""Drawings: charts, the picture of the system, the strip of a request."""
