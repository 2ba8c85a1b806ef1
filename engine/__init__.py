"""What an operation is: its values, bounds and slopes, each operation in one place."""
