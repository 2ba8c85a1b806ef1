"""The queueing network that a spec means, as one value: nothing solved, averaged or waited for."""
