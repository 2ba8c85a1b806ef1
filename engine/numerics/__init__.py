"""Floats: intervals, bisection, blocks of arrays, and quasi-random points."""
