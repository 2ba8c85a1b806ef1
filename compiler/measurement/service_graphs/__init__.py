"""From metrics of service graphs, as a Prometheus has them, to the graph of calls of a system."""
