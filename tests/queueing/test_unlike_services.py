"""Waits for several servers whose services are short or long by chance."""

from __future__ import annotations

from fractions import Fraction
from math import inf

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from oracles import unlike_formulas
from oracles.servers_of_kinds import Waits
from qps.compiler.lower.queues.unlike_services import ServiceLengths, unlike_ratio, unlike_wait
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.methods import METHODS
from qps.engine.evaluators.queueing.unlike_proofs import ratio_rises
from qps.engine.expressions.formulas import Formula, apply, number
from qps.engine.operations import OPERATIONS
from qps.engine.queueing.unlike_laws import two_lengths
from qps.engine.queueing.unlike_numbers import FLOATS

POOL = """
users N in 1..5000
machine service {{ connections {places} connection }}
{components}
topology {{ node api = service }}
stream request in all {{
  traffic N * 1 request/s; at api {{ take connections; {steps}; give connections }}
}}
measure wait = api.connections.wait
require {{ request.latency <= 1 hour }}
"""


ANY = lowered(POOL.format(places=1, components="component c { delay 1 s }", steps="c"))


def reported(formula: Formula) -> float:
    return ANY.at(1).number(formula)


@pytest.mark.parametrize("servers", [1, 2, 8, 20])
@pytest.mark.parametrize("load", [0.6, 0.85])
@pytest.mark.parametrize(("apart", "of_load"), [(3, 0.5), (10, 0.2), (10, 0.8), (50, 0.3)])
def test_exponential_services_of_two_lengths(
    servers: int, load: float, apart: int, of_load: float
) -> None:
    share = of_load / (of_load + (1 - of_load) * apart)
    mean = share * apart + 1 - share
    rate = load * servers / mean
    shares, times = [Fraction(share), 1 - Fraction(share)], [Fraction(apart), Fraction(1)]
    lengths = lengths_of_kinds(list(zip(shares, times, strict=True)))
    there = number(Fraction(servers))
    ratio = reported(unlike_ratio(lengths, there, number(Fraction(load))))
    late = reported(apply("erlang_c", there, number(Fraction(load * servers))))
    found = ratio * late * mean / servers / (1 - load)
    waits = Waits(rate, servers, [share, 1 - share], [apart, 1.0])
    assert found == pytest.approx(waits.mean, rel=0.16)


HELD = {  # simulated apart, to 1 %: places, kinds in ms, requests/s, mean wait in ms
    "one in a hundred": (70, [(0.01, 1000), (0.99, 20)], 2000, 0.71),
    "a third party": (50, [(0.2, 406), (0.8, 6)], 450, 1.08),
    "a third party, nearly full": (45, [(0.2, 406), (0.8, 6)], 450, 7.89),
    "few places": (10, [(0.1, 100), (0.9, 10)], 300, 0.403),
    "fewer, nearly full": (4, [(0.1, 400), (0.9, 20)], 44, 30.9),
    "three kinds": (20, [(0.05, 500), (0.35, 50), (0.6, 10)], 300, 2.37),
}


@pytest.mark.parametrize("name", HELD)
def test_holds_of_some_lengths_are_as_simulated(name: str) -> None:
    places, kinds, users, wait = HELD[name]
    components = "\n".join(f"component c{k} {{ delay {ms} ms }}" for k, (_, ms) in enumerate(kinds))
    *some, _ = kinds
    chosen = "; ".join(f"{100 * share:g} %: c{k}" for k, (share, _) in enumerate(some))
    steps = f"one of {{ {chosen}; else: c{len(some)} }}"
    graph = lowered(POOL.format(places=places, components=components, steps=steps))
    found = 1000 * graph.at(users).number(graph.measures["wait"].value)
    assert found == pytest.approx(wait, rel=0.09)


def lengths_of_kinds(
    kinds: list[tuple[Fraction, Fraction]], varied: Fraction = Fraction(1)
) -> ServiceLengths:
    """Return the moments of kinds of services, each of a share of all."""
    mean = sum(share * time for share, time in kinds)
    square, cube = (sum(share * (time - mean) ** at for share, time in kinds) for at in (2, 3))
    return ServiceLengths(
        mean=number(Fraction(mean)),
        between=number(Fraction(square / mean**2)),
        third=number(Fraction(cube / mean**3)),
        varied=number(varied),
    )


def test_two_lengths_have_three_moments() -> None:
    """Of 1, 5 and 50 with 60, 35 and 5 of 100, in means of 4.85."""
    kinds = [(Fraction(60, 100), 1), (Fraction(35, 100), 5), (Fraction(5, 100), 50)]
    parts = [(share, time / Fraction(485, 100)) for share, time in kinds]
    square, cube = (sum(share * (time - 1) ** at for share, time in parts) for at in (2, 3))
    of = two_lengths(FLOATS, float(square), float(cube))
    often = of.share / of.long
    for at in (1, 2, 3):
        expected = float(sum(share * time**at for share, time in parts))
        found = often * of.long**at + (1 - often) * of.short**at
        assert found == pytest.approx(expected, rel=1e-9)


@st.composite
def waits(draw: st.DrawFn) -> tuple[list[tuple[Fraction, Fraction]], Fraction, Fraction, Fraction]:
    """Draw kinds of services, how they vary, servers and a load."""
    shares = draw(st.lists(st.integers(1, 1000), min_size=2, max_size=4))
    times = draw(st.lists(st.integers(1, 3000), min_size=len(shares), max_size=len(shares)))
    kinds = [
        (Fraction(one, sum(shares)), Fraction(time))
        for one, time in zip(shares, times, strict=True)
    ]
    assume(len(set(times)) > 1)
    varied = draw(st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1), Fraction(5, 2)]))
    servers = Fraction(draw(st.integers(2, 160)), draw(st.sampled_from([1, 2])))
    return kinds, varied, servers, Fraction(draw(st.integers(1, 999)), 1000)


@settings(max_examples=examples(300), deadline=None)
@given(waits())
def test_operations_have_the_values_of_the_formulas(
    drawn: tuple[list[tuple[Fraction, Fraction]], Fraction, Fraction, Fraction],
) -> None:
    kinds, varied, servers, load = drawn
    mean = sum(share * time for share, time in kinds)
    between, third = (
        number(Fraction(sum(share * (time - mean) ** at for share, time in kinds))) for at in (2, 3)
    )
    formulas = unlike_formulas.two_lengths(
        number(Fraction(mean)), between, third, number(varied) * (between + number(mean**2))
    )
    there, at = number(servers), number(load)
    of = lengths_of_kinds(kinds, varied)
    expected = unlike_formulas.unlike_ratio(formulas, there, at)
    assert reported(unlike_ratio(of, there, at)) == pytest.approx(reported(expected), rel=1e-9)
    wait = unlike_wait(of, there, at)
    found = wait.mean, wait.lasts.short, wait.lasts.long, wait.lasts.share
    for one, other in zip(found, unlike_formulas.wait_of(formulas, there, at), strict=True):
        assert reported(one) == pytest.approx(reported(other), rel=1e-8, abs=1e-9)


@settings(max_examples=examples(300), deadline=None)
@given(waits(), st.integers(1, 999))
def test_what_is_proven_to_rise_with_the_load_does(
    drawn: tuple[list[tuple[Fraction, Fraction]], Fraction, Fraction, Fraction], other: int
) -> None:
    kinds, varied, servers, load = drawn
    of = lengths_of_kinds(kinds, varied)
    moments = [float(one.value) for one in (of.between, of.third)]
    low, high = sorted((float(load), other / 1000))
    times = [("unlike_short", ()), ("unlike_long", ()), ("unlike_share", (1.7,))]
    if ratio_rises(*moments, float(varied), float(servers)):
        times.append(("unlike_ratio", (float(varied), float(servers))))
    for word, others in times:
        least, most = (OPERATIONS[word].number(*moments, *others, at) for at in (low, high))
        assert least <= most * (1 + 1e-9) + 1e-12, word


def test_a_few_long_holds_make_few_wait_long() -> None:
    """Simulated apart: 98 % take no more than 36.75 ms, of which holding takes 20 ms."""
    components = "component slow { delay 1 s }\ncomponent fast { delay 20 ms }"
    steps = "one of { 1 %: slow; else: fast }"
    graph = lowered(POOL.format(places=70, components=components, steps=steps))
    level = Fraction(98, 100)
    found = graph.at(2000).number(graph.streams["request"].latency_quantile(level))
    assert found == pytest.approx(36.75e-3, rel=0.03)


SERVERS = """
users N in 1..100_000
machine box {{ cpu {cores} core, queueing {discipline} }}
{components}
topology {{ node db = box }}
{streams}
measure wait = db.cpu.wait
{measures}
require {{ db.cpu.wait <= 1 hour }}
"""
LEVELS = (50, 90, 99)


def served(cores: int, kinds: list[tuple[float, float]], discipline: str = "mmc") -> str:
    """Return a spec of streams of so many requests a second, each of a service in s."""
    rows = list(enumerate(kinds))
    return SERVERS.format(
        cores=cores,
        discipline=discipline,
        components="\n".join(f"component c{k} {{ cpu {s} s/request }}" for k, (_, s) in rows),
        streams="\n".join(
            f"stream s{k} in all {{ traffic {rate} request/s; at db {{ c{k} }} }}"
            for k, (rate, _) in rows
        ),
        measures="\n".join(f"measure s{k}p{p} = s{k}.p{p}" for k, _ in rows for p in LEVELS),
    )


AT_A_LOAD = [  # of two kinds, the loads of both, and how many times as long the long one takes
    (cores, apart, loads)
    for cores in (2, 8)
    for apart in (2, 5, 10, 50)
    for loads in ((0.05, 0.45), (0.4, 0.3), (0.1, 0.8))
]


@pytest.mark.parametrize(("cores", "apart", "loads"), AT_A_LOAD)
def test_waits_for_several_servers_are_within_the_error_stated(
    cores: int, apart: int, loads: tuple[float, float]
) -> None:
    long, short = loads[0] * cores / apart, loads[1] * cores
    graph = lowered(served(cores, [(short, 1.0), (long, float(apart))]))
    waits = Waits(short + long, cores, [short / (short + long), long / (short + long)], [1, apart])
    method = METHODS["mixed-erlang-c"]
    mean = graph.measures["wait"]
    error = method.error_of("", float(apart))
    is_stated(graph.streams["s0"].latency_certainty, error)
    assert graph.at(1).number(mean.value) == pytest.approx(waits.mean, rel=error)
    for kind, service in enumerate((1.0, float(apart))):
        for level in LEVELS:
            found = graph.measures[f"s{kind}p{level}"]
            is_stated(found.known, method.error_of("percentiles", float(apart)))
            expected = waits.quantile(level / 100, service)
            assert graph.at(1).number(found.value) == pytest.approx(
                expected, rel=method.error_of("percentiles", float(apart))
            )


def is_stated(known: Certainty, error: float | None) -> None:
    assert known.methods == {"mixed-erlang-c"}
    assert known.error is not None
    assert error is not None
    assert known.error <= error


def test_three_kinds_of_services_wait_as_two_of_the_same_moments() -> None:
    kinds = [(3.2, 1.0), (0.48, 5.0), (0.016, 50.0)]
    rates, services = zip(*kinds, strict=True)
    graph = lowered(served(8, kinds))
    waits = Waits(sum(rates), 8, [rate / sum(rates) for rate in rates], services)
    assert graph.at(1).number(graph.measures["wait"].value) == pytest.approx(waits.mean, rel=0.2)
    found = graph.at(1).number(graph.measures["s0p99"].value)
    assert found == pytest.approx(waits.quantile(0.99, 1.0), rel=0.25)


@pytest.mark.parametrize("reports", [0.05, 0.1])
def test_short_queries_wait_for_long_reports_where_these_fill_all_cores(reports: float) -> None:
    """The wait is not that for one server as fast as all: that was up to 300 times as long."""
    cores, query, report = 8, 5e-3, 40.0
    rate = 300.0
    graph = lowered(served(cores, [(rate, query), (reports, report)]))
    both = rate + reports
    waits = Waits(both, cores, [rate / both, reports / both], [query, report])
    found = {name: graph.at(1).number(graph.measures[name].value) for name in graph.measures}
    assert found["wait"] == pytest.approx(waits.mean, rel=0.5)
    assert found["s0p50"] == pytest.approx(waits.quantile(0.5, query), rel=0.15)
    assert found["s0p99"] == pytest.approx(waits.quantile(0.99, query), rel=0.3)
    for level in LEVELS:
        expected = waits.quantile(level / 100, report)
        assert found[f"s1p{level}"] == pytest.approx(expected, rel=0.03)


def test_long_services_beyond_all_servers_have_no_end() -> None:
    graph = lowered(served(2, [(1.5, 1.0), (0.1, 10.0)]))
    assert graph.at(1).number(graph.measures["wait"].value) == inf
    assert graph.at(1).number(graph.measures["s0p99"].value) == inf
