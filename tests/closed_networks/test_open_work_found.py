"""Users beside open traffic at a server of first come, first served: what each finds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from statistics import fmean

import pytest

from helpers.specs import lowered
from oracles.unlike_services import Net, Station, Users, played, spec_of
from qps.compiler.lower.closed_streams.open_work_found import OpenTraffic, work_found
from qps.engine.expressions.formulas import ONE, number
from qps.engine.expressions.point_values import EvaluationPoint

_EXPONENTIAL = (Station(1, "exponential"),)


def _net(jobs: int, service: float, think: float, load: float, open_service: float) -> Net:
    others = Users((open_service,), rate=load / open_service)
    return _EXPONENTIAL, (Users((service,), jobs=jobs, think=think), others)


@pytest.mark.parametrize(
    ("net", "most"),
    [
        (_net(1, 1.0, 10.0, 0.6, 0.02), 0.08),
        (_net(3, 1.0, 5.0, 0.5, 0.05), 0.12),
        (_net(2, 0.02, 2.0, 0.5, 0.3), 0.12),
    ],
)
def test_times_are_those_of_a_simulation(net: Net, most: float) -> None:
    """In product form they were off by half to ten times."""
    graph = lowered(spec_of(net))
    there = graph.at(1)
    for at, (rate, times) in enumerate(played(net, Random(7), 200_000)):
        stream = graph.streams[f"s{at}"]
        assert there.number(stream.mean_latency) == pytest.approx(fmean(times), rel=most)
        assert there.number(stream.rate) == pytest.approx(rate, rel=most)
        late = times[int(0.9 * len(times))]
        assert there.number(stream.latency_quantile(Fraction(9, 10))) == pytest.approx(
            late, rel=0.3
        )


def test_one_finds_product_form_where_all_are_alike() -> None:
    """However long one was away: S/(1 - rho) in all, exponential (Baskett et al. 1975)."""
    load, service = Fraction(3, 5), Fraction(2)
    opened = OpenTraffic(load=number(load), residual=number(service), variation=ONE)
    for away in (Fraction(1, 10**6), Fraction(1, 2), Fraction(3), Fraction(500)):
        found = work_found(opened, number(service), number(away))
        value = EvaluationPoint({}).number(found)
        assert value == pytest.approx(float(load * service / (1 - load)), rel=1e-6)


def test_a_scan_among_short_commands() -> None:
    """Scans take 1.18 s and commands 0.357 s (simulated); in product form 3.33 and 0.84 s."""
    text = (Path(__file__).parent.parent / "networks/r1f_mixed.qps").read_text()
    graph = lowered(text)
    there = graph.at(350)
    assert there.number(graph.streams["scans"].mean_latency) == pytest.approx(1.18, rel=0.02)
    assert there.number(graph.streams["commands"].mean_latency) == pytest.approx(0.357, rel=0.02)
    assert graph.streams["commands"].latency_certainty.error is not None
