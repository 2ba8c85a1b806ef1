"""The cheapest configuration that supports a population, with a proof that none is cheaper."""
