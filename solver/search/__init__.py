"""Where a function of the population is first above zero."""
