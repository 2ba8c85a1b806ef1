"""Programs: formulas as lists of steps, and runs of them on arrays, floats and fractions."""
