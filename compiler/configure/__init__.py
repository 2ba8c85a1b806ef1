"""A checked model with everything decided but the population."""
