"""From a matrix to plain data: its structures, modes and questions, compiled once."""
