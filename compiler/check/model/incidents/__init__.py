"""Checks of what happens for a time: incidents, caches, autoscalers, clients that retry."""
