"""Arrivals that are stated not to be random, at processors that share and at lines that lose."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from scipy.integrate import quad

from helpers.specs import lowered
from oracles.renewal_arrivals import blocked, shared_time
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind


def _one(queueing: str, rate: float, arrivals: str, cores: int = 1, flows: int = 1) -> LoadGraph:
    return lowered(
        f"users N in 1..2\nmachine one {{ cpu {cores} core, queueing {queueing} }}\n"
        f"machine seat {{ }}\ncomponent work {{ cpu 1 s/request }}\n"
        f"topology {{ node a = one; node seats = seat * {flows}; "
        "link net = wire between all }\nnetwork wire { propagation 0 s }\n"
        f"stream job for each seats {{ traffic {rate / flows!r} request/s, 1 byte/request; "
        f"{arrivals} at seats {{ }}; over net; at a {{ work }} }}\n"
    )


def _mean(graph: LoadGraph) -> float:
    return float(graph.at(1).number(graph.streams["job"].mean_latency))


def _served(graph: LoadGraph, lines: int) -> float:
    """Return how many are served a second, for 1 s each."""
    return lines * float(graph.at(1).number(graph.resources["a.cpu"].load))


# -- sharing ---------------------------------------------------------------------------------


def test_sharing_is_as_many_times_longer_as_a_queue_by_hand() -> None:
    """At 60 % random arrivals wait 1.5 s; by (c^2 + 1)/2 it is 2.5 times that for a cv of 2."""
    assert _mean(_one("ps", 0.6, "arrivals cv 2;")) == pytest.approx(1 + 2.5 * 1.5)


def test_speeds_by_hand() -> None:
    """Speeds 1 and 2, traffic 1, c^2 of 4: from none to one 2/(3 + 2), then 5/(3 + 4) each."""
    none, one, ratio = 1.0, 2 / 5, 5 / 7
    two = one * ratio
    whole = none + one + two / (1 - ratio)
    people = one + two * (2 / (1 - ratio) + ratio / (1 - ratio) ** 2)
    assert _mean(_one("ps speeds [1, 2]", 1.0, "arrivals cv 2;")) == pytest.approx(people / whole)


def test_even_arrivals_at_speeds_by_hand() -> None:
    """By the clock at a traffic of 1: below that a ratio is as at random, beyond 1/(4 - 1)."""
    graph = _one("ps speeds [0.5, 2]", 1.0, "arrivals cv 0;")
    one, ratio = 2 / (-0.5 + 1), 1 / 3
    two = one * ratio
    whole = 1 + one + two / (1 - ratio)
    people = one + two * (2 / (1 - ratio) + ratio / (1 - ratio) ** 2)
    assert _mean(graph) == pytest.approx(people / whole)


SPEEDS = [[1.0], [1.0, 1.193, 1.698], [1.0, 2.0, 3.0, 4.0], [1.0, 0.9, 0.8, 0.7]]


@pytest.mark.parametrize("variation", [1.5, 2.0, 3.0])
@pytest.mark.parametrize("load", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("speeds", SPEEDS)
def test_sharing_is_within_its_error_of_the_chain(
    speeds: Sequence[float], load: float, variation: float
) -> None:
    rate = load * speeds[-1]
    queueing = "ps" if len(speeds) == 1 else f"ps speeds {speeds}"
    graph = _one(queueing, rate, f"arrivals cv {variation};")
    known = graph.streams["job"].latency_certainty
    assert [one.method for one in known.because] == ["sharing-renewals"]
    if variation > 2:
        assert known.error == 0.7
    else:  # where little is waited, as in random networks
        assert known.error in (0.1, 0.15, 0.25)
    assert _mean(graph) == pytest.approx(shared_time(speeds, rate, variation), rel=known.error)


def test_many_speeds_count_arrivals_as_few_do(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = "ps speeds [1, 1.5, 2, 2.2]", 1.8, "arrivals cv 2;"
    few = _mean(_one(*graph))
    monkeypatch.setattr("qps.compiler.lower.disciplines.processor_sharing._MOST_POWERS", 1)
    assert _mean(_one(*graph)) == pytest.approx(few)


def test_arrivals_with_a_cv_of_1_are_random() -> None:
    speeds = "ps speeds [1, 1.5]"
    for queueing, load in (("ps", 0.6), (speeds, 0.9)):
        stated, random = (_one(queueing, load, cv) for cv in ("arrivals cv 1;", ""))
        assert _mean(stated) == pytest.approx(_mean(random))


def test_percentiles_grow_with_how_uneven_arrivals_are() -> None:
    each = [
        float(graph.at(1).number(graph.streams["job"].latency_quantile(Fraction(99, 100))))
        for graph in (_one("ps", 0.6, f"arrivals cv {cv};") for cv in (1, 2, 3))
    ]
    assert each[0] < each[1] < each[2]


# -- lines that lose -------------------------------------------------------------------------


def test_peakedness_by_hand() -> None:
    """A traffic of 2 and c^2 of 3: z = 3/(1 + 4/4) = 3/2, so Erlang B of 4/3 traffic at 2 lines."""
    inverse, _ = quad(lambda y: 4 / 3 * 2.718281828459045 ** (-4 / 3 * y) * (1 + y) ** 2, 0, 60)
    graph = _one("loss", 2.0, "arrivals cv 1.7320508075688772;", cores=3)
    assert _served(graph, 3) == pytest.approx(2 * (1 - 1 / inverse))


def test_many_flows_are_as_random_ones() -> None:
    """Of 1,000 flows each is hardly ever met by itself again: its peakedness is near 1."""
    random = _served(_one("loss", 2.0, "", cores=3), 3)
    many = _one("loss", 2.0, "arrivals cv 3;", cores=3, flows=1000)
    assert _served(many, 3) == pytest.approx(random, rel=0.002)
    assert _served(_one("loss", 2.0, "arrivals cv 3;", cores=3), 3) < 0.9 * random


@pytest.mark.parametrize("variation", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("load", [0.3, 0.8, 1.5])
@pytest.mark.parametrize("lines", [1, 3, 20])
def test_what_gets_through_is_within_its_error(lines: int, load: float, variation: float) -> None:
    traffic = lines * load
    graph = _one("loss", traffic, f"arrivals cv {variation};", cores=lines)
    known = graph.streams["job"].arriving_known
    assert [one.method for one in known.because] == ["hayward"]
    assert known.kind is CertaintyKind.APPROXIMATION
    assert known.error == 0.2
    exact = traffic * (1 - blocked(lines, traffic, variation))
    assert _served(graph, lines) == pytest.approx(exact, rel=known.error)
