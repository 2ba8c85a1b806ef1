"""Numbers of single queues: waits, tails and quantiles, one at a time and on arrays."""
