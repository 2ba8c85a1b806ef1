"""What queues come to by discipline: a module for each family, and the table of all of them."""
