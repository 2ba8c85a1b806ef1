"""Results of single load generators, a module for each way of writing them."""
