"""Claims, drift and simulations as text and as reports for machines."""
