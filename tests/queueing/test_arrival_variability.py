"""How uneven what arrives is: two moments from queue to queue, held against queues played out."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from oracles.tandem import tandem
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.queueing.queue_numbers import uneven

VARIATIONS, LOADS = st.floats(0.0, 9.0), st.floats(0.01, 0.99)


# -- the row -------------------------------------------------------------------------------


@given(VARIATIONS, LOADS)
def test_random_arrivals_wait_as_pollaczek_and_khinchine_say(service: float, load: float) -> None:
    assert uneven(1.0, service, load) == (1 + service) / 2


def test_more_even_arrivals_wait_as_kraemer_and_langenbach_belz_say() -> None:
    damped = exp(-2 * 0.2 * 0.5**2 / (3 * 0.8 * 1.5))
    assert uneven(0.5, 1.0, 0.8) == pytest.approx(0.75 * damped)
    assert uneven(0.0, 0.0, 0.8) == 0  # by the clock: nobody waits


@given(VARIATIONS, VARIATIONS, LOADS, st.floats(1.0, 2.0))
def test_less_even_waits_longer(arrivals: float, service: float, load: float, more: float) -> None:
    wait = uneven(arrivals, service, load) * (1 - 1e-12)
    assert uneven(arrivals * more, service, load) >= wait
    assert uneven(arrivals, service * more, load) >= wait
    assert uneven(arrivals, service, load * more) >= wait


# -- specs ---------------------------------------------------------------------------------


def _row(stages: Sequence[tuple[float, float]], arrivals: str = "", flows: int = 1) -> LoadGraph:
    """Return queues in a row, each of a load and a variation of service; a request/s comes."""
    names = [chr(ord("a") + k) for k in range(len(stages))]
    text = "users N in 1..100\nnetwork wire { rate 1e15 bit/s; queueing none }\nmachine seat { }\n"
    ways = []
    for name, (load, variation) in zip(names, stages, strict=True):
        text += f"machine m{name} {{ cpu 1 core, queueing mg1 cv {variation!r} }}\n"
        text += f"component c{name} {{ cpu {load!r} s/request }}\n"
        ways.append(f"at n{name} {{ c{name} }}")
    places = "; ".join(f"node n{name} = m{name}" for name in names)
    ends = ", ".join(["seats", *(f"n{name}" for name in names)])
    text += (
        f"topology {{ node seats = seat * {flows}; {places}; link net = wire between {ends} }}\n"
    )
    way = "; ".join(["at seats { }", *ways])
    rate = f"traffic 1/{flows} request/s, 1 byte/request"
    return lowered(text + f"stream job for each seats {{ {rate}; {arrivals} {way} }}\n")


def _waits(graph: LoadGraph, population: int = 1) -> list[float]:
    return [
        graph.at(population).number(part.value)
        for part in graph.streams["job"].latency
        if part.queue is not None
    ]


LOADED = st.tuples(st.floats(0.1, 0.95), st.sampled_from([0.0, 0.5, 1.0, 2.0]))


@settings(deadline=None, max_examples=examples(25))
@given(st.lists(st.floats(0.1, 0.95), min_size=1, max_size=5))
def test_random_and_exponential_queues_are_those_of_jackson(loads: list[float]) -> None:
    graph = _row([(load, 1) for load in loads])
    assert _waits(graph) == pytest.approx([load**2 / (1 - load) for load in loads])
    stated = _row([(load, 1) for load in loads], "arrivals cv 1;", flows=7)
    assert _waits(stated) == pytest.approx([load**2 / (1 - load) for load in loads])
    reasons = " ".join(graph.streams["job"].latency_certainty.reasons)
    assert "two moments" not in reasons


@settings(deadline=None, max_examples=examples(25))
@given(
    st.lists(LOADED, min_size=1, max_size=4), st.sampled_from([0, 0.3, 1, 2.2]), st.floats(0.05, 1)
)
def test_less_even_arrivals_wait_no_less(
    stages: list[tuple[float, float]], variation: float, more: float
) -> None:
    """At the first queue; behind it what comes is less and less that of the source."""
    less, much = (
        _waits(_row(stages, f"arrivals cv {cv!r};")) for cv in (variation, variation + more)
    )
    assert less[0] <= much[0] * (1 + 1e-9)


@settings(deadline=None, max_examples=examples(15))
@given(st.lists(LOADED, min_size=2, max_size=4))
def test_many_flows_are_as_random_ones_where_there_is_room(
    stages: list[tuple[float, float]],
) -> None:
    load, variation = stages[0]
    stages[0] = (min(load, 0.5), variation)
    random = _waits(_row(stages))[0]
    assert _waits(_row(stages, "arrivals cv 3;", flows=10_000))[0] == pytest.approx(
        random, rel=0.02
    )


# name, variation of arrivals, flows, stages: a load and a variation each
ROWS = [
    ("bursty_before_fixed", 1, 1, [(0.36, 3), (0.72, 0)]),
    ("fixed_before_random", 1, 1, [(0.8, 0), (0.6, 1)]),
    ("uneven_source", 2, 1, [(0.5, 1), (0.7, 1), (0.3, 0.5)]),
    ("clock", 0, 1, [(0.6, 1), (0.8, 0.5)]),
    ("many_clocks", 0, 30, [(0.6, 1), (0.8, 1)]),
    ("five", 1.5, 5, [(0.4, 2), (0.9, 0.5), (0.6, 1), (0.3, 2), (0.8, 0)]),
    ("last_is_full", 2, 5, [(0.2, 0.5), (0.3, 1), (0.9, 1)]),
]


@pytest.mark.parametrize(
    ("variation", "flows", "stages"), [pytest.param(*row[1:], id=row[0]) for row in ROWS]
)
def test_rows_are_as_long_as_simulated(
    variation: float, flows: int, stages: list[tuple[float, float]]
) -> None:
    """Within what the label says."""
    graph = _row(stages, f"arrivals cv {variation!r};", flows)
    simulated = tandem(variation, stages, flows=flows, count=600_000)
    served = sum(load for load, _ in stages)
    value = sum(_waits(graph)) + served
    true = sum(wait * load for wait, (load, _) in zip(simulated, stages, strict=True)) + served
    assert 0.68 < value / true < 1.34
    known = graph.streams["job"].latency_certainty
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "two moments" in " ".join(known.reasons)


def test_what_goes_to_many_machines_is_nearly_random() -> None:
    """A tenth of a stream that a bursty stage shapes."""
    text = (
        "users N in 1..100\nnetwork wire { rate 1e15 bit/s; queueing none }\n"
        "machine one { cpu 1 core, queueing mg1 cv 3 }\nmachine many { cpu 1 core, queueing md1 }\n"
        "component first { cpu 0.5 s/request }\ncomponent later { cpu 5 s/request }\n"
        "topology { node a = one; node b = many * 10; link l = wire between a, b }\n"
        "stream job in all { traffic 1 request/s, 1 byte/request\n"
        "at a { first }; at b { later } }\n"
    )
    [_, behind] = _waits(lowered(text))
    random = 0.5 * 5 * 0.5 / 0.5
    assert random < behind < 1.3 * random
    [_, one] = _waits(lowered(text.replace("many * 10", "many").replace(" 5 s/", " 0.5 s/")))
    assert one / 0.5 > 1.5 * behind / 5


def test_streams_that_come_back_after_a_long_time_do_so_at_random() -> None:
    text = (
        "users N in 1..100\nmachine one { cpu 1 core, queueing md1 }\n"
        "component work { cpu 0.4 s/request }\ncomponent rest { delay 1000 s }\n"
        "topology { node a = one }\n"
        "stream job in all { traffic 1 request/s; at a { work; rest; work } }\n"
    )
    assert _waits(lowered(text)) == pytest.approx([0.8, 0.8])


def test_a_periodic_queue_does_not_count_what_is_stated() -> None:
    text = (
        "users N in 1..100\nmachine one { cpu 1 core, queueing periodic }\nmachine seat { }\n"
        "component work { cpu 1 ms/request }\ntopology { node a = one; node seats = seat * N }\n"
        "stream job for each seats { traffic 1 request/s; arrivals cv 2; at a { work } }\n"
    )
    known = lowered(text).streams["job"].latency_certainty
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "variability of arrivals at `a.cpu` is ignored" in " ".join(known.reasons)


@pytest.mark.parametrize("queueing", ["mmc", "mgc cv 0.5", "mm1"])
def test_several_servers_count_how_uneven_arrivals_are(queueing: str) -> None:
    text = (
        "users N in 1..100\nmachine seat { }\n"
        f"machine one {{ cpu 2 core, queueing {queueing} }}\n"
        "component work { cpu 10 ms/request }\ntopology { node a = one; node seats = seat }\n"
        "stream job for each seats { traffic 150 request/s; arrivals cv 3; at a { work } }\n"
    )
    random, uneven_ones = (_waits(lowered(t)) for t in (text.replace("arrivals cv 3; ", ""), text))
    spread = 0.25 if "mgc" in queueing else 1.0
    assert uneven_ones == pytest.approx([random[0] * (9 + spread) / (1 + spread)])


def test_a_processor_with_a_limit_is_reported_as_ignored() -> None:
    quota = "quota per 100 ms on 2 core"
    text = (
        f"users N in 1..100\nmachine one {{ cpu 1 core, queueing {quota} }}\nmachine seat {{ }}\n"
        "component work { cpu 1 ms/request }\ntopology { node a = one; node seats = seat * N }\n"
        "stream job for each seats { traffic 1 request/s; arrivals cv 2; at a { work } }\n"
    )
    known = lowered(text).streams["job"].latency_certainty
    assert "variability of arrivals at `a.cpu` is ignored" in " ".join(known.reasons)
