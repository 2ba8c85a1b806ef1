"""From a configuration to the load graph."""
