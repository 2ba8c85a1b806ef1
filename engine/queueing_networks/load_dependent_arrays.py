"""Closed networks of one class with pools, on arrays: many rows at once.

All numbers of customers of a network are computed together, and cached for later requests. Numbers
of customers, servers and places between whole ones are on lines. Others, such as stations with
speeds and pools of several copies, are solved row by row.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import count
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from qps.engine.numerics.array_blocks import Array, in_blocks, row_by_row
from qps.engine.queueing.open_load_arrays import busy_servers
from qps.engine.queueing_networks import load_dependent_mva
from qps.engine.queueing_networks.load_dependent_operands import GROUP, OWN, STATION, is_form
from qps.engine.queueing_networks.pool_network_arrays import NetworkArrays, Rated, Single

_Bools = NDArray[np.bool_]
_Ints = NDArray[np.int64]
_Hashes = NDArray[np.uint64]

_MOST_CUSTOMERS, _MOST_PLACES, _MOST_COPIES = 1 << 13, 512, 32
_FEWEST = 16
_TOGETHER = 1 << 20
"""Networks times numbers of customers that are solved together."""
_MOST_CACHED, _BESIDES = 1 << 24, 4
"""Numbers of networks that are cached; arrays of them besides those of stations."""
_FACTORS = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Odd factors of hashes."""
_RATE, _CYCLE = -1, -2
"""What of a network is requested where it is no time at one of its places."""
_FEW, _FEW_CUSTOMERS = 4, 256
"""So few rows with more customers are sooner solved by themselves."""


def nested_rate(*operands: ArrayLike) -> Array:
    """Return how many cycles all customers together end in a time."""
    return in_blocks(partial(_found, load_dependent_mva.nested_rate, _RATE), *operands)


def nested_time(which: ArrayLike, *operands: ArrayLike) -> Array:
    """Return how long a cycle is at a station, or waits for a pool."""
    places = np.unique(np.asarray(which, dtype=float))
    if places.size != 1 or not 0 <= places[0] < len(operands):
        return in_blocks(row_by_row(load_dependent_mva.nested_time), which, *operands)
    place = int(places[0])
    alone = partial(load_dependent_mva.nested_time, place)
    return in_blocks(partial(_found, alone, place), *operands)


def nested_wait(*operands: ArrayLike) -> Array:
    """Return the mean wait of an open visit at a station, in mean service times."""
    return in_blocks(row_by_row(load_dependent_mva.nested_wait), *operands)


class _Segment(Protocol):
    """What lies between two ends, of one row or of each."""

    @property
    def low(self) -> Any:
        """The lower end."""

    @property
    def high(self) -> Any:
        """The upper end."""


def rates_grow(operands: Sequence[_Segment]) -> bool:
    """Return whether rates of all rows move with each of some groups as in `growing`."""
    if len(operands) % GROUP or not all(
        np.all((one.low >= 0) & (one.low <= one.high) & (one.high < np.inf))
        for at, one in enumerate(operands)
        if at % GROUP
    ):
        return False
    return all(
        np.all(kind.low == kind.high)
        and np.all(
            (kind.low == STATION) | (kind.low == OWN) | ((kind.low > 0) & (copies.high <= 1))
        )
        for kind, copies in zip(operands[::GROUP], operands[4::GROUP], strict=True)
    )


def times_grow(operands: Sequence[_Segment]) -> bool:
    """Return whether times of all rows grow with customers, as in `load_dependent_operands`."""
    groups = zip(*(iter(operands),) * GROUP, strict=True)
    return rates_grow(operands) and all(
        np.all((kind.low > 0) | (servers.high <= 1) | (load.high <= 0))
        for kind, _, servers, load, _ in groups
    )


# -- rows ----------------------------------------------------------------------------------


def _found(alone: Callable[..., float], which: int, *columns: Array) -> Array:
    """Return values of rows: times at the place `which`, or rates."""
    found = _solved(which, columns)
    is_left = np.isnan(found)
    if is_left.any():
        found[is_left] = row_by_row(alone)(*(column[is_left] for column in columns))
    return found


def rate_of_stations(customers: Array, think: Array, *stations: Array) -> Array:
    """Return rates of networks of stations, each by D, c, L and m; not-a-number if unknown."""
    return _of_stations(_RATE, customers, think, stations)


def cycle_of_stations(customers: Array, think: Array, *stations: Array) -> Array:
    """Return how long one of their customers takes to come round; not-a-number if unknown."""
    return _of_stations(_CYCLE, customers, think, stations)


def _of_stations(which: int, customers: Array, think: Array, stations: Sequence[Array]) -> Array:
    kind = np.full_like(customers, STATION)
    each = (stations[at : at + GROUP - 1] for at in range(0, len(stations), GROUP - 1))
    return _solved(which, [customers, think, *(one for own in each for one in (kind, *own))])


def _solved(which: int, columns: Sequence[Array]) -> Array:
    """Return values of rows that arrays solve; not-a-number for all others."""
    found, is_solvable = np.full(columns[0].size, np.nan), _are_solvable(columns, which)
    if is_solvable.any():
        found[is_solvable] = _between(which, [column[is_solvable] for column in columns])
    return found


def _are_solvable(columns: Sequence[Array], which: int) -> _Bools:
    """Return the rows that arrays solve: of one form, with stations and pools that these know."""
    customers, think, *numbers = columns
    found = (customers >= 0) & (customers <= _MOST_CUSTOMERS) & (think >= 0) & (think < np.inf)
    if len(numbers) % GROUP or not numbers or not found.any() or which >= len(numbers) // GROUP:
        return np.zeros_like(found)
    kinds = [numbers[at] for at in range(0, len(numbers), GROUP)]
    form = [float(kind[0]) for kind in kinds]
    if not is_form(form):
        return np.zeros_like(found)
    for at, kind in enumerate(form):
        _, demand, servers, load, copies = numbers[at * GROUP : (at + 1) * GROUP]
        found &= (kinds[at] == kind) & (demand >= 0) & (demand < np.inf) & (servers >= 1)
        found &= (load >= 0) & (load < np.inf) & (copies >= 1) & (copies < np.inf)
        if kind > 0:
            found &= (copies == 1) & (servers <= _MOST_PLACES)
        else:
            found &= (load < np.floor(servers)) & (servers <= _MOST_PLACES)
            is_alike = (copies == copies[0]) & (copies % 1 == 0) & (copies <= _MOST_COPIES)
            found &= (servers == 1) | is_alike
    return found


def _between(which: int, columns: list[Array]) -> Array:
    """Return values on lines between whole numbers of customers, servers and places."""
    form = [int(columns[at][0]) for at in range(2, len(columns), GROUP)]
    rows, parts = np.arange(columns[0].size), np.ones(columns[0].size)
    counted = [0, *(2 + 2 + at * GROUP for at in range(len(form)))]
    total = columns[0].size
    for place in counted:
        whole = np.floor(columns[place])
        more = columns[place] - whole
        between = np.flatnonzero(more)
        if between.size:
            columns = [np.concatenate((column, column[between])) for column in columns]
            rows = np.concatenate((rows, rows[between]))
            parts = np.concatenate((parts * (1 - more), parts[between] * more[between]))
            columns[place] = np.concatenate((whole, whole[between] + 1))
    values = _of_whole(which, form, columns)
    return np.asarray(np.bincount(rows, weights=parts * values, minlength=total), dtype=float)


# -- networks ------------------------------------------------------------------------------


class _NetworkSolver:
    """Networks of one form with any number of customers, and what has been requested of them."""

    def __init__(self, form: Sequence[int], most: int, others: Array) -> None:
        think, *numbers = np.ascontiguousarray(others.T)
        groups = [numbers[at : at + GROUP] for at in range(0, len(numbers), GROUP)]
        self.form, self.most, self.others = tuple(form), most, others
        self._network = _Places(form, groups, ends=(0, len(form)), think=think, most=most)
        self._rates = np.where(self._network.is_sound, self._network.arrays.rates, np.nan)
        self._numbers: dict[int, Array] = {}

    @property
    def size(self) -> int:
        """How many numbers are cached."""
        return self._rates.size * (_BESIDES + self._network.arrays.count + len(self._numbers))

    def values(self, which: int, customers: _Ints, of: _Ints) -> Array:
        """Return what of some networks is requested, with so many customers in each."""
        rates: Array = self._rates[customers, of]
        if which == _RATE:
            return rates
        if which == _CYCLE:
            return customers / rates
        if which not in self._numbers:
            self._numbers[which] = self._network.numbers(which)
        found: Array = self._numbers[which][customers, of] / rates
        return found


class _Cache:
    """Networks that were solved, in groups: found by a hash of their numbers, and all of these."""

    def __init__(self) -> None:
        self._groups: OrderedDict[int, _NetworkSolver] = OrderedDict()
        self._next = count()
        self._total = 0
        self._hashes = np.zeros(0, dtype=np.uint64)
        self._at = np.zeros((2, 0), dtype=np.int64)
        """In which group the network of each hash is, and at which place."""

    def values(self, number: int, which: int, customers: _Ints, of: _Ints) -> Array:
        """Return what is requested of some networks of a group, with so many customers in each."""
        self._groups.move_to_end(number)
        group, before = self._groups[number], self._groups[number].size
        found = group.values(which, customers, of)
        self._total += group.size - before
        return found

    def find(self, form: Sequence[int], most: int, others: Array, hashes: _Hashes) -> _Ints:
        """Return the group and the place of each network with so many customers; -1 for nowhere."""
        found = np.full((2, hashes.size), -1)
        if not self._hashes.size:
            return found
        near = np.minimum(np.searchsorted(self._hashes, hashes), self._hashes.size - 1)
        at = np.where(self._hashes[near] == hashes, self._at[:, near], -1)
        for number in np.unique(at[0]):
            group = self._groups.get(int(number))
            if group is None or group.most < most or group.form != tuple(form):
                continue
            mine = np.flatnonzero(at[0] == number)
            same = (group.others[at[1, mine]] == others[mine]).all(axis=1)
            found[:, mine[same]] = at[:, mine[same]]
        return found

    def add(self, solved: _NetworkSolver, hashes: _Hashes) -> int:
        """Keep some networks; return the number of their group."""
        number = next(self._next)
        self._groups[number] = solved
        self._total += solved.size
        self._keep(~np.isin(self._hashes, hashes))
        hashes, first = np.unique(hashes, return_index=True)
        place = np.searchsorted(self._hashes, hashes)
        self._hashes = np.insert(self._hashes, place, hashes)
        self._at = np.insert(self._at, place, [np.full(first.size, number), first], axis=1)
        return number

    def forget(self) -> None:
        """Forget what was not requested for longest, if it is too much."""
        while self._total > _MOST_CACHED and len(self._groups) > 1:
            number, one = self._groups.popitem(last=False)
            self._total -= one.size
            self._keep(self._at[0] != number)

    def _keep(self, which: _Bools) -> None:
        if not which.all():
            self._hashes, self._at = self._hashes[which], self._at[:, which]


@cache
def _stored_networks() -> _Cache:
    """Return the networks that were solved: none before one is, as numpy may be missing."""
    return _Cache()


def _hashes_of(others: Array) -> _Hashes:
    """Return a hash of each network by its numbers."""
    bits = others.view(np.uint64) * np.uint64(_FACTORS[0])
    bits ^= bits >> np.uint64(32)
    own = np.array(_FACTORS, dtype=np.uint64)
    factors = np.resize(own, bits.shape[1]) + 2 * np.arange(bits.shape[1], dtype=np.uint64)
    found: _Hashes = (bits * factors).sum(axis=1)
    return found


def _of_whole(which: int, form: Sequence[int], columns: Sequence[Array]) -> Array:
    """Return values of networks in which all is whole that counts so; not-a-number if unknown."""
    customers, others = columns[0], np.ascontiguousarray(np.stack(columns[1:], axis=1))
    if which != _RATE:
        customers = np.maximum(customers, 1.0)
    hashes = _hashes_of(others)
    first, of = _distinct(others, hashes)
    most = _rounded_up(int(customers.max()))
    own, own_hashes = others[first], hashes[first]
    stored = _stored_networks()
    places = stored.find(form, most, own, own_hashes)
    lacking = np.flatnonzero(places[0] < 0)
    found = np.full(customers.size, np.nan)
    if lacking.size and (customers.size > _FEW or most <= _FEW_CUSTOMERS):
        size = max(1, _TOGETHER // (most + 1))
        for start in range(0, lacking.size, size):
            some = lacking[start : start + size]
            number = stored.add(_NetworkSolver(form, most, own[some]), own_hashes[some])
            places[:, some] = np.full(some.size, number), np.arange(some.size)
    for number in np.unique(places[0]):
        if number >= 0:
            among = np.flatnonzero(places[0, of] == number)
            n = customers[among].astype(np.int64)
            found[among] = stored.values(int(number), which, n, places[1, of[among]])
    stored.forget()
    return found


def _distinct(others: Array, hashes: _Hashes) -> tuple[_Ints, _Ints]:
    """Return the first of equal rows, and of which each is; those that are equal mostly follow."""
    starts = np.ones(len(others), dtype=bool)
    starts[1:] = (others[1:] != others[:-1]).any(axis=1)
    first = np.flatnonzero(starts)
    of = np.cumsum(starts) - 1
    if first.size == 1:
        return first, of
    _, index, inverse = np.unique(hashes[first], return_index=True, return_inverse=True)
    if not (others[first[index]][inverse] == others[first]).all():  # two of one hash
        _, index, inverse = np.unique(others[first], axis=0, return_index=True, return_inverse=True)
    return first[index], inverse.reshape(-1)[of]


def _rounded_up(most: int) -> int:
    """Return up to how many customers all are solved: one of few numbers, for the cache."""
    step = max(_FEWEST, (1 << most.bit_length()) // 8)
    return -(-most // step) * step


class _Places:
    """The places of networks from one group to another, and these networks in arrays."""

    def __init__(
        self,
        form: Sequence[int],
        groups: Sequence[Sequence[Array]],
        *,
        ends: tuple[int, int],
        think: Array,
        most: int,
    ) -> None:
        self._groups, self.is_sound, self._most = groups, np.ones(think.size, dtype=bool), most
        self._within: dict[int, tuple[_Places, _Ints]] = {}
        self._singles: list[int] = []
        self._rated: list[int] = []
        self._delays: list[int] = []
        singles, rated = [], []
        at = ends[0]
        while at < ends[1]:
            _, demand, servers, load, copies = groups[at]
            behind = at + 1 + max(form[at], 0)
            if form[at] > 0:
                rated.append(Rated(self._rates_of_pool(form, at, behind)))
                self._rated.append(at)
            elif servers.max() == 1:
                singles.append(Single(demand / copies / (1 - load), copies))
                self._singles.append(at)
            elif servers.min() > most and not load.any():
                think = think + demand
                self._delays.append(at)
            else:
                self.is_sound &= (copies == copies[0]) & (demand > 0) & (copies % 1 == 0)
                with np.errstate(all="ignore"):
                    rates = busy_servers(servers, load) / (demand / copies)
                rated.append(Rated(rates, int(copies[0])))
                self._rated.append(at)
            at = behind
        self.arrays = NetworkArrays(most, think, singles, rated)
        self.is_sound &= self.arrays.is_sound

    def _rates_of_pool(self, form: Sequence[int], at: int, behind: int) -> Array:
        """Return the rates of a pool of one, two, … there: up to its places, or all customers."""
        _, delay, places, _, _ = self._groups[at]
        most = min(int(places.max()), self._most)
        within = _Places(form, self._groups, ends=(at + 1, behind), think=delay, most=most)
        self.is_sound &= within.is_sound
        within_at = np.minimum(np.arange(most + 1)[:, None], places.astype(np.int64))
        self._within[at] = within, within_at
        return np.take_along_axis(within.arrays.rates, within_at[1:], axis=0)

    def numbers(self, which: int) -> Array:
        """Return how many are at a place, or wait for it, by how many customers there are."""
        if which in self._singles:
            return self.arrays.numbers_at_single(self._singles.index(which))
        if which in self._delays:
            return self.arrays.rates * self._groups[which][1]
        number = max(k for k, at in enumerate(self._rated) if at <= which)
        own = self._rated[number]
        if own not in self._within:
            return self.arrays.numbers(number)
        within, within_at = self._within[own]
        if own == which:
            waiting = np.arange(len(within_at), dtype=float)[:, None] - within_at
            return np.maximum(self.arrays.means(number, waiting, more=True), 0.0)
        there = np.take_along_axis(within.numbers(which), within_at, axis=0)
        return self.arrays.means(number, there)
