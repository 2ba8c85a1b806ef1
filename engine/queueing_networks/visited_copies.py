"""Stations of a closed network as one cycle visits them: which copies of each, and how often.

Each visit is of any copy, all of them alike. Which are visited is stated by whole numbers of
copies, and between those on a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor

from msgspec import Struct

_MOST_COPIES = 4

Station = tuple[float, float, float, float]
"""What a cycle demands of it, its servers, how many of them open visits keep busy, its copies."""

Visits = tuple[float, bool]
"""How often a cycle visits a station, and whether all who are there share it."""


class ReplicatedStation(Struct, frozen=True, kw_only=True):
    """A station: `copies` of it are visited, each so `often`, of so many in all."""

    demand: float
    servers: int
    load: float
    all: float
    visits: float
    shares: bool
    copies: int

    @property
    def often(self) -> float:
        """How often one of those copies is visited."""
        return self.visits / self.copies

    @property
    def service(self) -> float:
        """The mean service of a visit."""
        return self.demand / self.visits

    @property
    def pairs(self) -> float:
        """The mean number of ordered pairs of visits of a cycle, at all copies."""
        return pairs_of(self.visits)

    @property
    def ratio(self) -> float:
        """What a cycle demands of one server of a copy, were these one that is so often as fast."""
        return self.demand / self.all / self.servers


def pairs_of(visits: float) -> float:
    """Return the mean number of ordered pairs of visits, so many a cycle: as evenly as may be."""
    whole = floor(visits)
    return whole * (whole - 1 + 2 * (visits - whole))


def _visited(copies: float, visits: float) -> float:
    """Return how many of so many copies a cycle visits, all of them alike, each more than once.

    Each visit is of any of them. Of pairs of visits as many are of one copy as at random.
    """
    alike = visits + pairs_of(visits) / copies
    return max(1.0, min(visits**2 / alike, copies, _MOST_COPIES))


def visited_whole(
    operands: Sequence[tuple[Station, Visits]],
) -> Iterator[tuple[float, list[tuple[Station, Visits, int]]]]:
    """Yield stations with whole numbers of copies that are visited, each with its part.

    The corners of a simplex around what is visited (Kuhn 1960): one more than stations at most.
    """
    each = [_visited(station[3], visits) for station, (visits, _) in operands]
    whole = [floor(one) for one in each]
    beyond = sorted(
        ((one - own, at) for at, (one, own) in enumerate(zip(each, whole, strict=True))),
        key=lambda found: (-found[0], found[1]),
    )
    before = 1.0
    for part, at in [*beyond, (0.0, 0)]:
        if before > part:
            yield before - part, [(*one, own) for one, own in zip(operands, whole, strict=True)]
        whole[at] += 1
        before = part


def place_of(station: Station, visits: Visits, visited: int) -> ReplicatedStation:
    """Return a station of which so many copies are visited."""
    demand, servers, load, copies = station
    often, shares = visits
    return ReplicatedStation(
        demand=demand,
        servers=int(servers),
        load=load,
        all=max(copies, float(visited)),
        visits=often,
        shares=shares,
        copies=visited,
    )
