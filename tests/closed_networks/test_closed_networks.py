"""Closed networks against sums over all states, published numbers, and what is known of some."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, factorial, inf
from random import Random

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.engine.operations import OPERATIONS
from qps.engine.queueing.queue_numbers import erlang_b, erlang_c
from qps.engine.queueing_networks import product_form, product_form_arrays
from qps.engine.queueing_networks.linearizer import found_and_waits, linearized
from qps.engine.queueing_networks.multiclass_mva import (
    _exactly,
    class_open_wait,
    class_rate,
    class_wait,
)
from qps.engine.queueing_networks.multiclass_operands import (
    MulticlassNetwork,
    MulticlassStation,
    is_exact,
)
from qps.engine.queueing_networks.normalizing_integral import at_population
from qps.engine.queueing_networks.product_form import (
    closed_cycle,
    closed_rate,
    closed_wait,
    mixed_wait,
)

ERP = (0.040, 1, 0, 1, 0.050, 1, 0, 1, 0.060, 1, 0, 1)
law = settings(max_examples=examples(40), deadline=None)

_tenths = st.integers(1, 20).map(lambda n: n / 10)


@st.composite
def _station(draw: st.DrawFn, classes: int = 1) -> tuple[list[float], int, float, int]:
    servers = draw(st.integers(1, 3))
    load = draw(st.integers(0, 6)) / 10 * servers
    options = [draw(_tenths) for _ in range(classes)]
    return options, servers, load, draw(st.integers(1, 2))


@st.composite
def _network(draw: st.DrawFn) -> tuple[list[int], list[float], list]:  # type: ignore[type-arg]
    classes = draw(st.integers(1, 2))
    stations = draw(st.lists(_station(classes), min_size=1, max_size=2))
    customers = draw(st.lists(st.integers(1, 3), min_size=classes, max_size=classes))
    return customers, draw(st.lists(_tenths, min_size=classes, max_size=classes)), stations


def _weight(closed: int, servers: int, load: float) -> tuple[float, float]:
    """Return the weight of so many closed customers at a copy, and times what a visit waits."""
    total = waits = 0.0
    for opened in range(150):
        found = closed + opened
        slower = 1.0
        for k in range(1, found + 1):
            slower *= min(k, servers)
        own = comb(found, opened) * load**opened / slower
        total += own
        waits += own * max(found - servers + 1, 0) / servers
    return total, waits


def _by_states(customers, think, stations):  # type: ignore[no-untyped-def]
    """Return the sum of all weights, and the mean wait of an open visit at each station."""
    copies = [(s, i) for i, s in enumerate(stations) for _ in range(s[3])]
    weights = [[_weight(n, s[1], s[2]) for n in range(sum(customers) + 1)] for s, _ in copies]
    each = [
        [at for at in product(range(n + 1), repeat=len(copies)) if sum(at) <= n] for n in customers
    ]
    total, waits = 0.0, [0.0] * len(stations)
    for state in product(*each):
        own = 1.0
        for n, pause, at in zip(customers, think, state, strict=True):
            own *= pause ** (n - sum(at)) / factorial(n - sum(at))
        means = {}
        for c, ((options, _, _, m), i) in enumerate(copies):
            here = sum(at[c] for at in state)
            own *= factorial(here) * weights[c][here][0]
            for k, at in enumerate(state):
                own *= (options[k] / m) ** at[c] / factorial(at[c])
            means[i] = weights[c][here][1] / weights[c][here][0]
        total += own
        for i, wait in means.items():
            waits[i] += own * wait
    return total, [wait / total for wait in waits]


@law
@given(_network())
def test_rates_and_waits_are_those_of_all_states(network) -> None:  # type: ignore[no-untyped-def]
    customers, think, stations = network
    total, waits = _by_states(customers, think, stations)
    values = [(c, load, m, *options) for options, c, load, m in stations]
    for k in range(len(customers)):
        fewer = [n - (j == k) for j, n in enumerate(customers)]
        rate = _by_states(fewer, think, stations)[0] / total
        operands = (*customers, *think, *(number for one in values for number in one))
        assert class_rate(len(customers), k + 1, *operands) == pytest.approx(rate, rel=1e-12)
        if len(customers) == 1:
            plain = [(options[0], c, load, m) for options, c, load, m in stations]
            found = closed_rate(customers[0], think[0], *(n for one in plain for n in one))
            assert found == pytest.approx(rate, rel=1e-12)
    for i in range(len(stations)):
        own = [values[i], *values[:i], *values[i + 1 :]]
        operands = (*customers, *think, *(number for one in own for number in one))
        found = class_open_wait(len(customers), *operands)
        assert found == pytest.approx(waits[i], rel=1e-10)


def test_an_erp_of_two_hundred_employees() -> None:
    """The numbers of cases/waiting/closed_erp.qps."""
    rate = closed_rate(200, 15, *ERP)
    assert rate == pytest.approx(12.93, rel=1e-3)
    assert 200 / rate - 15 == pytest.approx(0.4712, rel=1e-4)
    responses = {n: n / closed_rate(n, 15, *ERP) - 15 for n in (250, 251)}
    assert responses[250] <= 1 < responses[251]


@pytest.mark.parametrize("servers", [1, 3])
def test_what_never_thinks_at_one_station_is_full(servers: int) -> None:
    assert closed_rate(7, 0, 0.5, servers, 0, 1) == pytest.approx(servers / 0.5)


@pytest.mark.parametrize(("customers", "think"), [(5, 3.0), (40, 20.0)])
def test_machines_that_one_worker_repairs_are_erlangs_loss(customers: int, think: float) -> None:
    """The machine repairman: he rests as often as a call is lost among as many lines."""
    idle = erlang_b(customers, think)
    assert closed_rate(customers, think, 1, 1, 0, 1) == pytest.approx(1 - idle, rel=1e-12)


@law
@given(st.integers(0, 60), st.integers(1, 4), _tenths, _tenths)
def test_customers_are_where_littles_law_has_them(
    customers: int, servers: int, requested: float, think: float
) -> None:
    stations = [(requested, servers, 0.3, 2), (0.4, 1, 0.2, 1.5), (1.1, 2, 0, 1)]
    cycle = think
    for i, station in enumerate(stations):
        own = [station, *stations[:i], *stations[i + 1 :]]
        cycle += station[0] + closed_wait(customers, think, *(n for one in own for n in one))
    rate = closed_rate(customers, think, *(number for one in stations for number in one))
    assert rate * cycle == pytest.approx(customers, rel=1e-12)
    found = closed_cycle(customers, think, *(number for one in stations for number in one))
    assert found == pytest.approx(cycle, rel=1e-12)


@pytest.mark.parametrize("customers", [500, 10_000, 10**6])
@pytest.mark.parametrize("think", [0.0, 3.0, 400.0, 1.002e6, 5e6])
def test_many_customers_are_as_digits_have_them(customers: int, think: float) -> None:
    """By sums of positive terms in a hundred digits; up to 10^4 customers, else by bottlenecks."""
    stations = [(1.0, 1.0), (0.999, 1.0), (0.4, 3.5)]
    rate, numbers = at_population(customers, think, stations)
    assert customers == pytest.approx(
        rate * think + sum(m * n for (_, m), n in zip(stations, numbers, strict=True)), rel=1e-11
    )
    if customers > 10_000:
        return
    before, ctx.prec = ctx.prec, 400
    try:
        weight, own = arb(1), [arb(0)] * 3
        for n in range(1, customers + 1):
            own = [arb(r) * (weight + held) for (r, _), held in zip(stations, own, strict=True)]
            last, weight = weight, arb(think) * weight
            for (_, m), held in zip(stations, own, strict=True):
                weight += arb(m) * held
            weight /= n
        assert rate == pytest.approx(float(last / weight), rel=1e-11)
        for number, held in zip(numbers, own, strict=True):
            assert number == pytest.approx(float(held / weight), rel=1e-10)
    finally:
        ctx.prec = before


@law
@given(st.data())
def test_more_of_anything_moves_them_as_the_table_says(data: st.DataObject) -> None:
    stations = [data.draw(_station()) for _ in range(data.draw(st.integers(1, 3)))]
    at = [data.draw(st.integers(0, 30)), data.draw(_tenths)]
    at += [number for (options,), c, load, m in stations for number in (options, c, load, m)]
    for number, word in (
        (closed_rate, "closed_rate"),
        (closed_cycle, "closed_cycle"),
        (closed_wait, "closed_wait"),
        (mixed_wait, "mixed_wait"),
    ):
        value = number(*at)
        for place, move in enumerate(OPERATIONS[word].moves(*at)):
            more = [*at]
            more[place] += data.draw(st.sampled_from([0.125, 0.5, 1, 3]))
            risen = number(*more)
            assert risen == value or (risen - value) * move >= -1e-11 * abs(value)


def test_exact_values_are_those_of_mean_value_analysis() -> None:
    options = [Fraction(1, 25), Fraction(1, 20), Fraction(3, 50)]
    held, rate = [Fraction(0)] * 3, Fraction(0)
    for n in range(1, 21):
        times = [d * (1 + number) for d, number in zip(options, held, strict=True)]
        rate = n / (15 + sum(times, Fraction(0)))
        held = [rate * time for time in times]
    values = [number for d in options for number in (d, Fraction(1), Fraction(0), Fraction(1))]
    assert OPERATIONS["closed_rate"].exact(Fraction(20), Fraction(15), *values) == rate
    assert OPERATIONS["closed_cycle"].exact(Fraction(20), Fraction(15), *values) == 20 / rate


def test_what_open_visits_fill_never_ends() -> None:
    assert closed_rate(5, 1, 0.5, 2, 2, 1, 0.1, 1, 0, 1) == 0
    assert closed_cycle(5, 1, 0.5, 2, 2, 1, 0.1, 1, 0, 1) == inf
    assert closed_wait(5, 1, 0.5, 2, 2, 1, 0.1, 1, 0, 1) == inf
    assert closed_wait(5, 1, 0.1, 1, 0, 1, 0.5, 2, 2, 1) == 0
    assert class_rate(2, 1, 5, 5, 1, 1, 2, 2, 1, 0.5, 0) == 0
    assert class_rate(2, 2, 5, 5, 1, 1, 2, 2, 1, 0.5, 0) == 5
    assert class_wait(2, 1, 5, 5, 1, 1, 2, 2, 1, 0.5, 0) == inf


@pytest.mark.parametrize("servers", [1.0, 2.0, 6.0])
def test_the_linearizer_is_off_by_no_more_than_is_reported(servers: float) -> None:
    for customers, think in (((120.0, 60.0), (90.0, 0.0)), ((60.0, 90.0), (20.0, 150.0))):
        places = tuple(
            MulticlassStation(c, load, 1.0, (a * c, b * c))
            for c, load, a, b in (
                (1.0, 0.0, 0.8, 0.5),
                (servers, 0.3, 0.4, 0.9),
                (1.0, 0.1, 0.6, 0.7),
            )
        )
        network = MulticlassNetwork(customers, think, places)
        exact, near = _exactly(network)[0], linearized(network)[0]
        for k, pause in enumerate(think):
            cycles = [
                pause
                + sum(p.demands[k] * (1 + wait[k]) for p, wait in zip(places, waits, strict=True))
                for waits in (exact, near)
            ]
            assert cycles[1] == pytest.approx(cycles[0], rel=0.05)


def test_many_rows_of_many_customers_are_as_each_by_itself() -> None:
    chance = Random(4)
    rows = [
        (float(chance.choice([0, 7, 1999, 2001, 50_000, 10**6])), chance.choice([0.0, 3.0, 4e4]),
         *(one for _ in range(3) for one in (chance.choice([0.0, 0.4, 1.0, 1e-3]), 1.0,
                                             chance.choice([0.0, 0.3]), chance.choice([1.0, 2.5]))))
        for _ in range(200)
    ]  # fmt: skip
    for many, alone in (
        (product_form_arrays.closed_rate, closed_rate),
        (product_form_arrays.closed_cycle, closed_cycle),
        (product_form_arrays.closed_wait, closed_wait),
        (product_form_arrays.mixed_wait, mixed_wait),
    ):
        found = many(*np.array(rows).T)
        assert found.tolist() == pytest.approx([alone(*row) for row in rows], rel=1e-11)


def test_many_classes_are_no_longer_exact_and_end() -> None:
    assert is_exact((100, 100), 3)
    assert not is_exact((1000, 1000), 3)
    rate = class_rate(3, 1, 1000, 2000, 3000, 15, 20, 30, 1, 0, 1, 0.01, 0.02, 0.005)
    assert 0 < rate < 1000 / 15


def test_networks_are_remembered_within_bounds() -> None:
    assert product_form.waits_of.cache_info().maxsize is not None


@pytest.mark.parametrize("customers", [9000, 30_000])
def test_very_many_servers_take_no_longer_and_are_nearly_exact(customers: int) -> None:
    """Where there are too many for polynomials: as with fewer servers of the same load."""
    near = closed_rate(customers, 5, 1.0, 16, 0, 1000)
    assert near == pytest.approx(min(customers / 6, 16_000), rel=0.02)


@pytest.mark.parametrize("load", [0.5, 10, 300])
def test_among_very_many_servers_nobody_waits(load: float) -> None:
    """The open load leaves room for all customers: the station is a delay, at no cost."""
    few, many = (closed_rate(45, 2, 3, servers, load, 1, 0.1, 1, 0, 1) for servers in (1200, 10**7))
    assert many == few == closed_rate(45, 5, 0.1, 1, 0, 1)
    full = closed_rate(45, 2, 3, load + 20, load, 1, 0.1, 1, 0, 1)
    assert full < many


@pytest.mark.parametrize(("servers", "load"), [(1001, 0), (1001, 900.5), (80_000, 12)])
def test_waits_at_many_servers_are_those_of_each_flow(servers: int, load: float) -> None:
    found, waits, _ = found_and_waits(servers, load)
    for number, wait in list(zip(found, waits, strict=True))[::30]:
        flow = number / (1 + wait)
        expected = erlang_c(servers, load + flow) / (servers - load - flow)
        # What is left of all servers is a difference: of more flow it is less precise.
        left = (servers - load - flow) / servers
        assert wait == pytest.approx(expected, rel=1e-10 + 1e-14 / left, abs=1e-300)


def test_many_customers_of_several_classes_wait_nowhere_where_all_have_servers() -> None:
    places = tuple(MulticlassStation(10**6, 0, 1, demands) for demands in ((1.0, 0.5), (0.2, 3.0)))
    network = MulticlassNetwork((900.0, 700.0), (2.0, 4.0), places)
    operands = [number for one in places for number in (one.servers, 0, 1, *one.demands)]
    assert linearized(network._replace(places=())) == ([], [])
    for of, think in ((1, 2 + 1.2), (2, 4 + 3.5)):
        rate = class_rate(2, of, *network.customers, *network.think, *operands)
        assert rate == pytest.approx(network.customers[of - 1] / think, rel=1e-12)
