"""Types of numpy where there is none."""

from numpy import __getattr__  # noqa: F401 - each type is imported by its name
