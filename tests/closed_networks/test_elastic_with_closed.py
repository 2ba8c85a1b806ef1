"""Elastic parameters beside users who wait for their answer: they take what these leave."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.operations import OPERATIONS
from qps.engine.queueing_networks.product_form import closed_rate, mixed_room
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import ElasticSolution

FIRST = "\n  priority 1"
LIMIT = "require { server.cpu.load <= 80 % }"


def _spec(
    *,
    at_server: str = "queueing mm1",
    more: str = LIMIT,
    video: str = "",
    job: str = "",
    steps: str = "at server { work }; at store { find }",
) -> str:
    """Return users of two stations, and a stream of a rate that takes what they leave."""
    return f"""
users N in 1..100
param pace elastic 1..60 frame/s
machine box {{ }}
machine one {{ cpu 1 core, {at_server or "queueing none"} }}
machine two {{ cpu 1 core, queueing ps }}
network wire {{ propagation 0 s }}
component work {{ cpu 20 ms/request }}
component find {{ cpu 30 ms/request }}
component show {{ cpu 20 ms/frame }}
topology {{
  node client = box * N; node camera = box; node server = one; node store = two
  link lan = wire between all
}}
stream job for each client {{
  traffic 1 request, 1 kB/request, think 2 s{job}
  at client {{ }}
  {steps.replace("; ", chr(10))}
}}
stream video in all {{
  traffic pace, 1 kB/frame{video}
  at camera {{ }}
  at server {{ show }}
}}
measure twice = 2 * pace
{more}
"""


def _mean_values(jobs: int, open_load: F, store: F = F(30, 1000)) -> F:
    """Return the rate of the users, by mean value analysis with fractions."""
    stations, held, rate = (F(20, 1000) / (1 - open_load), store), [F(0), F(0)], F(0)
    for n in range(1, jobs + 1):
        times = [options * (1 + number) for options, number in zip(stations, held, strict=True)]
        rate = n / (2 + sum(times, F(0)))
        held = [rate * time for time in times]
    return rate


def _elastic(graph: LoadGraph) -> ElasticSolution:
    (elastic,) = solve(graph).elastic
    return elastic


# -- what it comes to ----------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 10, 20, 40, 60])
def test_a_station_of_users_is_filled_to_its_limit(jobs: int) -> None:
    """Beside users whom it makes slower: what both ask for is the limit, at one rate."""
    graph = lowered(_spec())
    there = graph.at(jobs)
    pace = there.number(graph.elastic[0].value)
    rate = there.number(graph.closed["job"].throughput)
    assert rate == pytest.approx(float(_mean_values(jobs, F(pace) / 50)))
    load = there.number(graph.resources["server.cpu"].load)
    assert load == pytest.approx(pace / 50 + rate / 50)
    left = [
        n for n in (pace - 1e-6, pace + 1e-6) if n / 50 + _mean_values(jobs, F(n) / 50) / 50 < 0.8
    ]
    assert left == ([pace - 1e-6] if 1 < pace < 60 else left)
    assert (load == pytest.approx(0.8)) or pace == 1


def test_its_knees_are_reported_and_their_loads_are_those_of_mean_values() -> None:
    text = _elastic(lowered(_spec().replace("30 ms", "10 ms")))
    assert text.yields is not None
    assert text.exhausted is not None
    assert (text.yields.resource, text.exhausted.resource) == ("server.cpu", "server.cpu")
    least = F(1) / 50
    around = [int(text.exhausted.at), int(text.exhausted.at) + 1]
    loads = [least + _mean_values(n, least, F(10, 1000)) / 50 for n in around]
    assert loads[0] <= F(4, 5) <= loads[1]


def test_users_who_go_first_see_nothing_of_it() -> None:
    graph = lowered(
        _spec(
            at_server="queueing priority preemptive", job="\n  priority 1", video="\n  priority 2"
        )
    )
    there = graph.at(40)
    assert there.number(graph.closed["job"].throughput) == pytest.approx(
        float(_mean_values(40, F(0)))
    )
    pace = there.number(graph.elastic[0].value)
    assert pace / 50 + float(_mean_values(40, F(0))) / 50 == pytest.approx(0.8)


@pytest.mark.parametrize(("jobs", "limit"), [(10, 1), (60, 1), (90, 1), (60, F(4, 5))])
def test_where_nobody_queues_users_ask_as_if_alone(jobs: int, limit: F) -> None:
    """Their rate is that of the other stations: 20 ms, 2 s and the queue at the store."""
    held, rate = F(0), F(0)
    for n in range(1, jobs + 1):
        time = F(30, 1000) * (1 + held)
        rate = n / (2 + F(20, 1000) + time)
        held = rate * time
    graph = lowered(_spec(at_server="", more=LIMIT if limit < 1 else ""))
    there = graph.at(jobs)
    left = max(F(1), min(F(60), limit * 50 - rate))
    assert there.number(graph.elastic[0].value) == pytest.approx(float(left))
    assert there.number(graph.closed["job"].throughput) == pytest.approx(float(rate))
    load = there.number(graph.resources["server.cpu"].load)
    assert load == pytest.approx(float(left + rate) / 50)
    assert load <= float(limit)


def test_beyond_its_least_users_are_held_back_where_nobody_queues() -> None:
    text = _spec(at_server="", more="").replace("20 ms/request", "60 ms/request")
    there = (graph := lowered(text)).at(100)
    assert there.number(graph.elastic[0].value) == 1
    assert there.number(graph.resources["server.cpu"].load) == 1
    assert there.number(graph.closed["job"].throughput) == pytest.approx(0.98 / 0.06)


def test_several_take_of_one_station_one_after_the_other() -> None:
    text = _spec().replace(
        "param pace elastic 1..60 frame/s",
        "param pace elastic 1..8 frame/s priority 1\nparam other elastic 2..60 frame/s priority 2",
    )
    text += """stream more in all {
  traffic other, 1 kB/frame
  at camera { }
  at server { show }
}
"""
    graph = lowered(text)
    there = graph.at(40)
    first, second = (there.number(one.value) for one in graph.elastic)
    alone = lowered(_spec())
    whole = alone.at(40).number(alone.elastic[0].value)
    assert first == 8
    assert second == pytest.approx(whole - 8)


# -- how it is known -----------------------------------------------------------------------


def _known(graph: LoadGraph) -> dict[str, CertaintyKind]:
    return {
        "pace": graph.elastic[0].known.kind,
        "load": graph.resources["server.cpu"].known.kind,
        "rate": graph.streams["video"].rate_known.kind,
        "latency": graph.streams["video"].latency_certainty.kind,
        "twice": graph.measures["twice"].known.kind,
        "less": graph.measures["less"].known.kind,
        "quality": graph.analysis.criteria.quality_known.kind,
        "job": graph.streams["job"].rate_known.kind,
    }


LESS = f"""measure less = 1 frame / (1 frame + pace * 1 s)
{LIMIT}
require {{ job.latency <= 1 s; video.rate >= 1 frame/s ideal 60 frame/s }}
"""


def test_all_that_rests_on_it_is_known_as_well_as_what_users_ask_for() -> None:
    exact = _known(lowered(_spec(at_server="queueing ps", more=LESS)))
    assert set(exact.values()) == {CertaintyKind.EXACT}
    near = _known(lowered(_spec(at_server="queueing md1", more=LESS)))
    assert set(near.values()) == {CertaintyKind.APPROXIMATION}
    bounded = _known(lowered(_spec(at_server="", more=LESS)))
    assert bounded == {
        "pace": CertaintyKind.LOWER_BOUND,
        "load": CertaintyKind.APPROXIMATION,
        "rate": CertaintyKind.LOWER_BOUND,
        "latency": CertaintyKind.LOWER_BOUND,
        "twice": CertaintyKind.LOWER_BOUND,
        "less": CertaintyKind.UPPER_BOUND,
        "quality": CertaintyKind.APPROXIMATION,
        "job": CertaintyKind.UPPER_BOUND,
    }


def test_where_it_goes_first_what_users_leave_is_an_approximation() -> None:
    graph = lowered(
        _spec(at_server="queueing priority preemptive", job="\n  priority 2", video=FIRST)
    )
    assert graph.at(40).number(graph.resources["server.cpu"].load) == pytest.approx(0.8)
    assert graph.elastic[0].known.kind is CertaintyKind.APPROXIMATION


def test_what_is_left_is_off_by_more_than_what_is_taken() -> None:
    graph = lowered(_spec(at_server="queueing md1"))
    assert graph.elastic[0].known.error is None
    assert graph.streams["video"].rate_known.error is None


# -- what is not told ----------------------------------------------------------------------

LAST = """stream copies in all {
  traffic 1 frame/s, 1 kB/frame
  at camera { }
  at server { show }
}
"""
OTHERS = """stream query for each client {
  traffic 1 request, 1 kB/request, think 9 s
  at client { }
  at server { work }
}
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_spec(more=LIMIT + "\n" + OTHERS), "they share a resource with closed stream `query`"),
        (_spec(at_server="queueing ps speeds [1, 1.5]"), "load-dependent speeds"),
        (
            _spec().replace("20 ms/request", "1 ms * pace * 1 s/frame / 1 request"),
            "the demand of `job` on server.cpu depends on it",
        ),
        (
            _spec(more=LIMIT + "\nrequire { store.cpu.load <= 80 % }").replace(
                "at server { show }", "at server { show }\n  at store { show }"
            ),
            "it slows them at server.cpu and at store.cpu",
        ),
        (
            _spec(
                at_server="queueing priority preemptive",
                job="\n  priority 2",
                video=FIRST,
                more=LIMIT + "\n" + LAST,
            ),
            "or has priority over them",
        ),
    ],
)
def test_what_is_unknown_is_refused_by_name(text: str, why: str) -> None:
    with pytest.raises(QpsError, match=why):
        lowered(text)


# -- the operation -------------------------------------------------------------------------

NUMBERS = st.tuples(
    st.sampled_from([0.0, 0.1, 0.5, 2.0]),
    st.integers(1, 4),
    st.sampled_from([0.0, 0.1, 0.6]),
    st.sampled_from([1, 2, 2.5]),
)


@settings(max_examples=examples(40), deadline=None)
@given(
    limit=st.sampled_from([0.3, 0.8, 0.95, 1.0]),
    jobs=st.integers(0, 30),
    think=st.sampled_from([0.0, 0.5, 5.0]),
    stations=st.lists(NUMBERS, min_size=1, max_size=3),
    more=st.sampled_from([0.125, 0.5, 2]),
)
def test_the_room_fills_a_station_and_moves_as_the_table_says(
    limit: float,
    jobs: int,
    think: float,
    stations: list[tuple[float, int, float, float]],
    more: float,
) -> None:
    values = [number for one in stations for number in one]
    at = [limit, jobs, think, *values]
    room = mixed_room(*at)
    options, servers, load, copies = stations[0]
    there = (options, servers, load + room, copies)
    rate = closed_rate(jobs, think, *there, *values[4:])
    whole = (
        (load + room + rate * options / copies) / servers if options else (load + room) / servers
    )
    assert whole == pytest.approx(min(limit, 1)) if room else whole >= limit - 1e-12
    for place, move in enumerate(OPERATIONS["mixed_room"].moves(*at)):
        larger = [*at[:place], at[place] + more, *at[place + 1 :]]
        assert (mixed_room(*larger) - room) * move >= -1e-9
