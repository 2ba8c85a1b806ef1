"""Declarations of a model: hardware, components, streams, requirements, parameters."""
