"""Retries of cache misses whose item has come meanwhile: the first attempt has brought it.

An attempt that its client has given up is still served, and what it reads goes into the cache. So a
retry that has to wait before it looks there may find its item.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from qps.solver.incidents.flow_layout import FlowLayout
from qps.solver.incidents.incident_system import IncidentSystem, RequestRoute, RequestStream

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Amounts = NDArray[np.float64]
else:
    Amounts = Any

ENTRY = -1
"""Where requests are before their first station."""


class Refetch(Struct, frozen=True, kw_only=True):
    """A retry on a way of misses, at the place from which the way of hits goes elsewhere.

    `hits` are the keys of that way with their parts, `first` is the key of the first attempt, which
    was sent so many `steps` earlier.
    """

    place: int
    miss: int
    hits: tuple[tuple[int, float], ...]
    first: int
    steps: int


def refetches(
    system: IncidentSystem, layout: FlowLayout, step: float
) -> dict[int, tuple[Refetch, ...]]:
    """Return the retries that may find their items, by the stations that they leave then."""
    found: dict[int, list[Refetch]] = {}
    for number, stream in enumerate(system.streams):
        if stream.cache is None or stream.retry is None:
            continue
        for one in _of_stream(stream, layout.of_stream[number], step):
            found.setdefault(one.place, []).append(one)
    return {place: tuple(each) for place, each in found.items()}


def _of_stream(stream: RequestStream, slices: tuple[slice, ...], step: float) -> Iterator[Refetch]:
    retry = stream.retry
    assert retry is not None
    hits = [place for place, one in enumerate(stream.routes) if one.per_hit > 0]
    for miss, route in enumerate(stream.routes):
        if route.per_hit >= 0 or not hits:
            continue
        shared = {one: _shared(route, stream.routes[one]) for one in hits}
        longest = max(shared.values())
        near = [one for one in hits if shared[one] == longest]
        total = sum(stream.routes[one].per_hit for one in near)
        steps = 0
        for attempt in range(1, len(slices)):
            wait = retry.backoff * 2 ** (attempt - 1)
            steps += max(1, round(retry.timeout / step)) + max(1, round(wait / step))
            start = slices[attempt].start
            yield Refetch(
                place=route.visits[longest - 1][0] if longest else ENTRY,
                miss=start + miss,
                hits=tuple((start + one, stream.routes[one].per_hit / total) for one in near),
                first=slices[0].start + miss,
                steps=steps,
            )


def _shared(first: RequestRoute, second: RequestRoute) -> int:
    """Return how many visits two ways begin with alike."""
    pairs = zip(first.visits, second.visits, strict=False)
    return next(
        (place for place, (one, other) in enumerate(pairs) if one != other),
        min(len(first.visits), len(second.visits)),
    )


def with_items(
    retries: tuple[Refetch, ...], origin: int, amounts: Amounts, sent: Amounts, served: Amounts
) -> Amounts:
    """Return requests of which those go the way of hits whose item has come.

    `sent` and `served` have a row for each step, a column for each key.
    """
    changed = amounts
    for one in retries:
        many, first = float(amounts[one.miss]), origin - one.steps
        if many <= 0 or first < 0 or served[first, one.first] <= 0:
            continue
        part = min(1.0, float(served[first, one.first] / sent[first, one.first]))
        if changed is amounts:
            changed = amounts.copy()
        changed[one.miss] -= part * many
        for hit, share in one.hits:
            changed[hit] += part * many * share
    return changed
