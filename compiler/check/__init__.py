"""From the syntax tree to the checked model."""
