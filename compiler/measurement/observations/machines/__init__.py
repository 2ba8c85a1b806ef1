"""What single tools record of the processors of a machine, a module for each."""
