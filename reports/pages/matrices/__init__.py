"""Pages of matrices and their files."""
