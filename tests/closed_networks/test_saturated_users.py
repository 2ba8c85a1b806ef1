"""Users who are held up where no queueing is stated: what those see who share stations with them.

Latencies are those of `tests/oracles/saturated_users.py`, which shares nothing with QPS.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import lowered
from oracles.saturated_users import SPEC, Users
from qps.compiler.quantities.measured_errors import ErrorQuantity
from qps.solver.search.bounds import BoundedFunction

_HELD = "take threads; {}; give threads"
_FAR, _NEAR = "work(20 ms/request); call b {{ work({} s/request) }}", "work(20 ms/request)"


def _text(think: float, limit: float, places: int) -> str:
    steps = [_FAR.format(limit), _NEAR]
    return SPEC.format(
        cores=1,
        pool=f"; threads {places} thread" if places else "",
        thinks=[think, 2 * think],
        steps=[_HELD.format(one) if places else one for one in steps],
    )


# Users, thinking time in s, work at the full resource in s, places of the pool (0: none);
# simulated mean latencies in s of those who ask for it, and of the others.
SIMULATED = {
    (60, 2.5, 0.04, 0): (0.1002, 0.0615),
    (100, 2.5, 0.04, 0): (1.481, 0.1531),
    (40, 2.5, 0.1, 0): (1.501, 0.031),
    (60, 2.5, 0.1, 20): (3.506, 1.588),
    (60, 2.5, 0.1, 8): (3.502, 2.783),
    (100, 4.0, 0.04, 30): (0.1118, 0.07215),
}


@pytest.mark.parametrize("case", SIMULATED)
def test_those_who_are_held_up_do_not_slow_others(case: tuple[int, float, float, int]) -> None:
    """Unless they keep the places of a pool that others need, too."""
    users, think, limit, places = case
    graph = lowered(_text(think, limit, places))
    there = graph.at(users)
    latencies = SIMULATED[case]
    for name, latency in zip(("one", "two"), latencies, strict=True):
        stream = graph.streams[name]
        assert there.number(stream.mean_latency) == pytest.approx(latency, rel=0.06)
        error = stream.latency_certainty.error
        assert error is not None
        assert 0.1 <= error <= 0.3
    load = float(there.number(graph.resources["b.cpu"].load))
    assert load == pytest.approx(min(1, users * limit / (think + latencies[0])), rel=0.01)


@pytest.mark.parametrize("places", [0, 8])
def test_waits_leave_bounds_at_a_point_narrow(places: int) -> None:
    """They come from other networks, and hardly move there: so do the rates that rest on them."""
    graph = lowered(_text(2.5, 0.1, places))
    for stream in graph.streams.values():
        curve = BoundedFunction(graph.valued(stream.mean_latency), graph.population)
        bounds, value = curve.at(60.0), float(graph.at(60).number(stream.mean_latency))
        assert bounds.low <= value <= bounds.high
        assert bounds.high - bounds.low <= 1e-4 * value


def simulated(users: int, think: float, limit: float, places: int) -> list[float]:
    """Return the mean latencies of both streams (how those above were found)."""
    work, ask = ("work", "a", 0.02), ("limit", "b", limit)
    ways = [[work, ask], [work]]
    if places:
        ways = [[("take", "t", 0.0), *way, ("give", "t", 0.0)] for way in ways]
    classes = [(users, think, ways[0]), (users, 2 * think, ways[1])]
    return Users(classes, {"a": 1, "t": places}, 1).run(
        60_000 * think / users, 6_000 * think / users
    )


@pytest.mark.parametrize(
    ("users", "cores", "work", "limit"), [(20, 2, 0.18, 0.336), (10, 1, 0.15, 0.66)]
)
def test_percentiles_of_users_of_one_kind_who_are_held_up(
    users: int, cores: int, work: float, limit: float
) -> None:
    """They stated 10 or 20 % where p95 was 40 % too short, as the delay counts with its mean."""
    text = SPEC.format(
        cores=cores,
        pool="",
        thinks=[5, 5],
        steps=[
            f"work({work} s/request); call b {{ work({limit} s/request) }}",
            "work(1 us/request)",
        ],
    )
    only = text[: text.index("stream two")] + "require { one.latency <= 1000 s }\n"
    graph = lowered(only)
    stream, there = graph.streams["one"], graph.at(users)
    network = Users([(users, 5.0, [("work", "a", work), ("limit", "b", limit)])], {"a": cores}, 1)
    network.run(40_000.0, 2_000.0)
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(99, 100)):
        (expected,) = network.percentiles(float(level))
        known = stream.quantile_certainty(level)
        assert "blocking-time" in known.methods
        assert known.error is not None
        assert abs(there.number(stream.latency_quantile(level)) / expected - 1) <= known.error
    assert stream.share_certainty(ErrorQuantity.SHARE_BEYOND).error is None
