"""Words of what is no operation of the table: leaves of formulas, and whole powers in programs."""

NUMBER, INPUT, POPULATION, WHOLE_POWER = "number", "value", "n", "^"
