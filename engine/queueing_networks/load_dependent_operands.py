"""Closed networks of one class with stations that are faster or slower by how many are there.

They are stated as in `closed_operands`, but in groups of five numbers: a kind, and D, c, L
and m. The kind says what a group is:

- 0: a station, as there; -2: one that each copy of the pool around it has for itself;
- -1: one more speed of the station before: `c` is how fast all are served together who are one more
  there than with the speed before it, the last one for all numbers beyond. The first speed of such
  a station stands where others have their servers. There is no open load at it.
- k > 0: a pool, with so many groups behind it that describe what goes on while a place is held:
  `D` is how long that takes besides, `c` how many places each copy has, `m` how many copies, and
  `L` the square of the coefficient of variation of the time that a place is held.

So pools stand within pools. A place is identified by the number of its group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import floor
from typing import Any, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.queueing_networks.closed_operands import Line, on_line, on_lines

Number = Any
"""A float, a fraction or a ball."""

GROUP = 5
STATION, SPEED, OWN = 0, -1, -2
_SEVERAL = 2

_GROUP, _OF_COPIES = (0, -1, 1, -1, 1), (0, -1, 0, -1, 1)


class LoadDependentStation(Struct, frozen=True, kw_only=True):
    """A station; with `speeds` it has one server. It `is_own` to each copy of the pool around."""

    at: int
    demand: Number
    servers: Number
    load: Number
    copies: Number
    speeds: tuple[Number, ...] = ()
    is_own: bool = False


class LoadDependentPool(Struct, frozen=True, kw_only=True):
    """A pool, held through a `delay` and what is `within`, as often as a cycle comes there.

    `variation` is the square of that of the time that it is held.
    """

    at: int
    delay: Number
    places: Number
    copies: Number
    variation: Number
    within: tuple[LoadDependentStation | LoadDependentPool, ...]


Place = LoadDependentStation | LoadDependentPool


class EnclosingPool(NamedTuple):
    """The pool that a network is within: its places and copies; none is around by default.

    Where `are_even`, as many are at each of its copies; else these are filled by chance.
    """

    places: int = 0
    copies: int = 1
    are_even: bool = False


Value = Callable[[int, Number, tuple[Place, ...]], Number]


class _Segment(Protocol):
    """What lies between two ends."""

    @property
    def low(self) -> Number:
        """The lower end."""

    @property
    def high(self) -> Number:
        """The upper end."""


def growing(operands: Sequence[_Segment]) -> tuple[int, ...]:
    """Return how a rate moves with each of its operands: up (1), down (-1), or either (0).

    With all of them either where a station may become slower with more. With the places of each of
    several copies of a pool where times that it is held are not exponential: of more places fewer
    are waited for, and those who wait are less alike. Where the times may vary more, with all that
    stands within: in longer ones of those that meet at fewer servers there may be fewer who wait.
    """
    groups = list(zip(*(iter(operands[2:]),) * GROUP, strict=True))
    found, uneven = [1, -1], 0
    speed: Number = 0
    for at, (kind, _, servers, load, copies) in enumerate(groups):
        if kind.low == SPEED and speed > servers.low:
            return (0,) * len(operands)
        speed = servers.high
        own = _GROUP
        if kind.low > 0 and copies.high > 1 and not load.low == load.high == 1:
            own = _OF_COPIES
            if load.high > 1:
                uneven = max(uneven, at + 1 + int(kind.low))
        found += (0,) * GROUP if at < uneven else own
    return tuple(found)


def times_grow(operands: Sequence[_Segment]) -> bool:
    """Return whether more customers are surely as long at each place, or longer, and wait so.

    `operands` are groups. Where no place is slower with more there, of fewer customers those who
    are at it are fewer in the likelihood-ratio order (Shanthikumar and Yao 1987); as the time for
    each does not fall with how many are there, who comes is there for longer (by the arrival
    theorem: Sevcik and Mitrani 1981). Such are stations without speeds, of several servers those
    without open load, and pools of one copy: the rates within rise, and times there by this.
    """
    return all(
        (one_copy.high <= 1)
        if kind.low > 0
        else kind.low in (STATION, OWN) and (servers.high <= 1 or load.high <= 0)
        for kind, _, servers, load, one_copy in zip(*(iter(operands),) * GROUP, strict=True)
    )


def delay_within(pool: LoadDependentPool) -> Number:
    """Return how long an item is at no station while it holds a place, nor waits for a pool."""
    return pool.delay + sum(
        delay_within(one) for one in pool.within if isinstance(one, LoadDependentPool)
    )


def at_stations(pool_number: Number, rate: Number, even: Number, delay: Number) -> Number:
    """Return how many more are at stations where so many end in a time than where others do.

    Of as many within, at one rate and at the other, the rest goes through the delay.
    """
    there = pool_number - even * delay
    return (pool_number - rate * delay) / there if there > 0 else 1


def places_of(operands: Sequence[Number]) -> tuple[Place, ...] | None:
    """Return the places that operands describe; None where they describe none."""
    if len(operands) % GROUP:
        return None
    groups = [tuple(operands[at : at + GROUP]) for at in range(0, len(operands), GROUP)]
    return _read(groups, 0, len(groups), is_within=False)


def _read(
    groups: Sequence[tuple[Number, ...]], at: int, end: int, *, is_within: bool
) -> tuple[Place, ...] | None:
    found: list[Place] = []
    while at < end:
        kind, demand, servers, load, copies = groups[at]
        if kind > 0:
            behind = at + 1 + int(kind)
            if kind != int(kind) or behind > end or not servers >= 1 or not copies >= 1:
                return None
            within = _read(groups, at + 1, behind, is_within=True)
            if within is None:
                return None
            found.append(
                LoadDependentPool(
                    at=at,
                    delay=demand,
                    places=servers,
                    copies=copies,
                    variation=load,
                    within=within,
                )
            )
            at = behind
            continue
        if kind not in (STATION, OWN) or (kind == OWN and not is_within) or not copies > 0:
            return None
        last = at + 1
        while last < end and groups[last][0] == SPEED:
            last += 1
        speeds = (servers, *(group[2] for group in groups[at + 1 : last]))
        if len(speeds) > 1:
            if not all(speed > 0 for speed in speeds):
                return None
            one = LoadDependentStation(
                at=at, demand=demand, servers=1, load=load * 0, copies=copies, speeds=speeds
            )
        elif servers >= 1:
            one = LoadDependentStation(
                at=at, demand=demand, servers=servers, load=load, copies=copies
            )
        else:
            return None
        if copies < 1:  # one that takes longer
            one = replace(one, demand=demand / copies, copies=copies / copies)
        found.append(replace(one, is_own=kind == OWN))
        at = last
    return tuple(found)


def every(places: Sequence[Place]) -> Iterator[Place]:
    """Yield all places, those within others, too."""
    for place in places:
        yield place
        if isinstance(place, LoadDependentPool):
            yield from every(place.within)


def contains(place: Place, at: int) -> bool:
    """Return whether a place is that of a number, or has it within."""
    return any(one.at == at for one in every([place]))


def holding(places: Sequence[Place], at: int) -> Place:
    """Return the place of a number, or that which has it within."""
    return next(place for place in places if contains(place, at))


def without_unneeded(places: tuple[Place, ...], most: int) -> tuple[Place, ...]:
    """Return the same network for no more than `most` customers, without places that none takes.

    So pools that are never full are one pool, whose tables are made once. Copies are filled by
    chance as parts of all their places: these remain.
    """
    found: list[Place] = []
    for place in places:
        if isinstance(place, LoadDependentPool):
            within = without_unneeded(place.within, most)
            few = most if place.copies == 1 and place.places > most else place.places
            found.append(replace(place, places=few, within=within))
        else:
            found.append(place)
    return tuple(found)


def has_time(place: Place) -> bool:
    """Return whether a cycle is there for any time."""
    if isinstance(place, LoadDependentPool):
        return place.delay > 0 or any(map(has_time, place.within))
    return bool(place.demand > 0)


def never_ends(place: Place) -> bool:
    """Return whether open visits take all servers of something that closed ones visit."""
    return any(
        isinstance(one, LoadDependentStation) and one.demand > 0 and one.load >= one.servers
        for one in every([place])
    )


def between(
    value: Value,
    customers: Number,
    think: Number,
    places: tuple[Place, ...],
    line: Line = on_line,
) -> Number:
    """Return a value, on lines between whole numbers of customers, servers, places and copies.

    Copies of single servers need not be whole.
    """
    return on_lines(
        value, customers, think, places, line=line, not_whole=_not_whole, counted=counted
    )


def _not_whole(place: Place) -> tuple[Place, Place, Number] | None:
    """Return what lies on both sides of what counts whole and is not; None where all is."""
    names = ["places", "copies"]
    if isinstance(place, LoadDependentStation):
        names = ["servers", "copies"][: 1 + _has_whole_copies(place)]
    for name in names:
        count = getattr(place, name)
        whole = floor(count)
        if whole != count:
            low, high = (replace(place, **{name: n}) for n in (whole, whole + 1))
            return low, high, count - whole
    if isinstance(place, LoadDependentPool):
        for number, one in enumerate(place.within):
            found = _not_whole(one)
            if found is not None:
                before, behind = place.within[:number], place.within[number + 1 :]
                low, high = (replace(place, within=(*before, e, *behind)) for e in found[:2])
                return low, high, found[2]
    return None


def counted(place: Place) -> Place:
    """Return a place with what counts whole as a whole number."""
    if isinstance(place, LoadDependentPool):
        within = tuple(map(counted, place.within))
        return replace(place, places=int(place.places), copies=int(place.copies), within=within)
    copies = int(place.copies) if _has_whole_copies(place) else place.copies
    return replace(place, servers=int(place.servers), copies=copies)


def _has_whole_copies(station: LoadDependentStation) -> bool:
    return bool(station.speeds or station.is_own or station.servers >= _SEVERAL)


def is_form(form: Sequence[float]) -> bool:
    """Return whether kinds are those of stations and pools alone, each pool with what is within."""
    ends = [len(form)]
    for at, kind in enumerate(form):
        while at >= ends[-1]:
            ends.pop()
        if kind > 0:
            if kind % 1 or at + 1 + kind > ends[-1]:
                return False
            ends.append(at + 1 + int(kind))
        elif kind != STATION and (kind != OWN or len(ends) == 1):
            return False
    return True
