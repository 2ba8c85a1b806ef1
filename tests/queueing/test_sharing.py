"""Processor sharing and several servers with general service, against chains solved otherwise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.labels import labels_at
from helpers.nightly import examples
from helpers.specs import PRELUDE, lowered
from oracles.chains import sojourn
from qps.compiler.lower.disciplines import processor_sharing
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

law = settings(max_examples=examples(40), deadline=None)
_FAR = 400
"""Beyond so many nobody is at the loads that are tried."""


def served(queueing: str, cores: int = 1, more: str = "") -> str:
    """Return N users that each ask 1 packet/s of a server, 10 ms a packet."""
    return PRELUDE.replace("1..100", "1..2000") + (
        f"machine serving {{ cpu {cores} core, queueing {queueing} }}\n"
        "machine user_box { }\n"
        "topology { node web = serving\n node user = user_box * N }\n"
        "stream flow for each user { traffic 1 packet/s, 1 byte/packet; at web { work } }\n" + more
    )


def reported(graph: LoadGraph, users: int, stream: str = "flow") -> float:
    """Return the mean wait in services of 10 ms."""
    part = next(part for part in graph.streams[stream].latency if part.queue is not None)
    return 100 * graph.at(users).number(part.value)


@law
@given(st.integers(1, 12), st.integers(1, 90))
def test_who_shares_waits_as_in_the_chain(cores: int, percent: int) -> None:
    rate = Fraction(percent * cores, 100)
    stays = sojourn(rate, lambda n: Fraction(min(n, cores)), _FAR)
    graph = lowered(served("ps", cores))
    assert reported(graph, percent * cores) == pytest.approx(float(stays - 1), rel=1e-9, abs=1e-12)
    assert graph.streams["flow"].latency_certainty.kind is CertaintyKind.EXACT


@law
@given(st.lists(st.integers(5, 40), min_size=1, max_size=6), st.integers(0, 90))
def test_speeds_are_those_of_the_chain(tenths: list[int], percent: int) -> None:
    speeds = [Fraction(one, 10) for one in tenths]
    # So many users that the last speed is loaded that much.
    users = max(1, int(percent * speeds[-1]))
    rate = Fraction(users, 100)
    stays = sojourn(rate, lambda n: speeds[min(n, len(speeds)) - 1], _FAR)
    written = ", ".join(str(float(speed)) for speed in speeds)
    graph = lowered(served(f"ps speeds [{written}]"))
    assert graph.at(users).number(graph.resources["web.cpu"].load) == pytest.approx(
        float(rate / speeds[-1])
    )
    assert reported(graph, users) == pytest.approx(float(stays - 1), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("percent", [1, 30, 90])
def test_many_speeds_are_those_of_the_chain(percent: int) -> None:
    """More than are summed as powers of the load: 200, which rise to a peak and fall."""
    speeds = [Fraction(8 * n, 8 + n) / (1 + Fraction(n, 400)) for n in range(1, 201)]
    users = int(percent * speeds[-1])
    stays = sojourn(Fraction(users, 100), lambda n: speeds[min(n, len(speeds)) - 1], _FAR)
    written = ", ".join(f"{speed.numerator}/{speed.denominator}" for speed in speeds)
    graph = lowered(served(f"ps speeds [{written}]"))
    assert reported(graph, users) == pytest.approx(float(stays - 1), rel=1e-9, abs=1e-9)
    assert graph.streams["flow"].latency_certainty.kind is CertaintyKind.EXACT


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize(
    ("queueing", "measure"),
    [("ps", "p99"), ("ps", "wait.p99"), ("ps speeds [1, 1.9]", "p99")],
)
def test_errors_of_percentiles_are_stated_for_exponential_service(
    queueing: str, measure: str, times: int
) -> None:
    other = f"{{ traffic 1 packet/s, 1 byte/packet; at web {{ work * {times} }} }}\n"
    required = f"require {{ flow.{measure} <= 1 s }}"
    graph = lowered(served(queueing, more=f"stream other for each user {other}{required}"))
    known = dict(labels_at(graph, 10))[f"require flow.{measure}"]
    (reason,) = (one for one in known.reasons if one)
    assert "assume exponential service times" in reason
    assert "for others, such as constant ones, no model error is known" in reason


def test_many_speeds_have_the_moments_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    speeds = "[1, 1.9, 2.6, 3.1, 3.3, 3.2]"
    powers = lowered(served(f"ps speeds {speeds}", more="require { flow.p95 <= 1 s }"))
    monkeypatch.setattr(processor_sharing, "_MOST_POWERS", 2)
    shares = lowered(served(f"ps speeds {speeds} ", more="require { flow.p95 <= 1 s }"))
    for users in (0, 40, 200, 310, 330):
        one, other = (g.at(users).number(g.criteria[-1].measure) for g in (powers, shares))
        assert one == pytest.approx(other, rel=1e-9)


def test_speeds_of_so_many_cores_are_cores() -> None:
    plain, listed = lowered(served("ps", 3)), lowered(served("ps speeds [1, 2, 3]"))
    late = "measure late = quantile(flow.latency, 99 %)\n"
    for users in (10, 150, 270, 299):
        assert reported(plain, users) == pytest.approx(reported(listed, users), rel=1e-9)
    graphs = [
        lowered(served(one, cores, late)) for one, cores in (("ps", 3), ("ps speeds [1, 2, 3]", 1))
    ]
    values = [graph.at(240).number(graph.measures["late"].value) for graph in graphs]
    assert values[0] == pytest.approx(values[1], rel=1e-9)


def test_all_speeds_alike_are_one() -> None:
    for users in (1, 50, 99):
        waits = [
            reported(lowered(served(one)), users)
            for one in ("ps", "ps speeds [1]", "ps speeds [1, 1, 1]", "mm1")
        ]
        assert waits == pytest.approx([waits[0]] * 4, rel=1e-9)


def test_long_visits_wait_longer_where_all_share() -> None:
    spec = served(
        "ps",
        more="stream long for each user { traffic 1 packet/s, 1 byte/packet\n"
        "at web { work * 3 } }\n",
    )
    graph = lowered(spec)
    # 20 users: 0.2 of short ones and 0.6 of long ones
    assert reported(graph, 20) == pytest.approx(4)
    assert reported(graph, 20, "long") == pytest.approx(12)
    assert graph.streams["long"].latency_certainty.kind is CertaintyKind.EXACT


def test_beyond_the_last_speed_there_is_no_end() -> None:
    graph = lowered(served("ps speeds [1, 1.8, 2.4]"))
    assert reported(graph, 239) < float("inf")
    assert reported(graph, 240) == reported(graph, 900) == float("inf")


@pytest.mark.parametrize("cores", [1, 2, 4, 16])
@pytest.mark.parametrize("percent", [10, 50, 80, 95])
def test_quantiles_are_within_the_error_that_is_reported(cores: int, percent: int) -> None:
    levels = ("50", "90", "95", "99", "99.9")
    more = "".join(
        f"measure q{k} = quantile(flow.latency, {level} %)\n" for k, level in enumerate(levels)
    )
    graph = lowered(served("ps", cores, more))
    assert graph.measures["q0"].known.kind is CertaintyKind.APPROXIMATION
    true = _shared_quantiles(cores, percent / 100, [float(level) / 100 for level in levels])
    for k, (level, exact) in enumerate(zip(levels, true, strict=True)):
        found = 100 * graph.at(percent * cores).number(graph.measures[f"q{k}"].value)
        allowed = 0.08 if 90 <= float(level) <= 99 else 0.12
        assert found == pytest.approx(exact, rel=allowed)


@pytest.mark.parametrize("cores", [1, 2, 4])
@pytest.mark.parametrize("percent", [30, 60, 90])
def test_visits_by_chance_are_as_short_as_short_visits_are(cores: int, percent: int) -> None:
    """Of a gamma law of the same variance 10 % are shorter than a tenth of the true p10."""
    levels = (0.1, 0.3, 0.5, 0.9, 0.99)
    more = "".join(
        f"measure q{k} = quantile(flow.latency, {10 + 90 * level:.5g} %)\n"
        for k, level in enumerate(levels)
    )
    spec = served("ps", cores, more).replace("{ work }", "{ 90 %: work }")
    graph = lowered(spec.replace("1 packet/s", "10 / 9 * 1 packet/s"))
    true = _shared_quantiles(cores, percent / 100, list(levels))
    for k, exact in enumerate(true):
        found = 100 * graph.at(percent * cores).number(graph.measures[f"q{k}"].value)
        assert found == pytest.approx(exact, rel=0.2 if k < 2 else 0.16)


def _shared_quantiles(cores: int, load: float, levels: list[float]) -> list[float]:
    """Return quantiles of the time in M/M/c with sharing, by the eigenvalues of its chain.

    The state is how many others are there; one that is watched is served by its share.
    """
    most = int(cores + 60 / (1 - load))
    rate = cores * load
    others = np.arange(most + 1)
    own = np.minimum(1, cores / (others + 1))
    leaving = own * others
    found = np.concatenate([[1.0], np.cumprod(rate / np.minimum(others[1:], cores))])
    found /= found.sum()
    logs = np.concatenate([[0.0], np.cumsum(np.log(rate) - np.log(leaving[1:]))]) / 2
    down = -leaving - own - np.where(others < most, rate, 0)
    beside = np.sqrt(rate * leaving[1:])
    values, vectors = np.linalg.eigh(np.diag(down) + np.diag(beside, 1) + np.diag(beside, -1))
    weights = ((found * np.exp(-logs)) @ vectors) * (vectors.T @ np.exp(logs))

    def tail(time: float) -> float:
        return float(weights @ np.exp(values * time))

    quantiles = []
    for level in levels:
        low, high = 0.0, 1e4
        for _ in range(80):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle) > 1 - level else (low, middle)
        quantiles.append(high)
    return quantiles


# -- several servers with general service ------------------------------------------------


@law
@given(st.integers(1, 20), st.integers(1, 95), st.sampled_from(["0", "0.5", "1", "2"]))
def test_general_service_is_what_is_known_at_its_ends(cores: int, percent: int, cv: str) -> None:
    users = cores * percent
    found = reported(lowered(served(f"mgc cv {cv}", cores)), users)
    exponential = reported(lowered(served("mmc", cores)), users)
    if cv == "1":
        assert found == pytest.approx(exponential, rel=1e-9)
    if cores == 1:
        assert found == pytest.approx(reported(lowered(served(f"mg1 cv {cv}")), users), rel=1e-9)
    # It lies between Lee and Longton's and that of exponential service.
    plain = exponential * (1 + float(cv) ** 2) / 2
    assert min(plain, exponential) <= found * (1 + 1e-9)
    assert found <= max(plain, exponential) * (1 + 1e-9)


@pytest.mark.parametrize("cores", [2, 5, 10, 30])
@pytest.mark.parametrize("percent", [30, 60, 80, 95])
def test_fixed_service_at_several_servers(cores: int, percent: int) -> None:
    exact = _fixed_wait(cores, percent / 100)
    graph = lowered(served("mgc cv 0", cores))
    # What hardly anybody waits for is told within a part of a service.
    assert reported(graph, cores * percent) == pytest.approx(exact, rel=0.03, abs=1e-3)


def _fixed_wait(cores: int, load: float) -> float:
    """Return the mean wait of M/D/c: from one service to the next as many come as are random."""
    rate, most = cores * load, 60 * cores + 400
    steps = [np.exp(-rate)]
    for n in range(1, most + 1):
        steps.append(steps[-1] * rate / n)
    coming = np.array(steps)
    known = np.zeros(most + 1)
    known[0] = 1.0
    for _ in range(6000):
        left = np.concatenate([[known[: cores + 1].sum()], known[cores + 1 :]])
        after = np.convolve(left, coming)[: most + 1]
        if np.abs(after - known).max() < 1e-13:
            break
        known = after
    numbers = np.arange(most + 1)
    return float((known * np.maximum(numbers - cores, 0)).sum() / rate)
