"""The parts of `qps matrix`: what is requested, the work, and where rows go."""
