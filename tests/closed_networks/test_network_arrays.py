"""Networks with pools in arrays against each by itself, and what grows with customers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest

from qps.engine.evaluators import load_dependent_bounds, on_bounds
from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.queueing_networks import (
    load_dependent_arrays,
    load_dependent_mva,
    pool_network_arrays,
    product_form,
)
from qps.engine.queueing_networks.load_dependent_operands import GROUP

_ROWS = 9


def _station(random: Random) -> list[float]:
    servers = random.choice([1, 1, 2, 4])
    load = random.choice([0.0, 0.3]) if servers == 1 else 0.0
    return [0, random.uniform(0.01, 1), servers, load, random.choice([1, 2])]


def _pool(random: Random, depth: int) -> list[float]:
    within = [number for _ in range(random.randint(1, 2)) for number in _station(random)]
    if depth and random.random() < 0.5:
        within += _pool(random, depth - 1)
    return [len(within) // GROUP, random.choice([0, 0.1]), 0, random.choice([1, 0.5]), 1, *within]


def _networks(seed: int) -> tuple[int, list[list[float]]]:
    """Return how many places networks of one form have, and their operands."""
    random = Random(seed)
    form = [*_station(random), *_pool(random, 2), *_station(random)]
    rows = []
    for _ in range(_ROWS):
        own = list(form)
        for at in range(0, len(own), GROUP):
            own[at + 1] *= random.uniform(0.5, 2)
            if own[at] > 0:
                own[at + 2] = random.choice([random.randint(1, 20), random.uniform(1, 9)])
        customers = random.choice([random.randint(0, 300), random.uniform(0, 30)])
        rows.append([customers, random.choice([0.0, 5.0]), *own])
    return len(form) // GROUP, rows


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_the_networks_by_themselves(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    places, rows = _networks(seed)
    columns = list(np.array(rows).T)
    rates = [load_dependent_mva.nested_rate(*row) for row in rows]
    times = [
        [load_dependent_mva.nested_time(place, *row) for row in rows] for place in range(places)
    ]
    alone: list[int] = []
    monkeypatch.setattr(
        load_dependent_arrays, "row_by_row", lambda _: lambda *some: alone.append(len(some[0]))
    )
    assert load_dependent_arrays.nested_rate(*columns) == pytest.approx(rates, rel=1e-9)
    for place in range(places):
        found = load_dependent_arrays.nested_time(place, *columns)
        assert found == pytest.approx(times[place], rel=1e-9, abs=1e-9)
    assert not alone  # nothing was left to others


@pytest.mark.parametrize("customers", [1.0, 2.5, 17.0, 150.0])
def test_few_customers_of_pools_of_many_places_are_solved_in_arrays(
    customers: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a pool would do with more customers than there are is lost to floats."""
    within = [0, 0.012, 8, 0, 1, 0, 0.002, 30, 0, 1, 0, 0.001, 1, 0.2, 1]
    rows = [[customers, 2.0, 3, 0.003, places, 0.6, 1, *within] for places in (4.2, 40, 199.5, 500)]
    columns = list(np.array(rows).T)
    rates = [load_dependent_mva.nested_rate(*row) for row in rows]
    times = [[load_dependent_mva.nested_time(at, *row) for row in rows] for at in range(4)]
    monkeypatch.setattr(load_dependent_arrays, "row_by_row", lambda _: pytest.fail)
    assert load_dependent_arrays.nested_rate(*columns) == pytest.approx(rates, rel=1e-12)
    for at, expected in enumerate(times):
        found = load_dependent_arrays.nested_time(at, *columns)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("most", [2, 5, 40])
@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("part", [0.02, 0.6, 0.97])
def test_open_visits_share_several_servers(most: int, copies: int, part: float) -> None:
    random = Random(most)
    rows = []
    for _ in range(_ROWS):
        servers = [random.randint(2, most), random.uniform(2, most), 1, random.randint(2, most)]
        stations = [
            number
            for own, load in zip(servers, (part, part * 0.6, part, 0), strict=True)
            for number in (random.uniform(0.01, 1), own, own * load, copies)
        ]
        customers = random.choice([0, random.randint(1, 300), random.uniform(0, 30)])
        rows.append([customers, random.choice([0.0, 5.0]), *stations])
    alone = [product_form.closed_rate(*row) for row in rows]
    columns = np.array(rows, dtype=float).T
    assert load_dependent_arrays.rate_of_stations(*columns) == pytest.approx(alone, rel=1e-11)
    operands = np.insert(columns, range(2, len(columns), GROUP - 1), 0.0, axis=0)
    places = len(columns) // (GROUP - 1)
    for place in range(places):
        times = [load_dependent_mva.nested_time(place, *row) for row in operands.T.tolist()]
        found = load_dependent_arrays.nested_time(place, *operands)
        assert found == pytest.approx(times, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    "station",
    [
        (0, 1.0, 1, 0, 1, -1, 0, 2, 0, 1),  # two speeds
        (1, 0.1, 3, 1, 2, -2, 1.0, 1, 0, 1),  # two copies of a pool
    ],
)
def test_what_arrays_do_not_know_is_solved_row_by_row(station: tuple[float, ...]) -> None:
    customers = np.array([1.0, 5.0, 20.0])
    found = load_dependent_arrays.nested_rate(customers, 2.0, *station)
    each = [load_dependent_mva.nested_rate(n, 2.0, *station) for n in customers.tolist()]
    assert found == pytest.approx(each, rel=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_times_grow_with_customers(seed: int) -> None:
    places, rows = _networks(seed)
    for place in range(places):
        for _, *others in rows:
            low, high = SlopedInterval(3.0, 3.0), SlopedInterval(40.0, 40.0)
            fixed = [SlopedInterval(number, number) for number in (place, *others)]
            box = [fixed[0], SlopedInterval(3.0, 40.0, 1.0, 1.0), *fixed[1:]]
            found = load_dependent_bounds.nested_time(*box)
            ends = [load_dependent_mva.nested_time(place, end.low, *others) for end in (low, high)]
            assert (found.low, found.high) == pytest.approx(ends, rel=1e-8, abs=1e-8)
            assert found.slow == 0
            between = [load_dependent_mva.nested_time(place, n, *others) for n in range(3, 41)]
            assert all(ends[0] - 1e-9 <= one <= ends[1] + 1e-9 for one in between)
            many = on_bounds.nested_time(
                *(Bounds(o.low, o.high, o.slow, o.steep) for o in box),
            )
            assert (many.low, many.high) == pytest.approx(ends, rel=1e-8, abs=1e-8)


def test_times_need_not_grow_with_open_load_at_several_servers() -> None:
    fixed = (0.0, 2.0, 0.0, 1.0, 2.0, 0.5, 1.0)
    which, *others = (SlopedInterval(number, number) for number in fixed)
    found = load_dependent_bounds.nested_time(which, SlopedInterval(3.0, 40.0, 1.0, 1.0), *others)
    assert found.slow == -np.inf


@pytest.mark.parametrize("hashes", [0, 1, 2])
def test_networks_of_one_hash_are_not_taken_for_each_other(
    hashes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        load_dependent_arrays, "_stored_networks", cache(load_dependent_arrays._Cache)
    )
    rows = [row for seed in range(3) for row in _networks(seed)[1]]
    rates = [load_dependent_mva.nested_rate(*row) for row in rows]
    ways: list[Callable[[int], Any]] = [np.zeros, lambda n: np.arange(n) % 2, np.arange]
    alike = ways[hashes]
    monkeypatch.setattr(
        load_dependent_arrays, "_hashes_of", lambda own: alike(len(own)).astype(np.uint64)
    )
    for _ in range(2):  # the second time from the cache, if it is there
        for start in range(0, len(rows), _ROWS):
            own = np.array(rows[start : start + _ROWS]).T
            found = load_dependent_arrays.nested_rate(*own)
            assert found == pytest.approx(rates[start : start + _ROWS], rel=1e-9)


@pytest.mark.parametrize("think", [0.0, 1e-3, 5.0, 390.0])
def test_weights_of_all_customers_give_what_mean_value_analysis_does(think: float) -> None:
    random = np.random.default_rng(int(think))
    rows = 7
    ratios = random.uniform(0.001, 1, (5, rows)) * 10.0 ** random.integers(-6, 1, (5, 1))
    ratios[0] = 1.0
    copies = random.integers(1, 4, (5, rows)).astype(float)
    columns = np.full(rows, think)
    stations = [pool_network_arrays.Single(*one) for one in zip(ratios, copies, strict=True)]
    rates, numbers = pool_network_arrays._by_series(600, columns, ratios, copies)
    steps, held = pool_network_arrays._one_by_one(600, columns, stations)
    assert rates == pytest.approx(steps, rel=1e-13)
    assert np.array(numbers) == pytest.approx(np.array(held), rel=1e-13)
