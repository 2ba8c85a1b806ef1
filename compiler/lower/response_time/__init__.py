"""Response times: stages, calls in parallel, and quantiles of sums."""
