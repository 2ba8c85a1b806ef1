"""Changes of the text of a spec that may raise the capacity: choices of who builds the system."""
