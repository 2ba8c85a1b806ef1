"""Words of output: quantities, labels, phrases, marks of certainty."""
