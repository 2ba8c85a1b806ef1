"""A cache during an incident: how many requests have filled it, and its hit rate."""

from __future__ import annotations

from bisect import bisect
from functools import lru_cache
from math import inf
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.engine.queueing.cache_hit_rates import hit_rate_after, warm_cache, zipf
from qps.solver.incidents.incident_system import RequestStream, WarmingCache

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

_POINTS = 160
_SMALLEST = 0.01


class FillingCache(Struct, kw_only=True):
    """A cache that was warm at first; `filled` requests have brought it items since it was empty.

    Hit rates are interpolated between numbers of `requests`, up to that at which it is full.
    """

    name: str
    requests: tuple[float, ...]
    rates: tuple[float, ...]
    filled: float = inf
    rate: float = 0.0

    @classmethod
    def of(cls, cache: WarmingCache) -> FillingCache:
        """Return a cache in steady state."""
        requests, rates = _filling(cache.items, cache.exponent, cache.size)
        return cls(name=cache.name, requests=requests, rates=rates, rate=rates[-1])

    def fill(self, requests: float) -> None:
        """Count requests that have brought an item, of all those that look for one here."""
        if requests > 0 and self.filled < self.requests[-1]:
            self.filled += requests
            self._look_up()

    def flush(self) -> None:
        """Empty it."""
        self.filled = 0.0
        self._look_up()

    def _look_up(self) -> None:
        place = bisect(self.requests, self.filled)
        if place == len(self.requests):
            self.rate = self.rates[-1]
            return
        low, high = self.requests[place - 1], self.requests[place]
        part = (self.filled - low) / (high - low)
        self.rate = self.rates[place - 1] + part * (self.rates[place] - self.rates[place - 1])


@lru_cache(maxsize=64)
def _filling(items: int, exponent: float, size: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return after how many requests a cache has which hit rate, up to that of a steady state."""
    popularity = zipf(items, exponent)
    warm = warm_cache(items, exponent, size)
    last = warm.requests
    if last == inf:  # everything fits: full once the rarest item was requested
        last = 20 / popularity.probabilities[-1]
    growth = (last / _SMALLEST) ** (1 / (_POINTS - 1))
    requests = (0.0, *(_SMALLEST * growth**number for number in range(_POINTS)))
    rates = [hit_rate_after(popularity, one) for one in requests]
    rates[-1] = warm.hit_rate
    return requests, tuple(rates)


def fetched(stream: RequestStream, missed: float, amounts: Amounts) -> float:
    """Return for how many requests of their time the misses among some stand, by their keys.

    Of all requests of that time, a part has `missed`. Retries fetch nothing new.
    """
    first = amounts[: len(stream.routes)]
    pairs = zip(stream.routes, first, strict=True)
    misses = sum(float(amount) for route, amount in pairs if route.per_hit < 0)
    return misses / missed if missed > 0 else 0.0


def sent_again(stream: RequestStream, missed: float, rate: float, amounts: Amounts) -> Amounts:
    """Return requests that are sent again, by routes: their items may be in the cache by now."""
    stay = min(1.0, (1 - rate) / missed) if missed > 0 else 1.0
    if stay == 1.0:
        return amounts
    again = amounts.copy()
    gained = sum(one.per_hit for one in stream.routes if one.per_hit > 0)
    moved = 0.0
    for place, route in enumerate(stream.routes):
        if route.per_hit < 0:
            moved += (1 - stay) * float(amounts[place])
            again[place] *= stay
    for place, route in enumerate(stream.routes):
        if route.per_hit > 0:
            again[place] += moved * route.per_hit / gained
    return again
