"""What operations do: a module for each column of the table, a function for each of its rows."""
