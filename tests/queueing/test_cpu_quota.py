"""CPU limits: a quota of each period, against a simulation that shares nothing with QPS."""

from __future__ import annotations

import pytest

from helpers.specs import load, lowered
from oracles.quota_simulation import response_times
from qps.compiler.lower.load_graph import LoadGraph
from qps.simulation.agreement import compared
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, simulate

# Cores of the host, limit in cores, utilization, service time over the quota, cv of service times;
# then in periods the mean, p95 and p99 of 200,000 to 1,000,000 jobs of the same simulation in C.
SIMULATED = [
    (2, 0.5, 0.5, 0.05, 1, 0.026668, 0.0790549, 0.132854),
    (4, 1, 0.5, 0.05, 1, 0.0511635, 0.153888, 0.246488),
    (16, 0.5, 0.2, 1, 1, 0.880795, 3.25235, 5.72459),
    (4, 2, 0.5, 1, 1, 2.55976, 8.1667, 13.8585),
    (1, 0.9, 0.5, 1, 1, 1.92478, 6.71569, 12.4115),
    (2, 0.5, 0.9, 0.05, 1, 0.204336, 0.887728, 2.41585),
    (16, 4, 0.9, 0.05, 1, 0.385172, 1.33858, 2.85935),
    (4, 2, 0.8, 0.2, 1, 0.903895, 3.33732, 6.81654),
    (64, 2, 0.2, 0.01, 1, 0.0200758, 0.0602035, 0.0932212),
    (8, 7, 0.5, 0.05, 1, 0.353865, 1.06336, 1.64214),
    (2, 0.5, 0.7, 4, 1, 12.7862, 47.3365, 92.4666),
    (64, 2, 0.8, 0.2, 1, 0.859859, 3.13819, 6.43365),
    (16, 0.5, 0.8, 4, 1, 19.3179, 73.3921, 146.93),
    (64, 2, 0.9, 4, 1, 42.3755, 160.545, 324.166),
    (4, 1, 0.2, 4, 1, 4.9465, 15.7293, 26.1944),
    (8, 7, 0.9, 0.01, 1, 0.105633, 0.340588, 0.660917),
    (1, 0.5, 0.7, 1, 1, 2.90505, 11.2869, 21.7238),
    (1, 0.1, 0.5, 0.01, 1, 0.0010555, 0.00319838, 0.00497261),
    (64, 2, 0.7, 0.2, 1, 0.623722, 2.11141, 4.12159),
    (4, 1, 0.7, 0.01, 1, 0.0100497, 0.0300905, 0.046685),
    (16, 4, 0.8, 0.05, 1, 0.243143, 0.753049, 1.33912),
    (4, 1, 0.8, 4, 1, 19.6288, 74.1107, 145.719),
    (4, 1, 0.2, 0.05, 1, 0.0501656, 0.150181, 0.231639),
    (4, 2, 0.9, 0.05, 1, 0.329746, 1.35001, 3.12721),
    (1, 0.9, 0.9, 4, 0, 39.1207, 111.272, 169.083),
    (4, 1, 0.2, 0.05, 0, 0.0500005, 0.05, 0.05),
    (64, 2, 0.2, 0.01, 0, 0.02, 0.02, 0.02),
    (1, 0.5, 0.9, 1, 0, 9.17141, 28.0597, 41.8001),
    (1, 0.9, 0.7, 1, 0, 3.15521, 8.37462, 12.66),
    (2, 0.5, 0.8, 1, 0, 3.92202, 12.3685, 19.5263),
    (16, 0.5, 0.2, 4, 2, 4.75315, 24.0293, 51.1665),
    (8, 7, 0.2, 4, 2, 28.0279, 136.202, 273.674),
    (1, 0.9, 0.5, 4, 2, 7.79856, 38.3196, 88.3324),
    (1, 0.5, 0.5, 0.01, 2, 0.00663294, 0.0321442, 0.0695404),
    (1, 0.9, 0.8, 0.2, 2, 0.951939, 4.6874, 12.2543),
    (8, 7, 0.8, 0.2, 2, 1.84945, 8.95955, 19.2062),
]
EXPONENTIAL = [row for row in SIMULATED if row[4] == 1]
_USERS = 1000
"""So many saturate the limit: a thousandth of it for each."""


def _graph(
    cores: int, limit: float, service: float, variation: float = 1, period: str = "100 ms"
) -> LoadGraph:
    """Return users of whom each asks for a thousandth of a limit, in services over the quota."""
    time = service * limit / 10
    return lowered(f"""
users N in 1..2000
machine pod {{ cpu {limit} core, queueing quota per {period} on {cores} core cv {variation} }}
component work {{ cpu {time} s/request }}
topology {{ node web = pod }}
stream ask for each user {{ traffic {limit / time / _USERS} request/s; at web {{ work }} }}
measure p95 = quantile(ask.latency, 95 %)
measure p99 = quantile(ask.latency, 99 %)
require {{ ask.latency <= 1 hour; p95 <= 1 hour; p99 <= 1 hour }}
""")


def _mean(graph: LoadGraph, utilization: float) -> float:
    """Return the mean response time in periods of 100 ms."""
    return 10 * graph.at(round(utilization * _USERS)).number(graph.streams["ask"].mean_latency)


@pytest.mark.parametrize("row", SIMULATED, ids=str)
def test_the_mean_is_within_its_error(row: tuple[float, ...]) -> None:
    cores, limit, utilization, service, variation, mean, *_ = row
    found = _mean(_graph(int(cores), limit, service, variation), utilization)
    allowed = 0.3 if variation == 1 else 0.42
    assert found == pytest.approx(mean, rel=allowed)


@pytest.mark.parametrize("row", EXPONENTIAL, ids=str)
def test_percentiles_are_within_their_error(row: tuple[float, ...]) -> None:
    cores, limit, utilization, service, _, _, *simulated = row
    graph = _graph(int(cores), limit, service)
    at = graph.at(round(utilization * _USERS))
    for measure, true in zip(("p95", "p99"), simulated, strict=True):
        assert 10 * at.number(graph.measures[measure].value) == pytest.approx(true, rel=0.6)


def test_the_rows_are_what_the_simulation_reports() -> None:
    cores, limit, utilization, service, _, mean, p95, _ = EXPONENTIAL[0]
    each = service * limit
    times = response_times(
        cores=int(cores),
        limit=limit,
        rate=utilization / service,
        work=lambda random: random.expovariate(1 / each),
        jobs=60_000,
        seed=3,
    )
    assert sum(times) / len(times) == pytest.approx(mean, rel=0.04)
    assert times[int(0.95 * len(times))] == pytest.approx(p95, rel=0.06)


def test_a_job_alone_waits_for_the_next_periods() -> None:
    # Of 2.5 quotas it gets one in each of the first two periods, and the rest at the start of the
    # third: in a period that it comes into late, it still gets what is left of the time.
    times = response_times(cores=1, limit=0.5, rate=0.002, work=lambda _: 1.25, jobs=300, seed=1)
    assert times[0] >= 1.75 - 1e-9
    assert times[len(times) // 2] <= 2.25 + 1e-9


@pytest.mark.parametrize(("cores", "limit"), [(1, 0.5), (8, 0.5), (8, 2)])
def test_short_periods_are_a_slower_host_and_long_ones_none(cores: int, limit: float) -> None:
    service = 1e-4
    long, short = (_graph(cores, limit, one) for one in (service, 1e6))
    alone = _mean(_graph(cores, limit, service), 0.001) / (service * limit)
    assert alone == pytest.approx(1, rel=0.01)
    assert _mean(long, 0.6) < 2 * service * limit
    # A host of so many cores, or of one that is slower, by processor sharing.
    erlang = 0.6 if limit <= 1 else 2 * 0.6**2 / (1 + 0.6)
    slow = (1 + erlang / max(limit, 1) / 0.4) / min(1, limit)
    assert _mean(short, 0.6) / (1e6 * limit) == pytest.approx(slow, rel=1e-4)


@pytest.mark.parametrize("period", ["1 ms", "100 ms", "10 s"])
def test_the_limit_is_where_it_saturates_whatever_the_period(period: str) -> None:
    graph = _graph(8, 0.5, 0.2, period=period)
    assert load(graph, "web.cpu", _USERS) == pytest.approx(1, rel=1e-12)
    assert graph.at(_USERS - 1).number(graph.streams["ask"].mean_latency) < float("inf")
    assert graph.at(_USERS).number(graph.streams["ask"].mean_latency) == float("inf")


@pytest.mark.parametrize("row", EXPONENTIAL[:3], ids=str)
def test_the_simulator_plays_the_same_limit(row: tuple[float, ...]) -> None:
    cores, limit, utilization, service, _, mean, *_ = row
    graph = _graph(int(cores), limit, service)
    model = simulated_model(graph, round(utilization * _USERS))
    found = simulate(model, Effort(seconds=0, seed=2, workers=1, runs=4))
    (latency,) = [
        one for one in compared(graph, found) if (one.subject, one.measure) == ("ask", "latency")
    ]
    assert 10 * latency.simulated.mean == pytest.approx(mean, rel=0.1)
