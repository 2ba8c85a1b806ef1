"""Live models: what the scripts of a page compute with."""
