"""Waiting in queues: what each discipline adds to a latency, worked by hand and by simulation."""

from __future__ import annotations

from fractions import Fraction
from math import exp, inf, log

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from helpers.specs import PRELUDE, checked, latency, load, lowered
from oracles.integration import area
from oracles.stage_simulation import quantiles
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.queueing import queue_numbers as numbers
from qps.solver.answers.graph_solution import solve
from qps.solver.answers.solution import CapacityVerdict
from qps.solver.what_if.inverse import solve_for

_P99 = Fraction(99, 100)
law = settings(max_examples=examples(60), deadline=None)


def _shared(queueing: str, rate: str = "1 Mbit/s") -> str:
    """Return N stations that send 10 packet/s of 125 byte each: 1 ms a packet at 1 Mbit/s."""
    return PRELUDE.replace("1..100", "1..2000") + (
        f"network lan {{ rate {rate}; queueing {queueing} }}\n"
        "topology { node host = box * N\n node far = box\n link net = lan between host, far }\n"
        "stream flow for each host { traffic 10 packet/s, 125 byte/packet; at host { }\n over net\n at far { } }\n"
    )


def _server(queueing: str, cores: int = 1, steps: str = "work", more: str = "") -> str:
    """Return N users that each ask 1 packet/s of a server, 10 ms a packet."""
    return PRELUDE.replace("1..100", "1..2000") + (
        f"machine serving {{ cpu {cores} core, queueing {queueing} }}\n"
        "machine user_box { }\n"
        "topology { node web = serving\n node user = user_box * N }\n"
        f"{more}"
        "stream flow for each user { traffic 1 packet/s, 1 byte/packet; "
        f"at web {{ {steps} }} }}\n"
    )


def _waits(graph: LoadGraph, stream: str, population: int) -> list[float]:
    return [
        graph.at(population).number(part.value)
        for part in graph.streams[stream].latency
        if part.queue is not None
    ]


# name, spec, population, waits worked by hand in ms
CASES = [
    # 80 stations are 800 packet/s of 1 ms: load 0.8
    ("mm1", _shared("mm1"), 80, [4.0]),
    ("md1", _shared("md1"), 80, [2.0]),
    ("mg1", _shared("mg1 cv 0.5"), 80, [2.5]),
    ("mg1_is_mm1", _shared("mg1 cv 1"), 80, [4.0]),
    ("mg1_is_md1", _shared("mg1 cv 0"), 80, [2.0]),
    ("none", _shared("none"), 80, []),
    # two flows with a period of 25 services of 4 ms: the other one is met with 2/25, half done
    ("periodic_pair", _shared("periodic", "250 kbit/s"), 2, [4 * (1 / 25) / 2]),
    ("periodic_alone", _shared("periodic"), 1, [0.0]),
    ("server", _server("mm1"), 80, [40.0]),
    ("mmc_of_one_core", _server("mmc"), 80, [40.0]),
    # Erlang's C of 2 servers at load 0.8 is 0.7111: 0.7111 / (2 - 1.6) services
    ("mmc", _server("mmc", 2), 160, [0.7111111111 / 0.4 * 10]),
    # as one server that is twice as fast
    ("mm1_of_two_cores", _server("mm1", 2), 160, [20.0]),
    # a run of steps is one visit: 20 ms at load 0.8
    ("run", _server("mm1", steps="work; work"), 40, [80.0]),
    ("run_with_a_step_that_costs_nothing", _server("md1", steps="work; idle; work", more="component idle { }\n"), 40, [40.0]),
    # what comes back after a long delay waits anew: two visits of 10 ms at load 0.8
    ("delay_breaks_a_run", _server("md1", steps="work; rest; work", more="component rest { delay 10 s }\n"), 40, [20.0, 20.0]),
    ("repeated_step", _server("md1", steps="work * 2"), 40, [40.0]),
    # half of the items go on: a visit takes 15 ms on average
    ("thinned_run", _server("md1", steps="half; work", more="component half { cpu 10 ms/packet; keep 50 % }\n"), 40, [15 * 0.6 / (2 * 0.4)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "waits"), [pytest.param(*c[1:], id=c[0]) for c in CASES]
)
def test_the_wait_is_the_one_worked_by_hand(spec: str, population: int, waits: list[float]) -> None:
    values = [wait * 1000 for wait in _waits(lowered(spec), "flow", population)]
    assert values == pytest.approx(waits, rel=1e-7)


def test_a_variation_of_0_or_1_is_the_law_itself_and_any_other_a_number() -> None:
    late = "measure late = quantile(flow.latency, 99 %)\n"
    found = {}
    for queueing in ("md1", "mm1", "mg1 cv 0", "mg1 cv 1", "mg1 cv 2", "mg1 cv 0.5", "mg1 cv v"):
        more = late + ("param v = 0.5\n" if queueing.endswith("v") else "")
        graph = lowered(_server(queueing, more=more))
        late_at = graph.at(80).number(graph.measures["late"].value)
        found[queueing] = late_at, [n for n in graph.assumptions if n in ("web.cpu.cv", "v")]
    assert found["mg1 cv 0"] == found["md1"]
    assert found["mg1 cv 1"] == found["mm1"]
    assert found["mg1 cv 0.5"] == (found["mg1 cv v"][0], ["web.cpu.cv"])
    assert found["mg1 cv v"][1] == ["v"]
    assert found["mg1 cv 2"][1] == ["web.cpu.cv"]
    assert found["md1"][0] < found["mg1 cv 0.5"][0] < found["mg1 cv 2"][0]


def test_a_mix_waits_by_pollaczek_and_khinchine() -> None:
    # 40 packet/s of 10 ms and 10 packet/s of 20 ms: load 0.6, sum of rate * service^2 = 8 ms
    spec = (
        _server("md1") + "stream slow for each user { traffic 0.25 packet/s; at web { work * 2 } }"
    )
    graph = lowered(spec)
    assert load(graph, "web.cpu", 40) == Fraction(6, 10)
    assert _waits(graph, "flow", 40) == _waits(graph, "slow", 40)
    assert _waits(graph, "flow", 40) == pytest.approx([0.008 / (2 * 0.4)])


def test_every_port_of_a_switch_is_waited_for() -> None:
    spec = PRELUDE + (
        "network lan { switched; rate 1 Mbit/s; queueing mm1 }\n"
        "topology { node web = box * 2\n node user = box * N\n link net = lan between web, user }\n"
        "stream flow for each user { traffic 100 packet/s, 125 byte/packet; at web { }\n at user { } }"
    )
    graph = lowered(spec)
    # out of each of two servers 8 flows, load 0.8; into each user one, load 0.1
    assert _waits(graph, "flow", 16) == pytest.approx([0.004, 0.0001 / 0.9])
    assert [part.stage for part in graph.streams["flow"].latency] == [
        "waiting for net.web.out", "waiting for net.user.in", "over net",
    ]  # fmt: skip


def test_idle_load_counts_as_visits_of_mean_size() -> None:
    spec = _server("md1").replace("cpu 1 core,", "cpu 1 core, idle 20 %,")
    assert _waits(lowered(spec), "flow", 60) == pytest.approx([0.8 * 0.01 / (2 * 0.2)])


def test_a_single_thread_is_waited_for_besides_the_processor() -> None:
    more = "component one { cpu 10 ms/packet single_thread }\n"
    graph = lowered(_server("mm1", 4, steps="one", more=more))
    # the thread is loaded 0.8, the processor of four cores 0.2
    assert _waits(graph, "flow", 80) == pytest.approx([0.25 * 0.0025, 0.04])


def test_the_wait_of_a_merge_is_that_of_what_arrives() -> None:
    spec = PRELUDE + (
        "machine mixer { cpu 1 core, queueing md1 }\ncomponent mix { cpu 10 ms/packet; merge }\n"
        "topology { node bridge = mixer\n node user = box * N }\n"
        "stream flow for each user { traffic 1 packet/s; at bridge { mix } }"
    )
    graph = lowered(spec)
    # 41 flows arrive: 40 merges of 10 ms in 41 visits
    visit = 0.4 / 41
    assert _waits(graph, "flow", 41) == pytest.approx([0.4 * visit / (2 * 0.6)])


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2", "mmc", "periodic"])
@pytest.mark.parametrize("population", [100, 101, 150, 2000])
def test_a_saturated_resource_is_waited_for_without_end(queueing: str, population: int) -> None:
    graph = lowered(_server(queueing))
    assert _waits(graph, "flow", population) == [inf]
    assert graph.at(population).number(graph.streams["flow"].latency_quantile(_P99)) == inf


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2", "mmc", "periodic"])
@pytest.mark.parametrize(
    "need", ["web.cpu.load <= 100 %", "flow.latency <= 1_000_000 s", "flow.rate >= 0 packet/s"]
)
def test_no_requirement_makes_saturation_acceptable(queueing: str, need: str) -> None:
    solution = solve(lowered(_server(queueing) + f"require {{ {need} }}"))
    assert solution.verdict is CapacityVerdict.LIMITED
    assert solution.capacity == 99


def test_without_queueing_load_one_is_acceptable() -> None:
    assert solve(lowered(_server("none"))).capacity == 100


@pytest.mark.parametrize(
    ("queueing", "limit", "largest"),
    [
        # ρ/(1-ρ) 10 ms <= 40 ms: ρ <= 0.8
        ("mm1", "50 ms", 80),
        ("md1", "30 ms", 80),
        ("mm1", "49.999 ms", 79),
    ],
)
def test_the_answer_is_exact(queueing: str, limit: str, largest: int) -> None:
    text = _server(queueing) + f"require {{ flow.latency <= {limit} }}"
    assert solve(lowered(text)).capacity == largest


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 0.7", "mmc", "periodic"])
@pytest.mark.parametrize("measure", ["flow.latency", "flow.p99"])
def test_the_answer_is_the_largest_one_by_its_definition(queueing: str, measure: str) -> None:
    text = _server(queueing, 3) + f"require {{ {measure} <= 90 ms }}"
    graph = lowered(text)
    largest = solve(graph).capacity
    assert largest is not None
    measured = next(c.measure for c in graph.criteria if c.name == measure)

    def value(population: int) -> float:
        return graph.at(population).number(measured)

    assert value(largest) <= 0.09 < value(largest + 1)


def test_the_question_turned_round_knows_waits() -> None:
    spec = checked(
        _server("mm1").replace("1 packet/s, 1 byte", "pace, 1 byte")
        + "param pace = 1 packet/s in 0.01..100 packet/s\nrequire { flow.latency <= 50 ms }"
    )
    found = solve_for(spec.model, spec.configuration(), "pace", 40)
    assert [interval.high for interval in found.intervals] == pytest.approx([2.0])


def test_the_number_of_cores_moves_the_answer_of_mmc() -> None:
    solution = solve(lowered(_server("mmc", 4) + "require { flow.latency <= 20 ms }"))
    moved = {s.parameter: s.elasticity for s in solution.sensitivity}
    # more cores help more than in proportion: large groups of servers wait less
    assert moved["web.cpu.cores"] > 1
    assert moved["work.cpu.packet"] < -1


def test_an_elastic_parameter_must_leave_something() -> None:
    text = _server("mm1").replace("1 packet/s, 1 byte", "pace, 1 byte") + (
        "param pace elastic 0.1..1 packet/s\n"
    )
    with pytest.raises(QpsError, match="queueing delay is infinite"):
        lowered(text)
    graph = lowered(text + "require { web.cpu.load <= 80 % }")
    assert _waits(graph, "flow", 200) == pytest.approx([0.04])


# -- quantiles ---------------------------------------------------------------------------


def _quantile(graph: LoadGraph, level: str, population: int) -> float:
    found = graph.streams["flow"].latency_quantile(Fraction(level))
    return graph.at(population).number(found)


def test_the_quantile_of_mm1_is_that_of_its_exponential_sojourn() -> None:
    graph = lowered(_server("mm1"))
    assert graph.streams["flow"].quantile_certainty(_P99).is_exact
    assert _quantile(graph, "0.95", 80) == pytest.approx(0.01 / 0.2 * log(20), rel=1e-9)


def test_the_quantile_of_md1_inverts_its_tail() -> None:
    graph = lowered(_shared("md1"))
    assert graph.streams["flow"].quantile_certainty(_P99).is_exact
    wait = (_quantile(graph, "0.999", 80) - 0.001) / 0.001
    assert numbers.md1_tail(0.8, wait) == pytest.approx(0.001, rel=1e-7)


def test_voices_on_an_ethernet_wait_as_published() -> None:
    # modern.md, section 4: 84 G.711 calls on 10 Mbit/s wait 1.92 and 2.80 ms
    text = PRELUDE + (
        "network lan { rate 10 Mbit/s; queueing periodic }\n"
        "topology { node host = box * N\n node far = box\n link net = lan between host, far }\n"
        "stream flow for each host { traffic 50 packet/s, 238 byte/packet; at host { }\n over net\n at far { } }"
    )
    graph = lowered(text)
    sent = 238 * 8 / 10e6
    assert _quantile(graph, "0.999", 84) - sent == pytest.approx(1.92e-3, rel=0.003)
    assert _quantile(graph, "0.99999", 84) - sent == pytest.approx(2.80e-3, rel=0.003)


def test_over_several_queues_the_sum_counts() -> None:
    """Twice through one queue: who comes back finds as many again, and is served again."""
    steps = "work; rest; work"
    graph = lowered(_server("mm1", steps=steps, more="component rest { delay 1 ms }\n"))
    known = graph.streams["flow"].quantile_certainty(_P99)
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "are assumed to see the same queue length" in known.reasons[0]
    late = _quantile(graph, "0.99", 40) - 0.001
    (simulated,) = quantiles(40, [0, 0], [(1, 0.01)], [0.99], 100_000)
    assert 0.95 * simulated < late < 1.2 * simulated


def test_a_stream_that_waits_nowhere_has_its_latency_as_quantile() -> None:
    graph = lowered(_server("none"))
    known = graph.streams["flow"].quantile_certainty(_P99)
    assert known.kind is CertaintyKind.LOWER_BOUND
    assert known.reasons == ("queueing delay at `web.cpu` is excluded",)
    assert _quantile(graph, "0.99", 50) == float(latency(graph, "flow", 50))


# -- laws --------------------------------------------------------------------------------

LOADS = st.floats(0.01, 0.98)
FLOWS = st.integers(1, 400)
LEVELS = st.floats(0.01, 0.99999)


@law
@given(FLOWS, LOADS)
def test_periodic_waits_no_longer_than_md1_and_that_than_mm1(flows: int, rho: float) -> None:
    md1, mm1 = rho / (2 * (1 - rho)), rho / (1 - rho)
    assert numbers.periodic_wait(flows, rho) <= md1 * (1 + 1e-12) < mm1


@law
@given(FLOWS, LOADS, LEVELS)
def test_so_do_the_quantiles(flows: int, rho: float, level: float) -> None:
    periodic = numbers.periodic_quantile(flows, rho, level)
    md1 = numbers.md1_quantile(rho, level)
    assert periodic <= md1 + 1e-9
    assert 1 + md1 <= numbers.sojourn_quantile(rho, 1 - rho, level) + 1 + 1e-9


@law
@given(FLOWS, LOADS, LOADS, LEVELS)
def test_more_load_never_waits_less(flows: int, one: float, other: float, level: float) -> None:
    low, high = sorted([one, other])
    for wait in (
        lambda rho: numbers.periodic_wait(flows, rho),
        lambda rho: numbers.md1_quantile(rho, level),
        lambda rho: numbers.periodic_quantile(flows, rho, level),
        lambda rho: numbers.sojourn_quantile(rho, 1 - rho, level),
        lambda rho: numbers.gamma_quantile(rho, 0.5, level),
        lambda rho: numbers.erlang_c(7, 7 * rho),
    ):
        assert wait(low) <= wait(high) * (1 + 1e-9) + 1e-9


@law
@given(st.integers(2, 300), LOADS)
def test_more_flows_of_the_same_load_wait_longer(flows: int, rho: float) -> None:
    fewer, more = (numbers.periodic_wait(n, rho) for n in (flows, flows + 1))
    between = numbers.periodic_wait(flows + 0.5, rho)
    assert fewer <= between * (1 + 1e-9) + 1e-12
    assert between <= more * (1 + 1e-9) + 1e-12


@law
@given(st.integers(1, 60), LOADS)
def test_erlang_c_is_larger_than_b_and_both_are_shares(servers: int, rho: float) -> None:
    traffic = servers * rho
    lost, waits = numbers.erlang_b(servers, traffic), numbers.erlang_c(servers, traffic)
    assert 0 <= lost <= waits <= 1
    exact = numbers.exact_inverse_erlang_b(servers, Fraction(traffic))
    assert lost == pytest.approx(float(1 / exact), rel=1e-10)


@law
@given(
    st.integers(1, 90),
    st.integers(2, 9),
    st.sampled_from(["mm1", "md1", "mg1 cv 0.3", "mmc", "periodic"]),
)
def test_scaling_time_scales_waits(users: int, factor: int, queueing: str) -> None:
    before = lowered(_server(queueing))
    slower = _server(queueing).replace("1 packet/s, 1 byte", f"1/{factor} * 1 packet/s, 1 byte")
    after = lowered(slower.replace("cpu 10 ms/packet }", f"cpu {10 * factor} ms/packet }}"))
    assert load(before, "web.cpu", users) == load(after, "web.cpu", users)
    [one], [other] = _waits(before, "flow", users), _waits(after, "flow", users)
    assert other == pytest.approx(factor * one, rel=1e-12)


@law
@given(st.floats(0.05, 0.95), st.floats(0, 6), LEVELS)
def test_gamma_service_is_bounded_from_above(rho: float, variation: float, level: float) -> None:
    bound = numbers.gamma_quantile(rho, variation, level)
    if variation == 0:
        assert bound == 1 + numbers.md1_quantile(rho, level)
    # at variation 1 service is exponential, and the exact quantile is known
    assert (
        numbers.gamma_quantile(rho, 1, level)
        >= numbers.sojourn_quantile(rho, 1 - rho, level) - 1e-9
    )
    assert bound >= 0


def test_the_sums_join_at_twenty_service_times() -> None:
    for rho in (0.2, 0.5, 0.9, 0.99):
        near, far = numbers.md1_tail(rho, 20 - 1e-12), numbers.md1_tail(rho, 20)
        assert far == pytest.approx(near, rel=1e-9)


def test_erlang_between_whole_servers_joins_the_whole_ones() -> None:
    for servers in (3, 40, 900):
        below, above = (numbers.erlang_b(servers + d, servers * 0.9) for d in (-1e-7, 1e-7))
        assert numbers.erlang_b(servers, servers * 0.9) == pytest.approx(
            (below + above) / 2, rel=1e-9
        )


@pytest.mark.parametrize(("flows", "period"), [(10, 12.5), (20, 25), (50, 62.5), (95, 100)])
def test_the_mean_of_periodic_waits_is_the_area_under_their_tail(flows: int, period: float) -> None:
    mean = area(lambda x: numbers.periodic_tail(flows, flows / period, x), [0, 1, 2, 3, flows])
    assert numbers.periodic_wait(flows, flows / period) == pytest.approx(mean, rel=1e-6)


@pytest.mark.parametrize("rho", [0.3, 0.8, 0.95])
def test_the_mean_of_md1_waits_is_the_area_under_their_tail(rho: float) -> None:
    mean = area(lambda x: numbers.md1_tail(rho, x), [*range(20), 20, 600])
    assert mean == pytest.approx(rho / (2 * (1 - rho)), rel=1e-6)


def test_a_million_flows_wait_like_random_arrivals() -> None:
    assert numbers.periodic_wait(1e6, 0.9) == pytest.approx(4.5, rel=2e-4)


@pytest.mark.parametrize("time", [0.5, 3.0, 11.0])
def test_mm1_is_mg1_with_a_variation_of_one(time: float) -> None:
    tail = exp(-(1 - 0.7) * time)
    assert numbers.sojourn_quantile(0.7, 1 - 0.7, 1 - tail) == pytest.approx(time, rel=1e-9)


@pytest.mark.parametrize(
    ("group", "sent", "taken"),
    [("1", "to others in room", "take"), ("9", "to others in room at most 1", "mixed")],
    ids=["nobody to send to", "nothing to mix"],
)
def test_visits_that_take_no_time_have_an_answer(group: str, sent: str, taken: str) -> None:
    """What is sent to nobody, and mixed of one, is no visit or one of no length: no 0/0."""
    graph = lowered(
        f"""users N in 2..50
group room of {group} users
machine fast {{ cpu 2 core, queueing mmc }}
network net {{ duplex; rate 100 Mbit/s }}
component send {{ cpu 1 ms/packet }}
component mixed {{ cpu 2 ms/packet; merge }}
component take {{ cpu 2 ms/packet }}
topology {{ node host = fast * N; link lan = net between host }}
stream flow for each host {{
  traffic 8 packet/s, 500 byte/packet
  at host {{ send {sent} }}
  over lan
  at host {{ {taken} }}
}}
stream more for each host {{ traffic 3 packet/s, 500 byte/packet; at host {{ take }} }}
require {{ flow.latency <= 500 ms; quantile(flow.latency, 95 %) <= 1 s }}
"""
    )
    answer = solve(graph)
    assert answer.verdict is CapacityVerdict.RANGE
    # Work of 1 ms, 0.04 ms on the way; of waits and exponential service at most as of M/M/2 with
    # all items of 2 ms at 11 a second: a load of 1.1 %.
    mean, tail = (r.value_at_limit for r in answer.requirements)
    assert 0.00104 <= mean <= 0.00504
    assert mean <= tail <= 0.00004 + 2 * 0.002 * log(40) * 1.011
