"""Changes of specs, sizings and inverse questions as text."""
