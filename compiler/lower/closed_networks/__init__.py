"""Closed networks as operations of the engine, and elastic parameters beside them."""
