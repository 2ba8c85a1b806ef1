"""What programs on this machine use under a load generator."""
