"""Words of what is no operation of the table: leaves of formulas, and whole powers in programs.

They are no functions of their operands alone: their value says which it is.
"""

NUMBER, INPUT, POPULATION, WHOLE_POWER = "number", "value", "n", "^"
