"""Where criteria first fail and resources saturate, for many rows at once."""
