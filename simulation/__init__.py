"""Simulation of the network packet by packet."""
