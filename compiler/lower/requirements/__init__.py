"""Requirements, targets and measures of a lowered model."""
