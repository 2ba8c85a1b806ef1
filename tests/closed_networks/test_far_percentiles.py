"""Far percentiles of cycles of closed networks: they keep their digits, and to their moments."""

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from helpers.specs import lowered
from qps.engine.queueing_networks import cycle_time_quantiles
from qps.engine.queueing_networks.cycle_time_moments import moments, of_moments
from qps.engine.queueing_networks.cycle_time_transform import law_of
from qps.engine.queueing_networks.visited_copies import place_of

_FAR = (0.99, 0.999, 0.9999, 0.99999)


@pytest.mark.parametrize("service", [1.7, 2.0383, 3.0, 4.0])
@pytest.mark.parametrize("often", [0.3, 1.0])
@pytest.mark.parametrize("load", [0.0, 2.0])
def test_far_percentiles_do_not_rest_on_the_last_digits_of_a_network(
    service: float, often: float, load: float
) -> None:
    """At p99.9 they moved by 3e-9 of themselves, at p99.99 by 5e-8: the bounds of balls crossed."""
    operands = (0.09, 2, 0.02, 1, 1, 0, service * often, 32, load, 1, often, 0)
    for level in _FAR:
        each = [
            cycle_time_quantiles.closed_quantile(level, 30, 0.67 * (1 + k * 1e-14), *operands)
            for k in range(-4, 5)
        ]
        assert max(each) - min(each) < 1e-9 * each[0], level


@pytest.mark.parametrize(
    "stations",
    [
        [(0.05, 4, 0.5, 1, 1.0), (0.01, 1, 0.0, 1, 0.001)],
        [(0.001, 1, 0.0, 1, 1e-5), (0.3, 1, 0.0, 1, 0.5)],
        [(0.3, 1, 0.95, 1, 3.0)],
        [(1.0, 8, 3.0, 1, 1.0)],
    ],
)
def test_percentiles_rise_and_keep_to_what_mean_and_variance_allow(
    stations: list[tuple[float, int, float, int, float]],
) -> None:
    """Cantelli's bounds. Where a long service is seldom, a search began at zero and failed."""
    places = tuple(place_of(one[:4], (one[4], False), 1) for one in stations)
    mean, deviation, _ = moments(29, 0.67, places)
    before = 0.0
    for level in (0.5, *_FAR, 0.999999):
        operands = [number for one in stations for number in (*one, 0)]
        time = cycle_time_quantiles.closed_quantile(level, 30, 0.67, *operands)
        most = mean + deviation * (level / (1 - level)) ** 0.5
        least = mean - deviation * ((1 - level) / level) ** 0.5
        assert max(before, least * 0.98) <= time <= most * 1.02
        before = time


def test_where_the_series_has_no_root_moments_determine_the_law(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    places = (place_of((1.0, 1, 0.0, 1), (1.0, False), 1),)
    law = law_of(4, 10.0, places)
    assert law is not None
    monkeypatch.setattr(type(law), "_weight", lambda *_: 1 + 0j)
    assert law.quantile(0.99) is None
    found = cycle_time_quantiles._quantile.__wrapped__(0.99, 4, 10.0, places)
    assert found == of_moments(0.99, *moments(4, 10.0, places))


_SELDOM_LONG = """
unit thread
users N in 1..2
machine ma {{ cpu 1 core, queueing none }}
machine mb {{ cpu 2 core, queueing mmc }}
machine mc {{ cpu 32 core, queueing mmc }}
network wire {{ propagation 1 us }}
component ca {{ cpu 0.17 s/request }}
component cb {{ cpu 0.0895 s/request }}
component cc {{ cpu {service} s/request }}
component co {{ cpu 1 s/request }}
topology {{ node a = ma * 5; node b = mb; node c = mc; link lan = wire between a, b, c }}
stream o in all {{ traffic 0.7 request/s; at b {{ call c over lan {{ co }} }} }}
stream s in all {{
  traffic 30 request, think 0.5 s
  at a {{ ca }}; over lan; at b {{ cb; call c over lan * 30 % {{ cc }} }}
}}
"""


@pytest.mark.parametrize("service", ["1.7", "2.3", "4"])
def test_far_percentiles_of_a_spec_are_no_bound_of_markov(service: str) -> None:
    """p99.9 and more were a hundred times as long: the mean over what is left of all cycles."""
    graph = lowered(_SELDOM_LONG.format(service=service))
    stream, point = graph.streams["s"], graph.at(graph.low)
    near, *far = (point.number(stream.latency_quantile(Fraction(str(one)))) for one in _FAR)
    # Nearly all that is late is one exponential service, of three cycles in ten.
    for time, level in zip(far, _FAR[1:], strict=True):
        assert time - near == pytest.approx(float(service) * log(0.01 / (1 - level)), rel=1e-2)
