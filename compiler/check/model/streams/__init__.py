"""Declarations of streams: their sources, visits, steps, routes and pools."""
