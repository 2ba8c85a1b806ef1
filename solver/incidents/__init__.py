"""What happens while something fails or is slow, and whether the system returns by itself."""
