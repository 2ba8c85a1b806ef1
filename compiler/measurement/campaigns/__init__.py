"""What programs on this machine use while a load generator asks them for work."""
