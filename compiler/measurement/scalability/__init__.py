"""Load-dependent stations fitted to tables of concurrency and throughput."""
