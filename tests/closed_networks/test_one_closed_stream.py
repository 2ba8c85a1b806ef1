"""One closed stream: rates and response times against mean value analysis.

The oracle is the recursion over the population of Reiser and Lavenberg (1980), in fractions, with
the marginal probabilities of each station; it knows nothing of QPS.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct, field

from helpers.nightly import examples
from helpers.specs import lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind

F = Fraction


class Station(Struct):
    """A station: what a cycle asks of it, its servers, and how likely so many are there."""

    demand: Fraction
    servers: int = 1
    there: list[Fraction] = field(default_factory=lambda: [F(1)])

    @property
    def time(self) -> Fraction:
        """How long a cycle is here that finds what is there."""
        found = (p * F(n + 1, min(n + 1, self.servers)) for n, p in enumerate(self.there))
        return self.demand * sum(found, F(0))

    @property
    def mean(self) -> Fraction:
        """How many are there."""
        return sum((n * p for n, p in enumerate(self.there)), F(0))

    def passed(self, rate: Fraction) -> None:
        """Have one more under way, at a rate in all."""
        later = [
            rate * self.demand / min(n + 1, self.servers) * p for n, p in enumerate(self.there)
        ]
        self.there = [1 - sum(later, F(0)), *later]


def mean_values(
    jobs: int, think: Fraction, stations: Sequence[Station]
) -> tuple[Fraction, list[Fraction]]:
    """Return the rate of a closed network in all, and the time of a cycle at each station."""
    rate, times = F(0), [F(0)] * len(stations)
    for under_way in range(1, jobs + 1):
        times = [station.time for station in stations]
        rate = F(under_way) / (think + sum(times, F(0)))
        for station in stations:
            station.passed(rate)
    return rate, times


def spec(
    *machines: str,
    steps: str = "at s0 { step0 }",
    think: str = "15 s",
    costs: Sequence[str] = ("40 ms",),
    amount: int = 1,
    whose: str = "for each user",
    more: str = "",
) -> str:
    """Return a spec of some stations `s0`, `s1`, … on the way of users who think."""
    lines = ["users N in 1..1000", f"param think = {think} in 0..600 s"]
    for number, resource in enumerate(machines):
        lines.append(f"machine m{number} {{ {resource.partition(' * ')[0]} }}")
    for number, cost in enumerate(costs):
        lines.append(f"component step{number} {{ cpu {cost}/request }}")
    places = [f"s{k}" for k in range(len(machines))]
    nodes = []
    for number, resource in enumerate(machines):
        often = resource.partition(" * ")[2]
        nodes.append(f"node s{number} = m{number}" + (f" * {often}" if often else ""))
    link = f"; link net = wire between {', '.join(places)}" if places[1:] else ""
    lines += [
        "network wire { propagation 0 s }",
        f"topology {{ {'; '.join(nodes)}{link} }}",
        f"stream job {whose} {{ traffic {amount} request, 1 kB/request, think think; {steps} }}",
        more,
    ]
    return "\n".join(lines)


def reported(graph: LoadGraph, population: int) -> tuple[float, float]:
    """Return the rate of all flows together, and the response time."""
    job, closed = graph.streams["job"], graph.closed["job"]
    there = graph.at(population)
    return there.number(closed.throughput), there.number(job.mean_latency)


ONE = "cpu 1 core, queueing mm1"
IN_TURN = "at s0 { step0 }; at s1 { step1 }"
CASES = {
    "one": (spec(ONE), [Station(F(40, 1000))]),
    "two": (
        spec(ONE, ONE, steps=IN_TURN, costs=("40 ms", "60 ms")),
        [Station(F(40, 1000)), Station(F(60, 1000))],
    ),
    "cores": (spec("cpu 3 core, queueing mmc", costs=("900 ms",)), [Station(F(900, 1000), 3)]),
    "cores and one": (
        spec(
            "cpu 2 core, queueing mmc",
            ONE,
            steps=IN_TURN,
            costs=("900 ms", "300 ms"),
            think="2 s",
        ),
        [Station(F(900, 1000), 2), Station(F(300, 1000))],
    ),
    "visits": (
        spec(ONE, ONE, steps="at s0 { step0; call s1 * 3 { step1 } }", costs=("40 ms", "20 ms")),
        [Station(F(40, 1000)), Station(F(60, 1000))],
    ),
    "a share": (
        spec(ONE, ONE, steps="at s0 { step0; call s1 * 25 % { step1 } }", costs=("40 ms", "1 s")),
        [Station(F(40, 1000)), Station(F(250, 1000))],
    ),
    "copies": (
        spec(f"{ONE} * 3", costs=("900 ms",)),
        [Station(F(300, 1000)), Station(F(300, 1000)), Station(F(300, 1000))],
    ),
    "no think": (
        spec(
            ONE,
            ONE,
            steps=IN_TURN,
            costs=("40 ms", "60 ms"),
            think="0 s",
        ),
        [Station(F(40, 1000)), Station(F(60, 1000))],
    ),
}


@pytest.mark.parametrize("jobs", [1, 2, 5, 40])
@pytest.mark.parametrize("case", CASES)
def test_rate_and_response_time_are_those_of_mean_value_analysis(case: str, jobs: int) -> None:
    text, stations = CASES[case]
    think = F(2) if "think = 2 s" in text else F(0) if "think = 0 s" in text else F(15)
    fresh = [Station(one.demand, one.servers) for one in stations]
    rate, times = mean_values(jobs, think, fresh)
    graph = lowered(text)
    assert reported(graph, jobs) == pytest.approx((float(rate), float(sum(times, F(0)))), rel=1e-9)
    assert graph.streams["job"].latency_certainty.is_exact
    assert graph.streams["job"].rate_known.is_exact


def test_a_flow_may_have_several_items_under_way() -> None:
    graph = lowered(spec(ONE, amount=4))
    one_each = lowered(spec(ONE))
    assert reported(graph, 5) == pytest.approx(reported(one_each, 20))
    assert graph.at(5).number(graph.streams["job"].rate * 5) == pytest.approx(reported(graph, 5)[0])


def test_the_work_at_the_own_machine_is_a_delay() -> None:
    text = spec(
        f"{ONE} * N",
        ONE,
        steps=IN_TURN,
        costs=("700 ms", "60 ms"),
        whose="for each s0",
    )
    rate, times = mean_values(30, F(15) + F(7, 10), [Station(F(60, 1000))])
    assert reported(lowered(text), 30) == pytest.approx(
        (float(rate), 0.7 + float(sum(times, F(0))))
    )


MIXED = """
machine other { }
topology { node o = other; link more = wire between o, s0 }
stream open for each o { traffic 20 request/s, 1 kB/request; at o { }; at s0 { step0 } }
"""


@pytest.mark.parametrize("jobs", [1, 3, 30])
def test_open_traffic_makes_a_station_slower_and_meets_what_is_there(jobs: int) -> None:
    graph = lowered(spec(ONE, costs=("20 ms",), think="1 s", more=MIXED))
    load = F(20) * F(20, 1000)
    station = Station(F(20, 1000) / (1 - load))
    rate, times = mean_values(jobs, F(1), [station])
    assert reported(graph, jobs) == pytest.approx((float(rate), float(times[0])))
    waits = F(20, 1000) * (1 + station.mean) / (1 - load)
    assert graph.at(jobs).number(graph.streams["open"].mean_latency) == pytest.approx(float(waits))
    assert graph.streams["open"].latency_certainty.is_exact


@pytest.mark.parametrize("servers", [1, 4])
@pytest.mark.parametrize("service", ["5 ms", "100 ms"])
def test_open_traffic_waits_for_whoever_is_there(servers: int, service: str) -> None:
    """At a full queue all wait alike, whatever they are served for themselves."""
    queueing = f"cpu {servers} core, queueing {'mm1' if servers == 1 else 'mmc'}"
    short = MIXED.replace("20 request/s", "5 request/s").replace("step0", "short")
    more = f"component short {{ cpu {service}/request }}\n{short}"
    graph = lowered(spec(queueing, costs=("20 ms",), think="1 ms", more=more))
    at = graph.at(1000)
    own = float(service.split(maxsplit=1)[0]) / 1000
    waits = at.number(graph.streams["job"].mean_latency) - 0.02
    assert at.number(graph.streams["open"].mean_latency) - own == pytest.approx(waits, rel=0.01)
    known = graph.streams["open"].latency_certainty
    assert known.kind is CertaintyKind.APPROXIMATION
    # At several servers it may be off by as many times as services differ.
    assert (known.error is None) is (servers > 1)


def test_open_traffic_finds_others_as_they_are_without_users() -> None:
    """With hardly any user it waits as in M/M/1, as the user does, and for the user."""
    rare = MIXED.replace("step0", "short")
    more = f"component short {{ cpu 5 ms/request }}\n{rare}"
    graph = lowered(spec(ONE, costs=("40 ms",), think="10 s", more=more))
    found = graph.at(1).number(graph.streams["open"].mean_latency)
    cycle = 0.04 + 0.1 * 0.005 / 0.9
    there = cycle / (10 + cycle)
    assert found == pytest.approx(0.005 + (0.1 * 0.005 + there * 0.04) / 0.9, rel=1e-5)


def test_what_states_no_queueing_serves_no_more_than_it_can() -> None:
    graph = lowered(spec("cpu 1 core", think="1 s"))
    assert reported(graph, 10) == pytest.approx((10 / 1.04, 0.04))
    assert reported(graph, 100) == pytest.approx((25, 100 / 25 - 1))
    assert graph.streams["job"].latency_certainty.kind is CertaintyKind.LOWER_BOUND
    assert graph.streams["job"].rate_known.kind is CertaintyKind.UPPER_BOUND
    assert graph.at(100).number(graph.resources["s0.cpu"].load) == 1
    assert graph.at(100).number(graph.streams["job"].loss) == 0


def test_other_disciplines_are_reported_as_approximations() -> None:
    graph = lowered(spec("cpu 1 core, queueing md1"))
    assert graph.streams["job"].latency_certainty.kind is CertaintyKind.APPROXIMATION
    graph = lowered(spec("cpu 4 core, queueing mm1"))
    assert graph.streams["job"].latency_certainty.kind is CertaintyKind.APPROXIMATION


def test_visits_of_different_length_at_one_queue_are_an_approximation() -> None:
    text = spec(
        ONE,
        ONE,
        steps=f"{IN_TURN}; at s0 {{ step1 }}",
        costs=("40 ms", "60 ms"),
    )
    assert lowered(text).streams["job"].latency_certainty.kind is CertaintyKind.APPROXIMATION


PORTS = """
users N in 1..1_000
machine pc { }
machine box { cpu 8 core, queueing mmc }
network lan { switched; rate 1 Gbit/s; queueing mm1 }
component work { cpu 3 ms/request }
topology { node client = pc * N; node web = box; node db = box; link l = lan between all }
stream browse for each client {
  traffic 1 request, 2 kB/request, think 10 s
  at client { }
  at web { work; call db * 2 { work } }
  at client { }
}
require { browse.latency <= 200 ms }
"""


def test_a_port_that_calls_visit_several_times_is_reported_without_what_stands_for_the_rate() -> (
    None
):
    graph = lowered(PORTS)
    distinct = {symbol for part in graph.streams["browse"].latency for symbol in part.value.symbols}
    assert distinct <= {graph.population, *(one.symbol for one in graph.assumptions.values())}


def test_a_cycle_that_takes_no_time_is_refused() -> None:
    with pytest.raises(QpsError, match="takes no time"):
        lowered(spec("cpu 1 core", steps="at s0 { }", think="0 s"))


# -- laws ----------------------------------------------------------------------------------

COSTS = st.integers(1, 900)


@settings(max_examples=examples(40), deadline=None)
@given(
    costs=st.lists(COSTS, min_size=1, max_size=3),
    cores=st.lists(st.integers(1, 4), min_size=3, max_size=3),
    think=st.integers(0, 20),
    jobs=st.integers(1, 60),
)
def test_laws_of_closed_networks(costs: list[int], cores: list[int], think: int, jobs: int) -> None:
    """Little's law over the cycle, asymptotic bounds, and times that grow with the population."""
    servers = cores[: len(costs)]
    machines = [f"cpu {c} core, queueing {'mm1' if c == 1 else 'mmc'}" for c in servers]
    steps = "; ".join(f"at s{k} {{ step{k} }}" for k in range(len(costs)))
    text = spec(*machines, steps=steps, costs=[f"{c} ms" for c in costs], think=f"{think} s")
    graph = lowered(text)
    rate, response = reported(graph, jobs)
    assert rate * (think + response) == pytest.approx(jobs)
    alone = sum(costs) / 1000
    most = min(c * 1000 / cost for c, cost in zip(servers, costs, strict=True))
    assert rate <= min(jobs / (think + alone), most) * (1 + 1e-9)
    assert rate >= jobs / (think + jobs * alone) * (1 - 1e-9)
    later, longer = reported(graph, jobs + 1)
    assert later >= rate * (1 - 1e-9)
    assert longer >= response * (1 - 1e-9)
    there = graph.at(jobs)
    assert all(there.number(one.load) <= 1 for one in graph.resources.values())
    stations = [Station(F(cost, 1000), c) for cost, c in zip(costs, servers, strict=True)]
    assert rate == pytest.approx(float(mean_values(jobs, F(think), stations)[0]), rel=1e-8)
