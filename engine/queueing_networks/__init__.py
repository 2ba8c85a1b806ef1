"""Numbers of closed networks: customers who think and come back to stations."""
