"""Pools: how many places are taken, and how long one is waited for."""
