"""The parts of `qps matrix`: what is asked for, the work, and where rows go."""
