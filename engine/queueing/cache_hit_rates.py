"""Hit rates of least-recently-used caches whose items are requested by a Zipf law, cold and warm.

A warm cache of `size` items has the items of the last T requests, about: T is such that as many
different ones are among these as fit (Che, Tung and Wang 2002; Fricker, Robert and Roberts 2012). A
cold cache has those of the requests since it was emptied: it fills by the same sum.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp

from msgspec import Struct

_STEPS = 200
"""Steps of the search for the characteristic time; each halves what is left."""
_ROUNDING = 1e-12
_GROUPED = 1_000
"""The most popular items are taken one by one, the others in groups of items that are alike."""
_WIDTH = 1.002
"""How far the ranks of a group are apart, at most."""


class WarmCache(Struct, frozen=True):
    """A cache in steady state: its hit rate, and after how many requests an item is evicted."""

    hit_rate: float
    requests: float


class Popularity(Struct, frozen=True):
    """Groups of items that are requested alike: how many, and the probability of each item."""

    counts: tuple[float, ...]
    probabilities: tuple[float, ...]


@lru_cache(maxsize=64)
def zipf(items: int, exponent: float) -> Popularity:
    """Return how often items are requested: the one of rank r in proportion to r^-exponent."""
    counts: list[float] = []
    weights: list[float] = []
    rank = 1
    while rank <= items:
        last = rank if rank <= _GROUPED else min(items, int(rank * _WIDTH))
        counts.append(last - rank + 1)
        weights.append(((rank + last) / 2) ** -exponent)
        rank = last + 1
    whole = sum(count * weight for count, weight in zip(counts, weights, strict=True))
    return Popularity(tuple(counts), tuple(weight / whole for weight in weights))


def hit_rate_after(popularity: Popularity, requests: float) -> float:
    """Return the hit rate of a cache that has all items of so many requests, and no others."""
    return sum(
        count * share * (1 - exp(-share * requests))
        for count, share in zip(popularity.counts, popularity.probabilities, strict=True)
    )


@lru_cache(maxsize=64)
def warm_cache(items: int, exponent: float, size: int) -> WarmCache:
    """Return the steady state of a cache with room for `size` of the items."""
    popularity = zipf(items, exponent)
    if size >= items:
        return WarmCache(1.0, float("inf"))
    low, high = 0.0, float(size)
    while _different(popularity, high) < size:
        high *= 2
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if _different(popularity, middle) < size:
            low = middle
        else:
            high = middle
        if high - low <= _ROUNDING * high:
            break
    return WarmCache(hit_rate_after(popularity, high), high)


def _different(popularity: Popularity, requests: float) -> float:
    """Return how many different items are among so many requests."""
    return sum(
        count * (1 - exp(-share * requests))
        for count, share in zip(popularity.counts, popularity.probabilities, strict=True)
    )
