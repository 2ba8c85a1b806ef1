"""Changes of a model: scenarios, modes, and settings of a command line."""
