"""A checked model with everything settled but the population."""
