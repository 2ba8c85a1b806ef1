"""What is declared, and what a name means where it stands."""
