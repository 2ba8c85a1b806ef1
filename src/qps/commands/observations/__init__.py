"""What `qps observe` writes that is no table."""
