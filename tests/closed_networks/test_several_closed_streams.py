"""Several closed streams, closed streams with open traffic, and one customer alone."""

from __future__ import annotations

from fractions import Fraction

import pytest

from helpers.specs import lowered
from qps.solver.answers.closed_answers import closed_solutions

F = Fraction


# -- several classes -------------------------------------------------------------------------

TWO = """
users N in 1..40
machine box {{ cpu 1 core, queueing {queueing} }}
network wire {{ propagation 0 s }}
component a_one {{ cpu 20 ms/request }}
component a_two {{ cpu 80 ms/request }}
component b_one {{ cpu 70 ms/request }}
component b_two {{ cpu 30 ms/request }}
machine pc {{ }}
topology {{
  node one = box; node two = box; node ua = pc * N; node ub = pc * 3
  link w = wire between one, two, ua, ub
}}
stream a for each ua {{ traffic 1 request, think 1 s; at ua {{ }}; at one {{ a_one }}; at two {{ a_two }} }}
stream b for each ub {{ traffic 1 request, think 2 s; at ub {{ }}; at one {{ b_one }}; at two {{ b_two }} }}
"""  # noqa: E501 - a statement a line


def of_classes(
    jobs: tuple[int, int],
    think: tuple[Fraction, Fraction],
    demands: list[tuple[Fraction, Fraction]],
) -> list[Fraction]:
    """Return the rates of two classes at single servers, by exact mean value analysis."""
    queues: dict[tuple[int, int], list[Fraction]] = {(0, 0): [F(0)] * len(demands)}
    rates = [F(0), F(0)]
    for first in range(jobs[0] + 1):
        for second in range(jobs[1] + 1):
            here, rates = (first, second), [F(0), F(0)]
            times: list[list[Fraction]] = [[], []]
            for k in (0, 1):
                if here[k] == 0:
                    continue
                fewer = (first - 1, second) if k == 0 else (first, second - 1)
                times[k] = [
                    demand[k] * (1 + found)
                    for demand, found in zip(demands, queues[fewer], strict=True)
                ]
                rates[k] = here[k] / (think[k] + sum(times[k], F(0)))
            queues[here] = [
                sum((rates[k] * times[k][place] for k in (0, 1) if here[k]), F(0))
                for place in range(len(demands))
            ]
    return rates


@pytest.mark.parametrize("jobs", [1, 7, 30])
def test_two_closed_streams_are_classes_of_one_network(jobs: int) -> None:
    graph = lowered(TWO.format(queueing="ps"))
    demands = [(F(20, 1000), F(70, 1000)), (F(80, 1000), F(30, 1000))]
    rates = of_classes((jobs, 3), (F(1), F(2)), demands)
    there = graph.at(jobs)
    for name, rate, many, think in zip("ab", rates, (jobs, 3), (1, 2), strict=True):
        assert there.number(graph.closed[name].throughput) == pytest.approx(float(rate))
        response = there.number(graph.streams[name].mean_latency)
        assert response == pytest.approx(many / float(rate) - think)
        assert graph.streams[name].latency_certainty.is_exact


def test_what_several_closed_streams_share_without_a_queue_serves_no_more_than_it_can() -> None:
    graph = lowered(TWO.format(queueing="none"))
    alone, there = graph.at(3), graph.at(40)
    assert alone.number(graph.closed["a"].throughput) == pytest.approx(3 / 1.1)
    loads = [there.number(graph.resources[name].load) for name in ("one.cpu", "two.cpu")]
    assert max(loads) == pytest.approx(1)
    reasons = graph.streams["a"].latency_certainty.reasons
    print(reasons)
    assert any("`two.cpu` is saturated, each visit is assumed to wait" in one for one in reasons)


def test_one_alone_meets_those_of_another_stream() -> None:
    graph = lowered(TWO.format(queueing="ps").replace("pc * 3", "pc"))
    demands = [(F(20, 1000), F(70, 1000)), (F(80, 1000), F(30, 1000))]
    rates = of_classes((5, 1), (F(1), F(2)), demands)
    assert graph.at(5).number(graph.closed["b"].throughput) == pytest.approx(float(rates[1]))


def test_two_who_choose_a_machine_each_time_may_meet_there() -> None:
    """Of two machines that nobody owns: told as if each of the two users had one of them."""
    graph = lowered(
        "users N in 1..2\nmachine pc { cpu 1 core, queueing mm1 }\n"
        "component work { cpu 0.2 s/request }\ntopology { node a = pc * 2 }\n"
        "stream job in all { traffic 2 request, 1 bit/request, think 0.1 s; at a { work } }\n"
    )
    assert graph.at(1).number(graph.streams["job"].mean_latency) == pytest.approx(
        0.2 * (1 + 0.2 / (2 * 0.3))
    )


BESIDE = """
users N in 1..450
machine store {{ cpu 1 core, queueing {queueing} }}
component get {{ cpu {get}/request }}
component scan {{ cpu {scan}/request }}
topology {{ node redis = store }}
stream commands for each user {{ traffic 1 request/s; at redis {{ get }} }}
stream scans in all {{ traffic 1 request, think 10 s; at redis {{ scan }} }}
"""


@pytest.mark.parametrize(
    ("queueing", "get", "scan", "is_exact"),
    [
        ("ps", "2 ms", "1 s", True),
        ("mm1", "2 ms", "2 ms", True),
        ("mm1", "2 ms", "1 s", False),
        ("mmc", "2 ms", "1 s", False),
        ("md1", "2 ms", "2 ms", False),
    ],
)
def test_one_customer_with_open_traffic_is_exact_in_product_form_alone(
    queueing: str, get: str, scan: str, is_exact: bool
) -> None:
    """First come first served with unlike services has none (Baskett et al. 1975)."""
    graph = lowered(BESIDE.format(queueing=queueing, get=get, scan=scan))
    scans = graph.streams["scans"]
    commands = graph.streams["commands"].latency_certainty
    values = [
        scans.latency_certainty,
        scans.rate_known,
        commands,
        graph.resources["redis.cpu"].known,
    ]
    assert {one.is_exact for one in values} == {is_exact}


def test_one_customer_by_itself_waits_for_nobody() -> None:
    text = BESIDE.format(queueing="mm1", get="2 ms", scan="1 s")
    lines = [line for line in text.splitlines() if not line.startswith("stream commands")]
    scans = lowered("\n".join(lines)).streams["scans"]
    assert scans.latency_certainty.is_exact


POOLED = """unit thread
users N in 1..100
machine app {{ cpu 4 core, queueing mmc; threads {threads} thread }}
machine db {{ cpu 2 core, queueing mmc; connections {places} connection }}
component work {{ cpu 1 ms/request }}
component query {{ cpu 10 ms/request }}
network lan {{ propagation 1 ms }}
topology {{ node web = app; node store = db; link wire = lan between web, store }}
stream ask for each user {{
  traffic 1 request, think 1 s
  at web {{
    take threads
    work
    call store {{ take connections; query; give connections }}
    give threads
  }}
}}
"""


@pytest.mark.parametrize(
    ("threads", "places", "cause"),
    [
        (50, 50, "store.cpu"),  # 2 cores take 10 ms: 200 a second
        (50, 1, "store.connections"),  # one of 10 ms
        (1, 50, "web.threads"),  # one of 13 ms
        (50, 2, "store.cpu"),  # as many as there are cores: these are full
    ],
)
def test_rates_level_off_where_their_cause_is(threads: int, places: int, cause: str) -> None:
    graph = lowered(POOLED.format(threads=threads, places=places))
    (found,) = closed_solutions(graph, 50)
    assert found.levels_off_at == (cause,)


_OWN_MACHINES = """
users N in 1..20
unit thread
machine desk { cpu 1 core }
machine box { cpu 1 core, queueing mm1; threads 4 thread }
component draw { cpu 1 ms/request }
component work { cpu 20 ms/request }
network wire { propagation 1 ms }
topology { node pc = desk * N; node web = box; link lan = wire between pc, web }
stream s for each pc {
  traffic 1 request, think 1 s
  at pc { draw; call web { take threads; work; give threads } }
}
"""


def test_no_wait_is_uncounted_at_a_machine_of_ones_own() -> None:
    graph = lowered(_OWN_MACHINES)
    assert "pc.cpu" not in graph.streams["s"].uncounted
