"""What failures do: how often all requirements are met."""
