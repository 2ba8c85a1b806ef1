"""Users who wait for calls that are made together: against chains, and what is refused by name."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from itertools import product
from math import inf, isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from closed_networks import optional_forks
from helpers.nightly import examples, nightly
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.engine.distributions.maximum_numbers import slowest
from qps.engine.queueing_networks.fork_join_mva import (
    BranchLaw,
    forked_rate,
    forked_time,
    forked_wait,
    slowest_exponential,
)
from qps.engine.queueing_networks.multiclass_mva import class_rate
from qps.solver.answers.graph_solution import solve

State = tuple[int, int, int]


def rate_of_chain(customers: int, think: Fraction, first: Fraction, *both: Fraction) -> Fraction:
    """Return the rate of users who think, are served, and then at two stations at once.

    Both serve in order, so that as many are there as at the one at which more are.
    """

    def moves(state: State) -> dict[State, Fraction]:
        n, one, two = state
        thinking = customers - n - max(one, two)
        found = {
            (n + 1, one, two): thinking / think,
            (n - 1, one + 1, two + 1): (n > 0) / first,
            (n, one - 1, two): (one > 0) / both[0],
            (n, one, two - 1): (two > 0) / both[1],
        }
        return {to: rate for to, rate in found.items() if rate}

    states = [
        (n, one, two)
        for n in range(customers + 1)
        for one in range(customers + 1 - n)
        for two in range(customers + 1 - n)
    ]
    at = {state: place for place, state in enumerate(states)}
    rows = [[Fraction(0)] * (len(states) + 1) for _ in states]
    for state in states:
        for to, rate in moves(state).items():
            rows[at[to]][at[state]] += rate
            rows[at[state]][at[state]] -= rate
    rows[-1] = [Fraction(1)] * (len(states) + 1)
    shares = _solved(rows)
    thinking = (customers - n - max(one, two) for n, one, two in states)
    return sum((s * n for s, n in zip(shares, thinking, strict=True)), Fraction(0)) / think


def _solved(rows: list[list[Fraction]]) -> list[Fraction]:
    for k in range(len(rows)):
        pivot = next(row for row in range(k, len(rows)) if rows[row][k])
        rows[k], rows[pivot] = rows[pivot], rows[k]
        rows[k] = [one / rows[k][k] for one in rows[k]]
        for row in range(len(rows)):
            by = rows[row][k]
            if row != k and by:
                rows[row] = [
                    a - by * b if b else a for a, b in zip(rows[row], rows[k], strict=True)
                ]
    return [row[-1] for row in rows]


def station(requested: float, servers: float = 1, load: float = 0, often: float = 1) -> list[float]:
    """Return the operands of a station."""
    return [0, requested, servers, load, 1, often]


def together(*branches: list[float], delay: float = 0, often: float = 1) -> list[float]:
    """Return the operands of calls that are made together so often, each with a delay first."""
    inside = [one for branch in branches for one in (-1, delay, 0, 0, 0, often, *branch)]
    return [len(inside) / 6, 0, 0, 0, 0, often, *inside]


@pytest.mark.parametrize("customers", [1, 2, 3])
@pytest.mark.parametrize(
    ("think", "both"), [(Fraction(1, 5), (1, 1)), (Fraction(2), (1, 1)), (Fraction(1), (1, 3))]
)
def test_calls_made_together_are_those_of_a_chain(
    customers: int, think: Fraction, both: tuple[int, int]
) -> None:
    times = [Fraction(one, 2) for one in both]
    exact = float(rate_of_chain(customers, think, Fraction(1, 3), *times))
    network = [*station(1 / 3), *together(*(station(float(one)) for one in times))]
    value = forked_rate(customers, float(think), *network)
    cycle, response = customers / exact, customers / exact - float(think)
    assert customers / value - float(think) == pytest.approx(response, rel=0.05)
    if customers == 1:  # two exponential times at once
        assert value == pytest.approx(exact, rel=1e-12)
    assert cycle > response


def test_one_branch_is_one_after_the_other() -> None:
    inside = [*station(0.4), *station(0.7, 2, 0.3)]
    serial = forked_rate(12, 3, *station(0.2), *inside)
    assert forked_rate(12, 3, *station(0.2), *together(inside)) == pytest.approx(serial, rel=0.02)
    exact = class_rate(1, 1, 12, 3, 1, 0, 1, 0.2, 1, 0, 1, 0.4, 2, 0.3, 1, 0.7)
    assert serial == pytest.approx(exact, rel=0.05)


def test_a_cycle_is_the_sum_of_its_times() -> None:
    inner = together(station(0.4), station(0.2))
    network = [*station(0.3), *together([*station(0.5), *inner], station(0.9, 3, 0.4), delay=0.1)]
    for customers in (0.5, 1, 2.5, 40, 1_000_000):
        time = forked_time(0, customers, 2, *network) + forked_time(1, customers, 2, *network)
        assert customers / forked_rate(customers, 2, *network) == pytest.approx(2 + time, rel=1e-9)
    assert forked_rate(1e6, 2, *network) == pytest.approx(2, rel=1e-4)
    assert forked_time(4, 1, 2, *network) == pytest.approx(0.6 - 1 / (1 / 0.4 + 1 / 0.2))
    held = forked_rate(40, 2, *network) * forked_time(0, 40, 2, *network)
    assert forked_wait(0, 40, 2, *network) == pytest.approx(held, rel=1e-9)


@pytest.mark.parametrize("slower", [0.8, 0.9])
@pytest.mark.parametrize("first", [station(0.05, 2), station(0.1, 2, 0.5)])
def test_a_cycle_of_very_many_is_the_sum_of_its_times(first: list[float], slower: float) -> None:
    network = [*first, *together(station(0.2), station(slower, load=0.5), delay=0.1)]
    cycle = 0.5 + forked_time(0, 1e6, 0.5, *network) + forked_time(1, 1e6, 0.5, *network)
    assert 1e6 / forked_rate(1e6, 0.5, *network) == pytest.approx(cycle, rel=1e-8)


def test_nobody_waits_at_a_machine_of_ones_own() -> None:
    own = together([-2, 0.4, 0, 0, 0, 1], [-2, 0.2, 0, 0, 0, 1])
    time = 0.6 - 1 / (1 / 0.4 + 1 / 0.2)
    assert forked_rate(50, 2, *own) == pytest.approx(50 / (2 + time))
    graph = lowered(plain(way=BOTH).replace("job for each d", "job in all").replace("* 2 ", ""))
    waited = 0.02 + 0.06 * 1.5  # of one user alone both times vary as much
    assert graph.at(1).number(graph.streams["job"].mean_latency) == pytest.approx(waited + 0.04)


def test_what_never_ends_and_what_is_no_network() -> None:
    full = [*station(0.3), *together(station(0.5, 1, 1), station(0.2))]
    assert forked_rate(5, 1, *full) == 0
    assert forked_time(3, 5, 1, *full) == inf
    assert forked_time(0, 5, 1, *full) == pytest.approx(0.3)
    assert forked_wait(3, 5, 1, *full) == inf
    assert forked_rate(5, 0, *together(station(0))) == inf
    for result in ([0], [-1, 0, 0, 0, 0, 0], [2, *[0] * 5, *station(1)], station(1, 0.5)):
        assert isnan(forked_rate(5, 1, *result))
    assert isnan(forked_time(7, 5, 1, *station(1)))


@settings(max_examples=examples(20), deadline=None)
@given(st.lists(st.tuples(st.floats(0, 3), st.floats(0.1, 3)), min_size=1, max_size=8))
def test_the_slowest_of_exponential_times(laws: list[tuple[float, float]]) -> None:
    operands = [one for fixed, mean in laws for one in (fixed, mean, 1.0)]
    found = slowest_exponential([BranchLaw(fixed, mean) for fixed, mean in laws])
    assert found == pytest.approx(slowest(*operands), rel=1e-9)


@settings(max_examples=examples(20), deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 3), st.just(0) | st.floats(0.1, 3), st.floats(0, 1)),
        min_size=1,
        max_size=7,
    )
)
def test_the_slowest_of_times_by_chance_is_that_of_each_set_that_may_be_made(
    laws: list[tuple[float, float, float]],
) -> None:
    expected = 0.0
    for made in product((False, True), repeat=len(laws)):
        weight, operands = 1.0, [0.0, 0.0, 1.0]
        for (fixed, mean, chance), is_made in zip(laws, made, strict=True):
            weight *= chance if is_made else 1 - chance
            operands += [fixed, mean, 1.0] if is_made else []
        expected += weight * slowest(*operands) if weight else 0.0
    found = slowest_exponential([BranchLaw(*law) for law in laws])
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("often", [0.25, 1, 3])
def test_calls_made_together_so_often_take_so_many_times_as_long(often: float) -> None:
    """Of one user there is nobody to wait for: each time is the largest of two."""
    both = [station(0.4 * often, often=often), station(0.2 * often, often=often)]
    time = 0.6 - 1 / (1 / 0.4 + 1 / 0.2)
    found = forked_time(0, 1, 2, *together(*both, often=often))
    assert found == pytest.approx(often * time)


def test_what_is_never_made_takes_no_time() -> None:
    never = together(station(0, often=0), station(0, often=0), often=0)
    assert forked_rate(3, 1, *station(0.5), *never) == forked_rate(
        3, 1, *station(0.5), *together([])
    )
    assert isnan(forked_rate(3, 1, *station(0.5, often=0)))


SPEC = """
unit thread
users N in 1..60
machine web {{ cpu 2 core, queueing mmc; threads 4 thread }}
machine single {{ cpu 1 core, queueing {first} }}
machine second {{ cpu 1 core, queueing mm1 }}
machine desk {{ }}
network office {{ propagation 10 ms }}
component work {{ cpu 20 ms/request }}
component look {{ cpu 60 ms/request }}
component rare {{ drop 10 % }}
topology {{
  node w = web; node x = single; node y = second; node z = second; node d = desk * N
  link lan = office between w, x, y, z, d
}}
stream job for each d {{
  traffic 1 request, think 2 s
  {way}
}}
{more}
"""

plain = partial(SPEC.format, first="mm1", more="")
BOTH = "at w { work; together { call x { look }; call y * 2 { look } }; work }"


def test_a_stream_is_reported_by_its_network() -> None:
    graph = lowered(plain(way=BOTH))
    network = [
        *station(0.04, 2, 0, 2),
        *[4, 0, 0, 0, 0, 1],
        *[-1, 0.02, 0, 0, 0, 1, *station(0.06)],
        *[-1, 0.04, 0, 0, 0, 2, *station(0.12, 1, 0, 2)],
    ]
    for users in (1, 10, 60):
        there, job = graph.at(users), graph.streams["job"]
        rate = forked_rate(users, 2, *network)
        assert there.number(graph.closed["job"].throughput) == pytest.approx(rate, rel=1e-9)
        assert there.number(job.mean_latency) == pytest.approx(users / rate - 2, rel=1e-9)
    assert job.latency_certainty.error == 0.1
    (result,) = solve(graph).closed
    assert result.balanced is None
    low, high = result.asymptotic
    assert low < result.rate < high
    assert result.knee == pytest.approx((2 + 0.04 + 0.16) / 0.12)


@pytest.mark.parametrize(
    ("way", "first", "more", "why"),
    [
        (
            BOTH.replace("call y *", "call x *"),
            "mm1",
            "",
            r"x\.cpu is visited inside and outside one of them",
        ),
        (BOTH.replace("{ work;", "{ rare; work;"), "mm1", "", "items are lost"),
        (BOTH, "ps speeds [1, 2]", "", "has load-dependent speeds"),
        (BOTH, "priority preemptive", "", "has priorities"),
        (
            BOTH,
            "mm1",
            "stream other for each d { traffic 1 request, think 1 s; at x { look } }",
            "shares a resource with closed stream `other`",
        ),
        (
            BOTH,
            "mm1",
            (
                "param pace elastic 1..9 request/s\n"
                "stream other for each d { traffic pace, 1 byte/request; at x { look } }"
            ),
            "is unknown: they make parallel calls",
        ),
    ],
)
def test_what_is_unknown_is_refused_by_name(way: str, first: str, more: str, why: str) -> None:
    with pytest.raises(QpsError, match=why):
        lowered(SPEC.format(way=way, first=first, more=more))


def test_a_pool_is_not_held_meanwhile() -> None:
    way = BOTH.replace("{ work; t", "{ take threads; t").replace("; work }", "; give threads }")
    with pytest.raises(QpsError, match=r"w\.threads is held meanwhile"):
        lowered(plain(way=way))


_BY_DAY = (0, 1, 4, 5)


@pytest.mark.parametrize(
    ("seed", "requests"),
    [
        *((seed, 8_000) for seed in _BY_DAY),
        *(pytest.param(seed, 60_000, marks=nightly) for seed in range(4)),
        *(pytest.param(seed, 12_000, marks=nightly) for seed in range(14, 22)),
        pytest.param(7, 40_000, marks=nightly),
    ],
)
def test_calls_by_chance_are_near_a_simulation(seed: int, requests: int) -> None:
    """Whole forks by chance, branches by chance, and calls by chance within these."""
    for name, found in optional_forks.quotients(optional_forks.way_of(seed), requests).items():
        assert found.stated is not None
        assert found.holds, name
