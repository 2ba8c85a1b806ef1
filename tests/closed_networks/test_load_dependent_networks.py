"""Closed networks with speeds and pools: rows against chains of states, specs that use them."""

from __future__ import annotations

import json
from fractions import Fraction as F
from math import isnan

import pytest
from flint import arb

from browsers.node import needs_node, run_module
from helpers.nightly import nightly
from helpers.specs import lowered
from qps.engine.evaluators.load_dependent_bounds import nested_rate as rate_between
from qps.engine.evaluators.monotonicity import nested_rate as nested_moves
from qps.engine.evaluators.queueing.load_dependent_balls import nested_rate as rate_in_balls
from qps.engine.evaluators.queueing.load_dependent_fractions import nested_rate as rate_in_fractions
from qps.engine.evaluators.queueing.load_dependent_fractions import nested_time as time_in_fractions
from qps.engine.evaluators.queueing.load_dependent_fractions import nested_wait as wait_in_fractions
from qps.engine.numerics.polynomials import convolved
from qps.engine.numerics.sloped_intervals import SlopedInterval
from qps.engine.numerics.value_ranges import ValueRange
from qps.engine.queueing_networks import pool_networks, product_form, station_rates
from qps.engine.queueing_networks.load_dependent_mva import nested_rate, nested_time, nested_wait
from qps.engine.queueing_networks.load_dependent_operands import (
    EnclosingPool,
    counted,
    every,
    places_of,
)
from qps.engine.queueing_networks.product_form import closed_rate, closed_wait, mixed_wait
from qps.engine.queueing_networks.service_rate_tables import own_rates

PLAIN = ((1.0, 3, 0.5, 2), (0.7, 1, 0.2, 1), (0.4, 2, 0, 1))
FLAT = [number for station in PLAIN for number in station]
GROUPS = [number for station in PLAIN for number in (0, *station)]
THREE = (0, 1.0, 1, 0, 2, -1, 0, 2, 0, 1, -1, 0, 3, 0, 1)
"""Three servers as speeds."""


@pytest.mark.parametrize("customers", [1, 2.5, 30, 3000])
def test_plain_stations_are_those_of_closed_networks(customers: float) -> None:
    rate = closed_rate(customers, 5, *FLAT)
    assert nested_rate(customers, 5, *GROUPS) == pytest.approx(rate, rel=1e-12)
    if customers != 2.5:
        wait = closed_wait(customers, 5, *FLAT)
        assert nested_time(0, customers, 5, *GROUPS) - 1 == pytest.approx(wait, rel=1e-9)
        open_wait = mixed_wait(customers, 5, *FLAT)
        assert nested_wait(0, customers, 5, *GROUPS) == pytest.approx(open_wait, rel=1e-12)


@pytest.mark.parametrize("customers", [1, 7, 300, 100_000])
def test_servers_are_speeds(customers: int) -> None:
    rate = closed_rate(customers, 5, 1, 3, 0, 2, 0.7, 1, 0.2, 1)
    assert nested_rate(customers, 5, *THREE, 0, 0.7, 1, 0.2, 1) == pytest.approx(rate, rel=1e-12)


def chain(customers: int, think: F, requested: F, speeds: list[F]) -> F:
    """Return the rate of one station beside a delay, by its births and deaths."""
    weights = [F(1)]
    for n in range(1, customers + 1):
        speed = speeds[min(n, len(speeds)) - 1]
        weights.append(weights[-1] * (customers - n + 1) / think * requested / speed)
    away = sum((customers - n) * weight for n, weight in enumerate(weights))
    return away / think / sum(weights)


@pytest.mark.parametrize("speeds", [[1, F(3, 2), 2], [1, F(1, 2), F(1, 5)], [1, 3, 2]])
@pytest.mark.parametrize("customers", [1, 3, 8, 40])
def test_speeds_are_those_of_a_chain_of_births_and_deaths(customers: int, speeds: list[F]) -> None:
    first, *others = (F(one) for one in speeds)
    values = [F(0), F(1, 3), first, F(0), F(1)]
    for speed in others:
        values += [F(-1), F(0), speed, F(0), F(1)]
    rate = chain(customers, F(4), F(1, 3), [first, *others])
    assert rate_in_fractions(F(customers), F(4), *values) == rate
    assert nested_rate(customers, 4, *map(float, values)) == pytest.approx(float(rate), rel=1e-12)
    time = time_in_fractions(F(0), F(customers), F(4), *values)
    assert customers / rate == 4 + time


def test_a_pool_that_is_never_full_is_not_there() -> None:
    inner = (0, 0.3, 1, 0.25, 1, 0, 0.2, 2, 0.2, 1)
    assert nested_rate(6, 1, 2, 0.1, 6, 0.5, 1, *inner) == pytest.approx(
        nested_rate(6, 1.1, *inner), rel=1e-12
    )


@pytest.mark.parametrize("variation", [0.5, 1.0])
def test_pools_that_are_never_full_are_one_network(variation: float) -> None:
    within = (0, 0.3, 2, 0, 1)
    pool_networks.network_of.cache_clear()
    (rate,) = {
        nested_rate(90, 2, 1, 0.1, places, variation, 1, *within)
        for places in (5000, 5000.5, 77_777, 10**6)
    }
    alone = nested_rate(90, 2, 1, 0.1, 90, variation, 1, *within)
    assert rate == pytest.approx(alone, rel=1e-12)
    solved = pool_networks.network_of.cache_info().misses
    nested_rate(90, 2, 1, 0.1, 123_456, variation, 1, *within)
    assert pool_networks.network_of.cache_info().misses == solved


def test_a_pool_of_exponential_service_is_so_many_servers() -> None:
    """Three places around an own delay: three servers."""
    pool = (1, 0, 3, 1, 1, 0, 0.5, 8, 0, 1)
    for customers in (2, 5, 60):
        assert nested_rate(customers, 1, *pool) == pytest.approx(
            closed_rate(customers, 1, 0.5, 3, 0, 1), rel=1e-12
        )
        waits = nested_time(0, customers, 1, *pool)
        assert waits == pytest.approx(closed_wait(customers, 1, 0.5, 3, 0, 1), abs=1e-12)


def test_copies_that_do_not_meet_are_stations() -> None:
    """Three copies of one place, each with a server of its own, are three servers with queues."""
    pool = (1, 0, 1, 1, 3, -2, 0.5, 1, 0, 3)
    for customers in (2, 5, 60):
        rate = closed_rate(customers, 1, 0.5, 1, 0, 3)
        assert nested_rate(customers, 1, *pool) == pytest.approx(rate, rel=1e-9)


def test_times_add_up() -> None:
    """All of a cycle is thought, or is at some place."""
    inner = (2, 0.05, 2, 0.4, 2, -2, 0.3, 1, 0.1, 2, 0, 0.2, 1, 0, 1)
    values = (4, 0.1, 4, 0.5, 1, 0, 0.1, 2, 0, 1, *inner, 0, 0.4, 1, 0.2, 1)
    for customers in (3, 20, 500):
        times = sum(nested_time(at, customers, 5, *values) for at in range(6))
        whole = customers / nested_rate(customers, 5, *values)
        assert 5 + 0.1 + 0.05 + times == pytest.approx(whole, rel=1e-9)


def test_all_numbers_of_customers_are_solved_by_as_many_steps() -> None:
    """As within a pool, which is asked for at each number that may be there."""
    stations = ((0.7, 1), (0.31, 2), (0.05, 7))
    before = product_form._block.cache_info().misses
    found = [product_form.single_servers(n, 4.5, stations, min(n, 3)) for n in range(1, 257)]
    steps = (product_form._block.cache_info().misses - before) * product_form.BLOCK
    assert steps < 256 + 2 * product_form.BLOCK
    whole, numbers = product_form.single_servers(256, 4.5, stations, 256)
    for n, (rates, held) in enumerate(found, 1):
        assert (rates, held) == (whole[256 - n :][: len(rates)], numbers[256 - n :][: len(held)])


@pytest.mark.parametrize("think", [0.0, 0.4, 30.0])
def test_all_numbers_within_a_pool_are_those_of_each(think: float) -> None:
    """Also in a pool that stands within, at stations with open load, and at those with speeds."""
    inner = (2, 0.05, 2, 0.4, 2, -2, 0.3, 1, 0.1, 2, 0, 0.2, 1, 0, 1)
    values = (4, 0.1, 4, 0.5, 1, 0, 0.1, 2, 0, 1, *inner, 0, 0.4, 2, 0.2, 1)
    places = places_of((*values, *THREE))
    assert places is not None
    whole = tuple(map(counted, places))
    together = pool_networks._every_network(64, think, whole, EnclosingPool())
    for n in (1, 2, 7, 40, 64):
        alone = pool_networks.network_of(n, think, whole)
        assert together.rates[n] == pytest.approx(alone.rate, rel=1e-12)
        for place in every(whole):
            number = alone.rate * alone.time(place.at)
            assert together.numbers(place.at)[n] == pytest.approx(number, rel=1e-11, abs=1e-14)
    first = whole[1]
    waits = together.waits(first.at)
    one_by_one = [pool_networks.network_of(n, think, whole).wait(first.at) for n in (0, 3, 64)]
    assert [waits[n] for n in (0, 3, 64)] == pytest.approx(one_by_one, rel=1e-12)


def test_large_networks_are_quick_and_go_up() -> None:
    pool = (2, 0.1, 60, 1, 3, 0, 0.002, 64, 0, 1, 0, 0.001, 1, 0, 1)
    rates = [nested_rate(n, 15, *pool) for n in (10, 100_000, 1_000_000)]
    assert rates == pytest.approx(sorted(rates), rel=1e-15)
    assert rates[-1] == pytest.approx(1000, rel=1e-3)
    assert isnan(nested_rate(1e6, 15, 1, 0.1, 1e9, 1, 1e9, 0, 0.1, 1, 0, 1))


POOL = """
unit thread
users N in 1..400
machine browser { }
machine web { cpu 2 core, queueing mmc; threads 8 thread }
machine base { cpu 1 core, queueing ps speeds [1, 1.5, 1.8]; conns 3 thread }
network wire { propagation 0 s }
component work { cpu 0.02 s/request }
component query { cpu 0.03 s/request }
topology {
  node user = browser * N; node shop = web * 2; node db = base; link lan = wire between all
}
stream job for each user {
  traffic 1 request, think 2 s
  at user {
    call shop { take threads; work; call db { take conns; query; give conns }; give threads }
  }
}
require { job.latency <= 3 s }
"""


def test_a_shop_with_threads_and_connections() -> None:
    graph = lowered(POOL)
    for customers in (10, 200):
        there = graph.at(customers)
        job = graph.streams["job"]
        rate, latency = there.number(job.rate), there.number(job.mean_latency)
        assert rate * (2 + latency) == pytest.approx(1, rel=1e-9)
        assert there.number(graph.resources["db.cpu"].load) <= 1
        assert 0 < there.number(graph.resources["shop.threads"].load) < 1
    # 60 requests a second are all that the database does.
    assert 200 * rate == pytest.approx(60, rel=0.02)


@pytest.mark.parametrize("load", [0.5, 0.9999])
def test_a_ball_has_all_rates_of_a_load_that_is_nearly_known(load: float) -> None:
    """What an open load leaves of a server is known less well than the load."""
    off, others, station = 1e-8, (100_000.0, 1.0, 0.0, 0.2, 1.0), (1.0,)
    found = rate_in_balls(*map(arb, others), arb(load, off), *map(arb, station))
    for end in (load - off, load + off):
        assert found.contains(arb(nested_rate(*others, end, *station)))


@pytest.mark.parametrize("copies", [40, pytest.param(999, marks=nightly), 10**6])
def test_each_of_many_copies_of_a_pool_has_a_station(copies: int) -> None:
    """With one server each, C copies of n in all end C n/(n + C - 1) in a service time."""
    value = own_rates([1.0] * 21, 20, copies, product=convolved, most=200)
    expected = [copies * n / (n + copies - 1) for n in range(1, len(value) + 1)]
    assert len(value) == 200
    assert value == pytest.approx(expected, rel=0.05)
    pool = (1, 0.002, 20, 0, copies, -2, 0.015, 2, 0, copies)
    assert nested_rate(150, 2, *pool) == pytest.approx(150 / 2.017, rel=1e-2)


def test_many_servers_of_each_copy_are_reported_where_weights_are_no_floats() -> None:
    pool = (1, 0, 1200, 0, 3, -2, 1.0, 1000, 0, 3)
    assert nested_rate(900, 9, *pool) == pytest.approx(90, rel=1e-6)


@pytest.mark.parametrize("places", [1, 2, 5, 100])
@pytest.mark.parametrize("copies", [2, 3, 7])
@pytest.mark.parametrize("customers", [1, 4, 30, 300])
def test_a_pool_before_a_machine_of_its_own_makes_nobody_later(
    places: int, copies: int, customers: int
) -> None:
    """Who waits for a place waits for the one server behind it: all is in product form."""
    pool = (1, 0, places, 1, copies, -2, 0.3, 1, 0, copies)
    plain = closed_rate(customers, 1, 0.3, 1, 0, copies)
    # Where very many are under way, all copies are taken to be busy.
    near = 1e-9 if customers < 300 else 1e-2
    assert nested_rate(customers, 1, *pool) == pytest.approx(plain, rel=near)
    if customers < 30 and copies < 3 and places < 30:
        exactly = rate_in_fractions(
            F(customers), F(1), *map(F, pool[:6]), F(3, 10), *map(F, pool[7:])
        )
        assert float(exactly) == pytest.approx(nested_rate(customers, 1, *pool), rel=1e-12)


@pytest.mark.parametrize("servers", [1, 2, 5])
@pytest.mark.parametrize("copies", [1, 2, 3])
@pytest.mark.parametrize("customers", [1, 4, 30, 60])
def test_open_visits_wait_at_machines_of_a_pool_that_is_never_full_as_without_it(
    servers: int, copies: int, customers: int
) -> None:
    pool = (1, 0, customers, 1, copies, -2, 0.3, servers, 0.4, copies)
    plain = mixed_wait(customers, 1, 0.3, servers, 0.4, copies)
    assert nested_wait(1, customers, 1, *pool) == pytest.approx(plain, rel=1e-9)
    if customers < 30 and copies < 3:
        values = [F(str(one)) for one in pool]
        exactly = wait_in_fractions(F(1), F(customers), F(1), *values)
        assert float(exactly) == pytest.approx(plain, rel=1e-9)


@pytest.mark.parametrize("customers", [1, 2, 5])
@pytest.mark.parametrize("places", [1, 2, 3])
def test_speeds_that_no_copy_comes_to_change_nothing(places: int, customers: int) -> None:
    pool = (2, 0, places, 1, 2, -2, 1, 1, 0, 1, -1, 0, 2, 0, 0)
    exactly = rate_in_fractions(F(customers), F(1), *map(F, pool))
    assert nested_rate(customers, 1, *pool) == pytest.approx(float(exactly), rel=1e-9)


@pytest.mark.parametrize(("places", "copies"), [(2, 40), (150, 2)])
def test_times_within_more_copies_than_are_reported_one_by_one_add_up(
    places: int, copies: int
) -> None:
    network = (60, 1, 1, 0.2, places, 1, copies, -2, 0.3, 1, 0, 1)
    cycle = 1 + 0.2 + sum(nested_time(which, *network) for which in (0, 1))
    assert cycle == pytest.approx(60 / nested_rate(*network), rel=2e-2)


@pytest.mark.parametrize(
    ("network", "simulated"),
    [
        # users, think time, a pool of so many copies, with fixed, exponential or uneven times
        ((8, 0.5, 1, 1, 2, 0, 4, 0, 0, 1, 0, 1), 4.771),
        ((12, 0.5, 1, 1, 4, 0, 2, 0, 0, 1, 0, 1), 6.842),
        ((12, 0.5, 1, 1, 2, 4, 4, 0, 0, 1, 0, 1), 5.094),
        ((14, 0.3, 1, 0.2, 3, 0.36, 4, -2, 0.3, 1, 0, 4), 9.788),
        # with a server that all copies share
        ((32, 0.5, 1, 0.3, 4, 11 / 27, 8, 0, 0.0375, 1, 0, 1), 26.483),
    ],
)
def test_pools_of_several_copies_end_as_many_as_simulated(
    network: tuple[float, ...], simulated: float
) -> None:
    """A million cycles each, known to 0.2 %."""
    near = 0.02 if network[8] else 0.005  # what they do within
    assert nested_rate(*network) == pytest.approx(simulated, rel=near)


@pytest.mark.parametrize("copies", [1, 2, 5])
@pytest.mark.parametrize("variation", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("within", [(0, 0.3, 1, 0.2, 1), (-2, 0.3, 2, 0.1, 5), (0, 0.3, 1, 0, 2)])
def test_copies_that_nobody_fills_are_not_there(
    copies: int, variation: float, within: tuple[float, ...]
) -> None:
    """Who holds one of them meets all others at what they share, and some at what they do not."""
    pool = (1, 0.1, 6, variation, copies, *within[:4], copies if within[0] else within[4])
    plain = (0, *pool[6:])
    for customers in (1, 3, 6):
        expected = nested_rate(customers, 0.15, *plain)
        assert nested_rate(customers, 0.05, *pool) == pytest.approx(expected, rel=1e-9)


def test_a_rate_may_do_either_where_a_station_gets_slower_or_copies_hold_unevenly() -> None:
    slower = (0, 1.0, 1, 0, 1, -1, 0, 0.5, 0, 1, -1, 0, 1, 0, 1)
    few, more = (SlopedInterval(float(n), float(n)) for n in (1, 2))
    values = [SlopedInterval(float(n), float(n)) for n in (0, *slower)]
    found = rate_between(SlopedInterval(few.low, more.high), *values)
    for customers in (few, more):
        rate = rate_between(customers, *values)
        assert found.low <= rate.low <= rate.high <= found.high
    for variation, moves in ((1.0, (-1, 1, -1)), (0.5, (-1, 0, -1)), (4.0, (0, 0, 0))):
        pool = (1, 0.1, 3, variation, 2, 0, 0.3, 1, 0, 1)
        ranges = [ValueRange(F(one), F(one)) for one in (9, 1, *pool)]
        assert nested_moves(*ranges)[3:6] == moves


def test_bounds_over_places_of_several_copies_hold_whole_numbers_of_them() -> None:
    values = [SlopedInterval(float(n), float(n)) for n in (9, 0.3, 1, 0, 1, 0.5, 3, -2, 1, 1, 0, 3)]
    values[4] = SlopedInterval(1.0, 4.0)
    found = rate_between(*values)
    rates = [nested_rate(9, 0.3, 1, 0, n, 0.5, 3, -2, 1, 1, 0, 3) for n in (1, 1.5, 2, 3, 4)]
    assert rates != sorted(rates)
    assert found.low == pytest.approx(min(rates), rel=1e-6)
    assert found.high == pytest.approx(max(rates), rel=1e-6)


@needs_node
def test_pages_have_the_same_numbers_of_pools_of_several_copies() -> None:
    """With machines of their own and common ones, with speeds, and a pool within."""
    within = (
        *(-2, 0.4, 2, 0.3, 1, -2, 0.5, 0.6, 0, 1, -1, 0, 1.5, 0, 1, 0, 0.3, 1, 0.2, 2),
        *(1, 0.1, 2, 0.5, 2, 0, 0.2, 1, 0, 1),
    )
    value = {"nested_rate": nested_rate, "nested_time": nested_time, "nested_wait": nested_wait}
    options = [("nested_rate", ()), *(("nested_time", (k,)) for k in (0, 1, 2, 4, 5, 6))]
    options += [("nested_wait", (k,)) for k in (1, 4, 6)]
    values = [
        (word, (*which, customers, 1, 6, 0.2, places, variation, copies, *within))
        for word, which in options
        for places, variation, copies in ((1, 0.5, 2), (3, 3, 3), (2, 0.5, 40), (150, 0.5, 2))
        for customers in (1, 20, 90)
    ]
    script = (
        'import { OPERATIONS } from "./reports/scripts/engine/operations.js";\n'
        f"const told = {json.dumps(values)};\n"
        "console.log(JSON.stringify(told.map(([word, at]) => OPERATIONS[word].value(...at))));\n"
    )
    expected = [value[word](*at) for word, at in values]
    assert json.loads(run_module(script)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("servers", "load"), [(6, 0.0), (400, 0.0), (1_000_000, 0.0), (6, 1.0), (400, 1.0), (2000, 1.0)]
)
@pytest.mark.parametrize("are_even", [False, True])
def test_stations_within_pools_have_rates_with_however_many_servers(
    servers: int, load: float, *, are_even: bool
) -> None:
    station = station_rates.LoadDependentStation(
        at=1, demand=0.015, servers=servers, load=load, copies=2, speeds=(), is_own=True
    )
    around = station_rates.EnclosingPool(places=6, copies=2, are_even=are_even)
    rates = station_rates.rates_of_copies(station, around, 4096)
    free = [n / 0.015 for n in range(1, 13)]
    # Of no more than six at each copy none waits where there are as many servers free.
    if servers - load >= 6:
        assert rates == pytest.approx(free, rel=1e-3)
    assert all(one <= most * (1 + 1e-9) for one, most in zip(rates, free, strict=True))
    if load:
        assert all(wait >= 0 for wait in station_rates.waits_of_copies(station, around, 4096))
