"""Matrices: many configurations solved at once, in arrays.

Configurations of one structure share a lowered graph (`variants`), compiled to a straight-line
program (`program`) that is run on arrays (`arrays`), on intervals (`intervals`) to prove what is
monotone, and on exact fractions (`exact`) where floats cannot decide. `first_failures` finds the
largest acceptable populations with it, `row_ranges` makes the columns, `matrix_run` does all parts
of a matrix.
"""
