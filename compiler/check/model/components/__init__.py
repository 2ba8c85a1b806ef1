"""Declarations of components: their costs, their effects, the threads that they share."""
