"""The states of machines that fail independently, the most probable first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from math import exp, lgamma, log

from msgspec import Struct

_LEAST = 1e-14
"""Probability of a number of failures below which it is not looked at."""


class FailingPlace(Struct, frozen=True, kw_only=True):
    """A node or link with `count` machines, each out of service for a part of the time."""

    name: str
    count: int
    unavailability: float

    def probability(self, failed: int) -> float:
        """Return how likely it is that so many are out of service at the same time.

        Each fails and is repaired independently of all others: the number is binomial. In
        logarithms, as the ways to choose some of thousands of machines exceed what a float holds.
        """
        down, up = self.unavailability, 1 - self.unavailability
        if down <= 0:
            return 1.0 if failed == 0 else 0.0
        working = self.count - failed
        ways = lgamma(self.count + 1) - lgamma(failed + 1) - lgamma(working + 1)
        return exp(ways + failed * log(down) + working * log(up))


class FailureState(Struct, frozen=True, kw_only=True):
    """So many machines of each place out of service, and how likely that is."""

    failed: tuple[int, ...]
    probability: float


def states_of(places: Sequence[FailingPlace]) -> Iterator[FailureState]:
    """Yield the states of places, the most probable first.

    Numbers of failures that are less likely than 1e-14 are left out.
    """
    orders = [_by_probability(place) for place in places]
    first = (0,) * len(places)
    heap = [(-_joint(orders, first), first)]
    seen = {first}
    while heap:
        negative, ranks = heappop(heap)
        failed = tuple(order[rank][0] for order, rank in zip(orders, ranks, strict=True))
        yield FailureState(failed=failed, probability=-negative)
        for place, order in enumerate(orders):
            after = (*ranks[:place], ranks[place] + 1, *ranks[place + 1 :])
            if after[place] < len(order) and after not in seen:
                seen.add(after)
                heappush(heap, (-_joint(orders, after), after))


def _by_probability(place: FailingPlace) -> list[tuple[int, float]]:
    """Return the numbers of failures of a place with their probabilities, the likeliest first."""
    found = [(failed, place.probability(failed)) for failed in range(place.count + 1)]
    likely = [one for one in found if one[1] >= _LEAST] or [max(found, key=lambda one: one[1])]
    return sorted(likely, key=lambda one: -one[1])


def _joint(orders: Sequence[Sequence[tuple[int, float]]], ranks: Sequence[int]) -> float:
    found = 1.0
    for order, rank in zip(orders, ranks, strict=True):
        found *= order[rank][1]
    return found


def named(places: Sequence[FailingPlace], state: FailureState) -> Mapping[str, int]:
    """Return the places of a state in which something has failed, with how many."""
    pairs = zip(places, state.failed, strict=True)
    return {place.name: failed for place, failed in pairs if failed}
