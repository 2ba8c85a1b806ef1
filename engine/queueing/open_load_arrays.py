"""Stations of several servers that open visits share with closed customers, on arrays."""

from __future__ import annotations

from math import lgamma

import numpy as np

from qps.engine.numerics.array_blocks import Array


def busy_servers(servers: Array, load: Array) -> Array:
    """Return how many servers serve one, two, … closed customers of a copy, up to all of them.

    `servers` are whole numbers, `load` that of open visits, in erlangs, below them. As a product
    form a station is its weights of n closed customers, over all numbers of open ones (Baskett,
    Chandy, Muntz and Palacios 1975): what it serves them at is a weight over the next one. Weights
    are sums of positive terms, by Pascal's rule; from all servers but one on they are geometric.
    """
    there = np.arange(1.0, servers.max() + 1)[:, None]
    alone = np.minimum(there, servers) - load
    if not load.any():
        return alone
    weights = _weights(servers, load)
    ratios = weights[:-1] / weights[1:] * servers
    found = np.where(there[:-1] < servers, ratios, alone[:-1])
    return np.where(load > 0, np.concatenate((found, alone[-1:])), alone)


def _weights(servers: Array, load: Array) -> Array:
    """Return weights of none, one, … closed customers, to all servers but one.

    Their demand is so large that each takes all servers once: then no weight is too small.
    """
    count = np.arange(servers.max())[:, None]
    factorials = np.array([lgamma(k + 1) for k in range(len(count))])[:, None]
    with np.errstate(all="ignore"):
        held = np.where(load > 0, np.exp(count * np.log(load) - load - factorials), count == 0)
        closed = np.exp(count * np.log(servers) - servers - factorials)
    fewer = np.concatenate((np.zeros((1, load.size)), np.cumsum(held, axis=0)))
    others = np.maximum(servers - 1 - count, 0).astype(np.int64)
    held, fewer = np.take_along_axis(held, others, 0), np.take_along_axis(fewer, others, 0)
    found, full = np.empty_like(held), np.zeros_like(load)
    for k in range(len(count)):
        # All servers but one are busy, or more.
        full = (full + closed[k] * held[k]) / (1 - load / servers)
        found[k] = closed[k] * fewer[k] + full
    return found
