"""Exact numbers and functions of one variable: fractions, powers, polynomials and their roots."""
