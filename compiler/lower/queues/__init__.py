"""Queues of stations: their loads, arrivals and waits, as values."""
