"""Calls that are made together: each begins with the flow as it comes; the slowest counts."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest

from helpers.specs import lowered
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.waiting_measures import stations_in
from qps.compiler.lower.response_time.response_stages import every
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.engine.operations import OPERATIONS


def _disks(
    count: int,
    arrivals: str = "",
    behind: str = "",
    *,
    more: str = "",
    second: str = "read",
    queueing: str = "queueing mm1",
) -> LoadGraph:
    """Return disks that each get a part of every request."""
    names = [f"disk{k}" for k in range(1, count + 1)]
    steps = ["read", second, *["read"] * count]
    calls = "; ".join(f"call {name} {{ {step} }}" for name, step in zip(names, steps, strict=False))
    if count > 1:
        calls = f"together {{ {calls} }}"
    return lowered(
        "users N in 1..9\nmachine array { cpu 1 core, queueing mm1 }\n"
        f"machine drive {{ arm 1 core, {queueing} }}\n{more}\nnetwork wire {{ propagation 0 s }}\n"
        "component read { arm 50 ms/request }\ncomponent work { cpu 40 ms/request }\n"
        f"topology {{ node raid = array; node {', '.join(names)} = drive; "
        "link bus = wire between all }\n"
        f"stream job in all {{ traffic N * 1 request/s; {arrivals}\n"
        f"at raid {{ {calls}{behind} }} }}\n"
    )


def test_each_of_calls_together_gets_the_flow_as_it_comes() -> None:
    graph = _disks(3, "arrivals cv 3")
    found = [part for part in every(graph.streams["job"].latency) if part.queue is not None]
    assert len({graph.at(8).number(part.value) for part in found}) == 1
    assert all(part.visit is not None and part.visit.before is None for part in found)
    alone = _disks(1, "arrivals cv 3")
    whole = alone.at(8).number(alone.streams["job"].mean_latency)
    assert graph.at(8).number(found[0].value) + 0.05 == pytest.approx(whole)


def test_what_comes_after_calls_together_has_waited_in_all_of_them() -> None:
    last = _disks(2, behind="; work").streams["job"].latency[-2]
    assert last.visit is not None
    assert last.visit.after == ("disk1.arm", "disk2.arm")


# -- the mean of the slowest -----------------------------------------------------------------


def test_the_slowest_of_exponential_times_is_the_sum_of_what_comes_first() -> None:
    many = OPERATIONS["slowest"]
    for count in (2, 3, 8):
        harmonic = sum(1 / k for k in range(1, count + 1))
        assert many.number(*[0.0, 2.0, 1.0] * count) == pytest.approx(2 * harmonic, rel=1e-12)
    assert many.number(0, 2, 1, 0, 1, 1) == pytest.approx(3 - 1 / (1 / 2 + 1), rel=1e-12)
    assert many.number(3, 0, 0, 1, 1, 1) == pytest.approx(3 + exp(-2), rel=1e-10)


def _slowest(graph: LoadGraph, population: int) -> tuple[float, Certainty]:
    (fork,) = (part for part in graph.streams["job"].latency if part.branches)
    return graph.at(population).number(fork.value), fork.certainty


@pytest.mark.parametrize(
    ("count", "milliseconds", "played"), [(2, 14, 0.2835), (8, 14, 0.3928), (8, 4, 0.0431)]
)
def test_who_comes_to_a_queue_again_varies_less(
    count: int, milliseconds: int, played: float
) -> None:
    """Five visits counted as one exponential time: told up to 1.6 times as long, as a bound."""
    calls = (f"call a{k} {{ call x{k} * 5 {{ work }} }}" for k in range(count))
    nodes = (f"node a{k} = plain; node x{k} = drive" for k in range(count))
    graph = lowered(
        "users N in 1..99\nmachine plain { }\nmachine drive { arm 1 core, queueing mm1 }\n"
        f"network wire {{ propagation 0 s }}\ncomponent work {{ arm {milliseconds} ms/request }}\n"
        f"topology {{ node raid = plain; {'; '.join(nodes)}; link bus = wire between all }}\n"
        "stream job in all { traffic N * 1 request/s, 1 kB/request\n"
        f"at raid {{ together {{ {'; '.join(calls)} }} }} }}\n"
    )
    result, known = _slowest(graph, 10)
    assert result == pytest.approx(played, rel=0.05)
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error == pytest.approx(0.2)


@pytest.mark.parametrize("count", [2, 4])
def test_equal_branches_are_those_of_nelson_and_tantawi(count: int) -> None:
    load, own = 0.4, 0.05 / 0.6
    mean, known = _slowest(_disks(count), 8)
    harmonic = sum(1 / k for k in range(1, count + 1)) / 1.5
    scaled = harmonic + 4 / 11 * (1 - harmonic) * load
    assert mean == pytest.approx(own * scaled * (12 - load) / 8)
    assert known.kind is CertaintyKind.APPROXIMATION


def test_other_branches_count_as_independent_which_is_an_upper_bound() -> None:
    graph = _disks(2, more="component write { arm 20 ms/request }", second="write")
    mean, known = _slowest(graph, 8)
    first, second = 0.05 / 0.6, 0.02 / (1 - 8 * 0.02)
    assert mean == pytest.approx(first + second - 1 / (1 / first + 1 / second))
    assert known.kind is CertaintyKind.UPPER_BOUND


def test_branches_of_which_nothing_varies_take_as_long_as_the_longest() -> None:
    graph = _disks(2, queueing="queueing none")
    mean, known = _slowest(graph, 8)
    assert (mean, known.kind) == (0.05, CertaintyKind.EXACT)


def test_where_arrivals_are_uneven_waits_differ_less() -> None:
    mean, _ = _slowest(_disks(3, "arrivals cv 3"), 8)
    alone = _disks(1, "arrivals cv 3")
    one = alone.at(8).number(alone.streams["job"].mean_latency)
    harmonic = 1 + 1 / 2 + 1 / 3
    wait = (one - 0.05) * (1 + (harmonic - 1) / 10**0.5)
    assert mean == pytest.approx(wait + 0.05 * harmonic)


BEHIND = """
users N in 1..2
machine one { cpu 1 core, queueing mm1 }
machine box { }
network wire { propagation 1 us }
component work { cpu 0.7 s/request }
component next { cpu 0.6 s/request }
component rest { delay 1 s }
topology { node root = box; node b, d, c = one; node leaf = one * 8; link l = wire between all }
stream s in all { traffic 1 request/s, 1 kB/request; at root { %s }; at c { next } }
measure waits_at_all = share(c.cpu.wait > 0 s)
"""


@pytest.mark.parametrize(
    ("calls", "is_poisson"),
    [
        ("call b { work }", True),
        ("one of { 30 %: call b { work }; else: call d { work } }", True),
        ("together { call b { rest }; call d { rest } }", True),
        ("together { call b { work }; call d { work } }", False),
        ("together { call b { rest }; call d { work } }", False),
        ("together 8 { call leaf { work } }", False),
        ("together 8, first 2 answers { call leaf { work } }", False),
        ("call leaf { together { call b { work }; call d { work } } }", False),
    ],
)
def test_items_that_wait_for_each_other_arrive_in_no_poisson_process(
    calls: str, is_poisson: bool
) -> None:
    """Two queues at 70 %: 59.2 % of the items wait behind them, ± 0.4 %, where 60 % are busy."""
    graph = lowered(BEHIND % calls)
    (queue,) = stations_in(graph.streams.values(), ["c.cpu"])
    assert queue.mean_known.is_exact == queue.quantiles_known.is_exact == is_poisson
    assert float(graph.at(1).number(queue.tail(Fraction(0)))) == pytest.approx(0.6)
