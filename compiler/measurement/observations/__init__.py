"""What others have measured: outputs of tools and a Prometheus, read into tables of runs."""
