"""Waits against simulations: Lindley's recursion over random arrivals, with fixed seeds.

The tolerance is the run's own: four standard errors of the means of independent replications.
"""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from heapq import heapreplace
from typing import Any

import numpy as np
import pytest

from helpers.nightly import nightly
from helpers.specs import PRELUDE, lowered
from qps.compiler.lower.load_graph import LoadGraph

pytestmark = pytest.mark.slow


def _at_night(*values: Any) -> list[Any]:
    """Return parameters of the night alone: one of each kind is played by day."""
    items = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*each, marks=nightly) for each in items]


_LEVEL = 0.99
Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray]]
"""Draws arrival times, ascending, and the service time of each arrival."""


def _waits_of_one_server(arrivals: np.ndarray, services: np.ndarray) -> np.ndarray:
    """Return every wait: W(n+1) = max(0, W(n) + S(n) - A(n)), by its closed form."""
    steps = np.cumsum(services[:-1] - np.diff(arrivals))
    walk = np.concatenate([[0.0], steps])
    return walk - np.minimum.accumulate(np.minimum(walk, 0.0))


def _waits_of_servers(arrivals: np.ndarray, services: np.ndarray, servers: int) -> np.ndarray:
    free = [0.0] * servers
    waits = np.empty(len(arrivals))
    for i, (at, service) in enumerate(zip(arrivals, services, strict=True)):
        start = max(at, free[0])
        waits[i] = start - at
        heapreplace(free, start + service)
    return waits


@dataclass(frozen=True)
class Simulated:
    """Means of replications, each with its standard error: of the wait, and what is late."""

    mean: float
    error: float
    late: float
    late_error: float


def _simulated(
    draw: Draw,
    late_after: float,
    *,
    replications: int,
    servers: int = 1,
    with_service: bool = False,
    own_mean: float | None = None,
) -> Simulated:
    """Return the mean wait, and the share that is later than a time, wait or wait and service.

    Waits do not differ between kinds of items: with `own_mean` (s), those of one kind are served
    for exponential times of this mean.
    """
    generator = np.random.default_rng(20_260_731)
    means, late = [], []
    for _ in range(replications):
        arrivals, services = draw(generator)
        if servers == 1:
            waits = _waits_of_one_server(arrivals, services)
        else:
            waits = _waits_of_servers(arrivals, services, servers)
        stored = slice(len(waits) // 4, None)
        times = waits + services if with_service else waits
        if own_mean is not None:
            times = waits + generator.exponential(own_mean, len(waits))
        means.append(waits[stored].mean())
        late.append((times[stored] > late_after).mean())
    scale = np.sqrt(replications)
    return Simulated(
        float(np.mean(means)),
        float(np.std(means, ddof=1) / scale),
        float(np.mean(late)),
        float(np.std(late, ddof=1) / scale),
    )


def _poisson(rate: float, services: Callable[[np.random.Generator, int], np.ndarray]) -> Draw:
    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        arrivals = np.cumsum(generator.exponential(1 / rate, 60_000))
        return arrivals, services(generator, len(arrivals))

    return draw


def _periodic(flows: list[tuple[float, float]], periods: int = 40) -> Draw:
    """Return flows of a period and a service time each, at random phases."""

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        end = periods * max(period for period, _ in flows)
        times, sizes = [], []
        for period, service in flows:
            at = np.arange(generator.uniform(0, period), end, period)
            times.append(at)
            sizes.append(np.full(len(at), service))
        arrivals, services = np.concatenate(times), np.concatenate(sizes)
        order = np.argsort(arrivals, kind="stable")
        return arrivals[order], services[order]

    return draw


# -- the same systems as specs -----------------------------------------------------------


def _link(queueing: str, *streams: tuple[int, float, int]) -> str:
    """Return streams of flows, packets a second and bytes each, on a link of 8 kbit/s."""
    nodes = "".join(f" node n{i} = box * {flows}\n" for i, (flows, _, _) in enumerate(streams))
    ends = ", ".join(f"n{i}" for i in range(len(streams)))
    sent = "".join(
        f"stream s{i} for each n{i} {{ traffic {rate} packet/s, {size} byte/packet; at n{i} {{ }}\n"
        " over net\n at far { } }\n"
        for i, (_, rate, size) in enumerate(streams)
    )
    return (
        PRELUDE
        + f"network lan {{ rate 8 kbit/s; queueing {queueing} }}\ntopology {{\n{nodes}"
        + f" node far = box\n link net = lan between {ends}, far\n}}\n{sent}"
    )


def _reported(graph: LoadGraph, stream: str) -> tuple[float, float]:
    """Return the mean wait, and the quantile of wait and service, in s."""
    found = graph.streams[stream]
    [wait] = [part.value for part in found.latency if part.queue is not None]
    quantile = found.latency_quantile(Fraction(str(_LEVEL)))
    return graph.at(1).number(wait), graph.at(1).number(quantile)


def _agrees(expected: float, found: Simulated) -> None:
    assert abs(expected - found.mean) <= 4 * found.error, (expected, found)


def _batches(rate: float, size: int, services: Callable[..., np.ndarray]) -> Draw:
    """Return batches of a size that arrive at random, so many a second."""

    def draw(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        arrivals = np.cumsum(generator.exponential(1 / rate, 400_000 // size))
        return np.repeat(arrivals, size), services(generator, len(arrivals) * size)

    return draw


def _exactly_late(found: Simulated) -> None:
    assert abs(found.late - (1 - _LEVEL)) <= 4 * found.late_error, found


def _sent_to(copies: int, queueing: str, rate: float) -> str:
    """Return items that are sent to so many at once, on a link where a copy takes 10 ms."""
    return (
        PRELUDE
        + f"network lan {{ rate 8 kbit/s; queueing {queueing} }}\ncomponent send {{ }}\n"
        + f"topology {{ node src = box\n node rcv = box * {copies}\n"
        + " link net = lan between src, rcv }\n"
        + f"stream s0 for each src {{ traffic {rate} packet/s, 10 byte/packet; at src {{ send to all rcv }}\n"
        + " over net\n at rcv { } }\n"
    )


@pytest.mark.parametrize("rho", [*_at_night(0.2, 0.5), 0.8])
@pytest.mark.parametrize("copies", [*_at_night(2, 100), 10])
def test_copies_that_leave_together(copies: int, rho: float) -> None:
    """Batches of fixed copies: the mean is exact, the quantile a bound, close for many copies."""
    rate = rho * 100 / copies
    mean, quantile = _reported(lowered(_sent_to(copies, "md1", rate)), "s0")
    draw = _batches(rate, copies, lambda _, n: np.full(n, 0.01))
    found = _simulated(draw, quantile - 0.01 + 1e-9, replications=60)
    _agrees(mean, found)
    assert found.late <= 1 - _LEVEL + 4 * found.late_error
    if copies == 100:
        assert found.late >= (1 - _LEVEL) * 0.9 - 4 * found.late_error


@pytest.mark.parametrize("queueing", [*_at_night("mm1", "mg1 cv 0.5"), "mg1 cv 1.5"])
@pytest.mark.parametrize("copies", [3, *_at_night(30)])
def test_copies_of_varying_service(copies: int, queueing: str) -> None:
    rate = 70 / copies
    mean, quantile = _reported(lowered(_sent_to(copies, queueing, rate)), "s0")
    shape = {"mm1": 1.0, "mg1 cv 0.5": 4.0, "mg1 cv 1.5": 1 / 2.25}[queueing]
    draw = _batches(rate, copies, lambda g, n: g.gamma(shape, 0.01 / shape, n))
    found = _simulated(draw, quantile, replications=60, with_service=True)
    _agrees(mean, found)
    assert found.late <= 1 - _LEVEL + 4 * found.late_error


# 1000 byte a second: a packet of 10 byte takes 10 ms
@pytest.mark.parametrize("rho", [*_at_night(0.5), 0.8])
def test_mm1(rho: float) -> None:
    mean, quantile = _reported(lowered(_link("mm1", (10, rho * 10, 10))), "s0")
    draw = _poisson(rho * 100, lambda g, n: g.exponential(0.01, n))
    found = _simulated(draw, quantile, replications=60, with_service=True)
    _agrees(mean, found)
    _exactly_late(found)


@pytest.mark.parametrize("rho", [*_at_night(0.5), 0.8])
def test_md1(rho: float) -> None:
    mean, quantile = _reported(lowered(_link("md1", (10, rho * 10, 10))), "s0")
    draw = _poisson(rho * 100, lambda _, n: np.full(n, 0.01))
    found = _simulated(draw, quantile - 0.01, replications=60)
    _agrees(mean, found)
    _exactly_late(found)


@pytest.mark.parametrize("cv", [*_at_night(0.5), 1.5])
def test_mg1_with_gamma_service(cv: float) -> None:
    mean, quantile = _reported(lowered(_link(f"mg1 cv {cv}", (10, 7, 10))), "s0")
    shape = 1 / cv**2
    draw = _poisson(70, lambda g, n: g.gamma(shape, 0.01 / shape, n))
    found = _simulated(draw, quantile, replications=80, with_service=True)
    _agrees(mean, found)
    assert 0 < found.late <= 1 - _LEVEL + 4 * found.late_error


def test_a_mix_of_fixed_sizes() -> None:
    graph = lowered(_link("md1", (10, 3, 10), (5, 2, 40)))
    mean, quantile = _reported(graph, "s0")
    draw = _poisson(40, lambda g, n: np.where(g.random(n) < 0.75, 0.01, 0.04))
    found = _simulated(draw, quantile - 0.01, replications=60)
    _agrees(mean, found)
    assert 0 < found.late <= 1 - _LEVEL


def test_a_mix_of_exponential_sizes() -> None:
    graph = lowered(_link("mm1", (10, 3, 10), (5, 2, 40)))
    mean, quantile = _reported(graph, "s1")
    means = (0.01, 0.04)

    def services(generator: np.random.Generator, n: int) -> np.ndarray:
        return generator.exponential(np.where(generator.random(n) < 0.75, *means))

    found = _simulated(_poisson(40, services), quantile, replications=80, own_mean=means[1])
    _agrees(mean, found)
    _exactly_late(found)


@pytest.mark.parametrize(("cores", "rho"), [(2, 0.8), *_at_night((6, 0.9))])
def test_mmc(cores: int, rho: float) -> None:
    text = PRELUDE + (
        f"machine serving {{ cpu {cores} core, queueing mmc }}\ntopology {{ node web = serving }}\n"
        f"stream s0 for each web {{ traffic {rho * cores * 100} packet/s; at web {{ work }} }}\n"
    )
    mean, quantile = _reported(lowered(text), "s0")
    draw = _poisson(rho * cores * 100, lambda g, n: g.exponential(0.01, n))
    found = _simulated(draw, quantile, replications=50, servers=cores, with_service=True)
    _agrees(mean, found)
    _exactly_late(found)


@pytest.mark.parametrize(("flows", "rho"), [*_at_night((10, 0.8), (95, 0.95)), (50, 0.8)])
def test_periodic_flows(flows: int, rho: float) -> None:
    rate = rho * 100 / flows
    mean, quantile = _reported(lowered(_link("periodic", (flows, rate, 10))), "s0")
    draw = _periodic([(1 / rate, 0.01)] * flows, periods=4)
    found = _simulated(draw, quantile - 0.01, replications=3000)
    _agrees(mean, found)
    _exactly_late(found)


def _periodic_waits(
    streams: list[tuple[float, float]], own: int, replications: int
) -> list[np.ndarray]:
    """Return the waits of one flow among others of a period and a service each, by replication."""
    generator = np.random.default_rng(20_261_122)
    found = []
    for _ in range(replications):
        end = 12 * max(period for period, _ in streams)
        times = [np.arange(generator.uniform(0, period), end, period) for period, _ in streams]
        arrivals = np.concatenate(times)
        services = np.concatenate(
            [np.full(len(at), service) for at, (_, service) in zip(times, streams, strict=True)]
        )
        owners = np.repeat(np.arange(len(streams)), [len(at) for at in times])
        order = np.argsort(arrivals, kind="stable")
        waits = _waits_of_one_server(arrivals[order], services[order])
        is_stored = (owners[order] == own) & (arrivals[order] > end / 4)
        found.append(waits[is_stored])
    return found


@pytest.mark.parametrize("stream", ["s0", "s1"])
@pytest.mark.parametrize(
    "streams",
    [
        [(20, 2.0, 10), (10, 4.0, 10)],  # other periods
        [(20, 2.0, 10), (4, 2.5, 40)],  # other sizes too: few large ones
        [(30, 1.0, 5), (6, 5.0, 20)],  # the fast ones are large
        [(10, 1.0, 40), (30, 1.4, 10)],
        [(3, 2.0, 100), (20, 1.0, 10)],
        [(1, 2.0, 300), (1, 2.0, 40)],  # one of each, in step
        [(1, 1.0, 400), (40, 1.0, 10)],
    ],
)
def test_unequal_periodic_flows_wait_no_longer_than_predicted(
    streams: list[tuple[int, float, int]], stream: str
) -> None:
    mean, quantile = _reported(lowered(_link("periodic", *streams)), stream)
    random_mean, _ = _reported(lowered(_link("md1", *streams)), stream)
    flows = [(1 / rate, size / 1000) for count, rate, size in streams for _ in range(count)]
    own = 0 if stream == "s0" else len(flows) - 1
    waits = _periodic_waits(flows, own, 3000)
    means = [found.mean() for found in waits]
    late = [(found > quantile - flows[own][1] + 1e-9).mean() for found in waits]
    error, late_error = (np.std(found, ddof=1) / np.sqrt(len(found)) for found in (means, late))
    assert np.mean(means) <= mean + 4 * error
    assert mean <= random_mean * (1 + 1e-12)
    assert np.mean(late) <= 1 - _LEVEL + 4 * late_error


def test_two_queues_in_a_row_keep_the_bound() -> None:
    """A tandem of two exponential servers, Jackson's: the sum of two independent sojourns."""
    text = PRELUDE + (
        "machine serving { cpu 1 core, queueing mm1 }\n"
        "topology { node a = serving\n node b = serving\n link net = wire between a, b }\n"
        "stream s0 for each a { traffic 70 packet/s, 1 byte/packet; at a { work }\n at b { work } }\n"
    )
    graph = lowered(text)
    bound = graph.at(1).number(graph.streams["s0"].latency_quantile(Fraction(str(_LEVEL))))
    generator = np.random.default_rng(7)
    late = []
    for _ in range(40):
        arrivals = np.cumsum(generator.exponential(1 / 70, 60_000))
        first, second = generator.exponential(0.01, (2, 60_000))
        leaving = arrivals + _waits_of_one_server(arrivals, first) + first
        times = leaving - arrivals + _waits_of_one_server(leaving, second) + second
        late.append((times[15_000:] > bound).mean())
    assert 0 < np.mean(late) <= 1 - _LEVEL
