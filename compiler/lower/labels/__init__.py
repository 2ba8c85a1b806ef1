"""How numbers are known: what methods need of the network, and labels without."""
