"""What `qps explain` explains: numbers, codes, networks."""
