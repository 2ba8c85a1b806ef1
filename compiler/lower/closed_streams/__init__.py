"""Closed streams and elastic parameters, solved: cycles, classes and what is left."""
