"""The cache of the command line: checked specs, load graphs and runs of matrices."""
