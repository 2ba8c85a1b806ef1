"""Where a matrix is solved: in processes of this machine, or on a cluster."""
