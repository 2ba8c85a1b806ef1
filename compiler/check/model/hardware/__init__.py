"""Declarations of hardware: machines, networks, their resources, and where they stand."""
