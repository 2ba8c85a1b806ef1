"""The arguments of the commands: how they are declared, checked and explained."""
