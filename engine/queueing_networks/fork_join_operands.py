"""Inputs of closed networks with parallel calls: operands in groups of six.

A group is a kind, and D, c, L, m and v. The kind says what it is:

- 0: a station: `c` servers a copy, an open load `L` a copy, in erlangs, `m` copies, and the service
  `D` that a cycle demands of it, on one server, in all of its `v` visits;
- -2: a machine of one's own: all of its visits take `D`, and nobody waits;
- k > 0: calls that are made together, with so many groups behind it that describe their branches;
- -1: where a branch begins, which takes `D` besides all that is behind.

A cycle makes calls together, and each branch of them, so often as `v` says: 0.3 of what is made by
chance. All `D` are those of a cycle. So calls stand within calls. A place is identified by the
number of its group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any

from msgspec import Struct

Number = Any
"""A float, a fraction or a ball."""

GROUP = 6
STATION, BRANCH, OWN = 0, -1, -2

GROWING = (1, -1, 0, -1, 1, -1, 1, 0)
"""How the rate moves with each operand; with how often a station is visited it is not known."""


class StationOperand(Struct, frozen=True, kw_only=True):
    """A station; what is one's own has endless servers."""

    at: int
    demand: Number
    servers: Number
    load: Number
    copies: Number
    often: Number


class BranchOperand(Struct, frozen=True, kw_only=True):
    """A branch: what it takes always, how often a cycle makes it, and the places on its way."""

    delay: Number
    often: Number
    places: tuple[Place, ...]


class ForkOperand(Struct, frozen=True, kw_only=True):
    """Calls that a cycle makes together so often: they are over when the slowest is."""

    at: int
    often: Number
    branches: tuple[BranchOperand, ...]


Place = StationOperand | ForkOperand


def places_of(operands: Sequence[Number]) -> tuple[Place, ...] | None:
    """Return the places that operands describe; None where they describe none."""
    if len(operands) % GROUP:
        return None
    groups = [tuple(operands[at : at + GROUP]) for at in range(0, len(operands), GROUP)]
    return _read(groups, 0, len(groups))


def _read(groups: Sequence[tuple[Number, ...]], at: int, end: int) -> tuple[Place, ...] | None:
    """Return places; of a fork within, all of its groups are passed at once."""
    found: list[Place] = []
    while at < end:
        kind, demand, servers, load, copies, often = groups[at]
        if kind > 0:
            behind = at + 1 + int(kind)
            if kind != int(kind) or behind > end:
                return None
            branches = _branches(groups, at + 1, behind)
            if branches is None:
                return None
            found.append(ForkOperand(at=at, often=often, branches=branches))
            at = behind
            continue
        if kind == OWN:
            servers, load, copies = inf, load * 0, 1
        if kind not in (STATION, OWN) or not servers >= 1 or not copies > 0:
            return None
        if not often > 0 and demand:
            return None
        if copies < 1:  # one that takes longer
            demand, copies = demand / copies, copies / copies
        found.append(
            StationOperand(
                at=at, demand=demand, servers=servers, load=load, copies=copies, often=often
            )
        )
        at += 1
    return tuple(found)


def _branches(
    groups: Sequence[tuple[Number, ...]], at: int, end: int
) -> tuple[BranchOperand, ...] | None:
    """Return the branches of calls that are made together, each from where it begins."""
    found: list[BranchOperand] = []
    while at < end:
        if groups[at][0] != BRANCH:
            return None
        behind = at + 1
        while behind < end and groups[behind][0] != BRANCH:
            kind = groups[behind][0]
            if kind != int(kind):
                return None
            behind += 1 + max(int(kind), 0)
        within = _read(groups, at + 1, behind) if behind <= end else None
        if within is None:
            return None
        found.append(BranchOperand(delay=groups[at][1], often=groups[at][-1], places=within))
        at = behind
    return tuple(found)


def every(places: Sequence[Place]) -> Iterator[Place]:
    """Yield all places, those of branches, too."""
    for place in places:
        yield place
        if isinstance(place, ForkOperand):
            for branch in place.branches:
                yield from every(branch.places)


def stations_of(places: Sequence[Place]) -> tuple[StationOperand, ...]:
    """Return all stations, those of branches, too."""
    return tuple(place for place in every(places) if isinstance(place, StationOperand))
