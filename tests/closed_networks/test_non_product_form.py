"""What is told of closed networks that are not in product form: errors for each quantity apart.

They are those of `python tests/oracles/unlike_services.py 400`, and of `residual_service.py 300`.
"""

from __future__ import annotations

from fractions import Fraction
from random import Random
from statistics import fmean

import pytest
from msgspec.structs import replace

from helpers.specs import lowered
from oracles import closed_alternatives
from oracles.residual_service import Network
from oracles.residual_service import played as varied
from oracles.unlike_services import Net, Station, Users, played, share_of_knee, spec_of, times_apart
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.quantities.certainty import CertaintyKind

_ONE, _FIXED = Station(1, "exponential"), Station(1, "fixed")


def _net(times: float, *stations: Station, think: float = 0.3) -> Net:
    """Return two classes, of which the second is served so many times as long at each station."""
    base = (0.02,) * len(stations)
    longer = tuple(times * one for one in base)
    return stations, (Users(base, jobs=8, think=think), Users(longer, jobs=4, think=think))


def _own_error(stream: StreamMeasures) -> float | None:
    """Return the error that the methods of a quantile state, where random networks say none."""
    unlike = replace(stream, doubts=replace(stream.doubts, is_like_drawn=False))
    return unlike.quantile_certainty(Fraction(9, 10)).error


def _graph(net: Net) -> LoadGraph:
    return lowered(spec_of(net))


@pytest.mark.parametrize(
    ("times", "station", "think", "of_rates", "of_times"),
    [
        (1, _FIXED, 0.1, 0.15, 0.6),  # where less is waited, random networks were nearer
        (1.3, _ONE, 0.3, 0.2, 0.3),
        (1.3, _FIXED, 0.3, 0.2, 0.6),
        (1.9, _ONE, 0.3, 0.5, 0.6),
        (1.9, _FIXED, 0.3, 0.5, 0.6),
        (2.5, _ONE, 0.3, 0.8, 1.0),  # 1.1: 19 in 20 are within a factor of two
        # No error tells anything of what is further apart, but where hardly anybody waits.
        (8, _ONE, 0.3, None, None),  # 8 / 17 + 4 / 3.9 of the users that stations serve
        (8, _ONE, 0.9, 0.4, 0.8),
        (8, _FIXED, 0.9, 0.4, 0.8),
    ],
)
def test_rates_and_times_have_errors_of_their_own(
    times: float,
    station: Station,
    think: float,
    of_rates: float | None,
    of_times: float | None,
) -> None:
    graph = _graph(_net(times, station, station, think=think))
    for name in ("s0", "s1"):
        stream = graph.streams[name]
        assert stream.arriving_known.error == of_rates
        assert stream.latency_certainty.error == of_times
    for name in ("n0.cpu", "n1.cpu"):  # a load is the rate times the service (Denning and Buzen)
        assert graph.resources[name].known.error == of_rates


@pytest.mark.parametrize("station", [_ONE, _FIXED, Station(2, "uneven")])
def test_very_unlike_services_are_within_their_errors_up_to_the_knee(station: Station) -> None:
    net = _net(8, station, think=0.9)
    assert 0.7 < share_of_knee(net) * station.servers < 1
    graph = _graph(net)
    for name, (rate, times) in zip(("s0", "s1"), played(net, Random(1), 40_000), strict=True):
        stream, at = graph.streams[name], graph.at(1)
        of_rate, of_times = stream.arriving_known.error, stream.latency_certainty.error
        assert of_rate is not None
        assert of_times is not None
        assert of_rate <= 0.4
        assert of_times <= 0.8
        assert at.number(stream.rate) == pytest.approx(rate, rel=of_rate)
        assert at.number(stream.mean_latency) == pytest.approx(fmean(times), rel=of_times)


def test_open_traffic_takes_of_what_users_find_before_the_knee() -> None:
    """Twice as many users or more ask for a station that is half as free."""
    stations, users = _net(8, _ONE, think=0.9)
    assert share_of_knee((stations, users)) < 0.8
    for rate, error in ((1.0, 0.4), (20.0, None)):
        graph = _graph((stations, (*users, Users((0.02,), rate=rate))))
        assert graph.streams["s0"].arriving_known.error == error
        assert graph.resources["n0.cpu"].known.error == error


VARIED = """
users N in 1..2
machine box {{ cpu 1 core, queueing mg1 cv {cv} }}
component work {{ cpu 1 s/request }}
topology {{ node host = box }}
stream job in all {{ traffic 8 request, think 8 s; at host {{ work }} }}
"""


@pytest.mark.parametrize(
    ("cv", "of_rates", "of_times", "of_quantiles"),
    [
        ("0.5", 0.15, 0.6, 0.45),
        ("1.5", 0.15, 0.2, 0.4),
        ("sqrt(4)", 0.15, 0.2, 0.4),
        ("4", 0.15, 0.2, 0.4),
        ("4.1", None, None, None),
    ],
)
def test_errors_grow_with_the_variation_of_service(
    cv: str, of_rates: float | None, of_times: float | None, of_quantiles: float | None
) -> None:
    """What was measured up to a coefficient of variation of 2 was said of any other, too."""
    job = lowered(VARIED.format(cv=cv)).streams["job"]
    assert (job.rate_known.error, job.latency_certainty.error) == (of_rates, of_times)
    assert _own_error(job) == of_quantiles


@pytest.mark.parametrize("cv", [2.0, 3.0, 4.0])
def test_service_that_varies_more_is_within_the_errors(cv: float) -> None:
    graph = lowered(VARIED.format(cv=cv))
    job, at = graph.streams["job"], graph.at(1)
    truth = varied(Network(8, 8.0, ((1.0, cv),), 1.0), Random(1))
    values = (job.rate, job.rate_known), (job.mean_latency, job.latency_certainty)
    for (value, known), true in zip(values, truth, strict=True):
        assert known.error is not None
        assert at.number(value) == pytest.approx(true, rel=known.error)


@pytest.mark.parametrize("apart", [1, 1.3, 2, 3])
@pytest.mark.parametrize("station", [_ONE, _FIXED, Station(2, "uneven")])
def test_what_is_played_is_within_the_errors(apart: float, station: Station) -> None:
    net = _net(apart, station, _ONE)
    graph = _graph(net)
    assert times_apart(net) == pytest.approx(apart)
    for name, (rate, times) in zip(("s0", "s1"), played(net, Random(1), 40_000), strict=True):
        stream, at = graph.streams[name], graph.at(1)
        for value, known, truth in (
            (stream.rate, stream.rate_known, rate),
            (stream.mean_latency, stream.latency_certainty, fmean(times)),
        ):
            error = known.error if known.kind is CertaintyKind.APPROXIMATION else 0.0
            if error is None:
                assert apart == 3
                continue
            assert at.number(value) == pytest.approx(truth, rel=error + 0.05)


@pytest.mark.parametrize(
    ("times", "is_mixed", "error"),
    [(1, False, 0.45), (2.5, False, 0.45), (8, False, None), (2.5, True, 0.55), (8, True, 0.7)],
)
def test_quantiles_have_an_error_of_their_own(
    times: float, error: float | None, *, is_mixed: bool
) -> None:
    """It is no product of what was measured of means: all of it was there when it was played."""
    stations, (first, second) = _net(times, Station(2, "uneven"), _FIXED)
    others = (Users(first.services, rate=3.0),) if is_mixed else ()
    stream = _graph((stations, (first, second, *others))).streams["s0"]
    known = stream.quantile_certainty(Fraction(9, 10))
    assert any("assumed to be gamma distributed" in why for why in known.reasons)
    assert _own_error(stream) == pytest.approx(error)


ALTERNATIVES = """
users N in 1..2
machine web { cpu 4 core, queueing mmc }
machine store { cpu 2 core, queueing mmc }
machine other { cpu 1 core, queueing mm1 }
network lan { propagation 0 s }
component page { cpu 20 ms/request }
component query { cpu 60 ms/request }
component scan { cpu 300 ms/request }
component find { cpu 25 ms/request }
topology { node w = web; node db = store; node o = other; link l = lan between w, db, o }
stream browse in all {
  traffic 40 request, 1 bit/request, think 2 s
  at w {
    page
    one of { 60 %: call db { query }; 5 %: call db { scan }; else: call o { find } }
  }
}
"""


def test_long_services_are_waited_for_by_users_who_have_short_ones() -> None:
    """Simulated apart, to 0.5 %: as if waits were those of mean services, p99 was 549 ms."""
    stream = (graph := lowered(ALTERNATIVES)).streams["browse"]
    simulated = {Fraction(1, 2): 0.0643, Fraction(95, 100): 0.306, Fraction(99, 100): 0.640}
    for level, expected in simulated.items():
        known = stream.quantile_certainty(level)
        assert "residual-service" in known.methods
        assert known.error == 0.4
        found = graph.at(1).number(stream.latency_quantile(level))
        assert found == pytest.approx(expected, rel=0.03)
    assert stream.latency_certainty.error == 0.2
    assert graph.at(1).number(stream.mean_latency) == pytest.approx(0.1006, rel=0.01)


@pytest.mark.parametrize("seed", [1, 12, 15, 26, 46])
def test_users_whose_requests_are_short_or_long_are_within_the_errors(seed: int) -> None:
    """In product form p95 of 41 networks was off by up to 88 %, and the mean by 67 %."""
    net = closed_alternatives.network(Random(seed))
    rate, times = closed_alternatives.played(net, Random(seed), 25_000)
    stream, at = (graph := lowered(closed_alternatives.spec_of(net))).streams["s"], graph.at(1)
    assert at.number(stream.rate) == pytest.approx(rate, rel=0.07)
    assert at.number(stream.mean_latency) == pytest.approx(fmean(times), rel=0.22)
    for level in (Fraction(19, 20), Fraction(99, 100)):
        expected = times[int(level * len(times))]
        assert at.number(stream.latency_quantile(level)) == pytest.approx(expected, rel=0.3)


@pytest.mark.parametrize("seed", [0, 1, 19, 23, 303])
def test_medians_of_users_who_come_at_most_once_in_a_long_service_are_near(seed: int) -> None:
    """As if users came at random in it, medians of these were up to 118 % too long."""
    net = closed_alternatives.network(Random(seed))
    _, times = closed_alternatives.played(net, Random(seed))
    stream, at = (graph := lowered(closed_alternatives.spec_of(net))).streams["s"], graph.at(1)
    median = at.number(stream.latency_quantile(Fraction(1, 2)))
    assert median == pytest.approx(times[len(times) // 2], rel=0.36)


def test_one_user_waits_for_nobody_however_unlike_services_are() -> None:
    graph = lowered(ALTERNATIVES.replace("traffic 40 request", "traffic 1 request"))
    stream, at = graph.streams["browse"], graph.at(1)
    assert at.number(stream.mean_latency) == pytest.approx(
        0.02 + 0.6 * 0.06 + 0.05 * 0.3 + 0.35 * 0.025
    )
