"""What the users of a stream see: jitter, playout buffers, three kinds of loss, merged latency."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from math import e, exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import findroot, lambertw

from helpers.nightly import examples
from helpers.specs import PRELUDE, at, latency, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.pipeline import check_source
from qps.engine.execution.array_functions import array_function
from qps.engine.execution.float_runs import number_function
from qps.engine.expressions.formulas import Formula, apply, symbol
from qps.engine.expressions.point_values import in_floats
from qps.solver.answers.graph_solution import solve

law = settings(max_examples=examples(30), deadline=None)

ONE = "topology { node host = %s }\n"
MANY = "topology { node host = box * N\n link lan = wire between host }\n"
TWO = "topology { node web = %s * 2\n node user = %s * N\n link net = %s between web, user }\n"
WAY = "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { work }\n%s at user { work }%s }\n"
JITTERY = """
machine odd { cpu 1 core, jitter 20 ms^2 * load }
machine fast { cpu 20 score, jitter 8 ms^2 * load * (10 score) / rating }
network shaky { rate 1 Mbit/s; jitter 5 ms^2 * load }
network switchy { switched; rate 1 Mbit/s; jitter 6 ms^2 * load }
network quick { rate 4 Mbit/s; jitter 5 ms^2 * (1 Mbit/s) / rate }
"""

# name, spec behind the prelude, population, jitter in ms^2 worked by hand
JITTERS = [
    ("none", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "0"),
    # 5 packet/s at 10 ms load 5 %
    ("of_a_load", ONE % "odd" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "1"),
    # the same resource twice: loaded 10 %, but counted once
    ("each_once", ONE % "odd" + "stream flow for each host { traffic 5 packet/s; at host { work; work } }", 1, "2"),
    ("of_all_streams", ONE % "odd" + "stream flow for each host { traffic 5 packet/s; at host { work } }\nstream more { traffic 15 packet/s; at host { work } }", 1, "4"),
    ("not_of_elsewhere", "topology { node host = box\n node other = odd }\nstream flow { traffic 5 packet/s; at host { work } }\nstream more { traffic 15 packet/s; at other { work } }", 1, "0"),
    ("a_fixed_one", "machine fixed { cpu 1 core, jitter 3 ms^2 }\n" + ONE % "fixed" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "3"),
    ("beside_idle", "machine fixed { cpu 1 core, jitter 10 ms^2 * load, idle 20 % }\n" + ONE % "fixed" + "stream flow for each host { traffic 10 packet/s; at host { work } }", 1, "3"),
    # a resource that the stream does not pass adds nothing
    ("of_what_is_passed", "machine both { cpu 1 core; disk 1 MB/s, jitter 3 ms^2 }\n" + ONE % "both" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "0"),
    # 5 packet/s at 5 ms (twice the rating measured on) load 2.5 %: 8 * 0.025 / 2
    ("of_a_rating", "component x { cpu 10 ms/packet measured on rated }\n" + ONE % "fast" + "stream flow for each host { traffic 5 packet/s; at host { x } }", 1, "0.1"),
    ("of_an_option", "option calm = off\nmachine m { cpu 1 core, jitter if calm then 1 ms^2 else 9 ms^2 * load }\n" + ONE % "m" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "0.45"),
    ("of_a_parameter", "param waiting = 3\nmachine m { cpu 1 core, jitter 2 ms^2 * waiting * load }\n" + ONE % "m" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "0.3"),
    # half the four flows at web (2 %), one at user (1 %)
    ("of_two_machines", TWO % ("odd", "odd", "wire") + WAY % ("", ""), 4, "0.6"),
    # 4 flows of 1000 bit/s on 1 Mbit/s
    ("of_a_link", TWO % ("box", "box", "shaky") + WAY % ("", ""), 4, "0.02"),
    # a quarter of the jitter at four times the rate
    ("of_a_rate", TWO % ("box", "box", "quick") + WAY % ("", ""), 4, "1.25"),
    # out of web 2 flows, into user 1
    ("of_each_port", TWO % ("box", "box", "switchy") + WAY % ("", ""), 4, "0.018"),
    ("of_a_link_passed_twice", TWO % ("box", "box", "shaky") + "stream flow for each user { traffic 1 packet/s, 125 byte/packet; at web { }\n at user { }\n at web { } }", 4, "0.04"),
    ("all_add_up", TWO % ("odd", "odd", "shaky") + WAY % ("", ""), 4, "0.62"),
    ("no_law_for_the_cap", "network few { rate 1 Mbit/s; cap 8 packet/s; jitter 5 ms^2 }\n" + TWO % ("box", "box", "few") + WAY % ("", ""), 4, "5"),
    ("of_a_duplex", "network two_way { duplex; rate 1 Mbit/s; jitter 5 ms^2 * load }\n" + TWO % ("box", "box", "two_way") + WAY % ("", ""), 4, "0.02"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "expected"), [pytest.param(*case[1:], id=case[0]) for case in JITTERS]
)
def test_jitter(spec: str, population: int, expected: str) -> None:
    graph = lowered(PRELUDE + JITTERY + spec + "\nmeasure whole = flow.jitter")
    assert _jitter(graph, "flow", population) * 10**6 == Fraction(expected)
    assert at(graph, graph.measures["whole"].value, population) * 10**6 == Fraction(expected)


@pytest.mark.parametrize("twice", ["jitter 1 ms^2, jitter 3 ms^2", "idle 1 %, idle 3 %"])
def test_what_a_resource_states_twice_is_refused(twice: str) -> None:
    text = PRELUDE + f"machine m {{ cpu 1 core, {twice} }}\n" + ONE % "m"
    outcome = check_source(
        Source("s", text + "stream flow for each host { traffic 5 packet/s; at host { work } }")
    )
    assert [d.code.id for d in outcome.diagnostics] == ["QPS0211"]


def test_a_jitter_law_follows_what_is_set() -> None:
    text = (
        PRELUDE + "option calm = off\nparam waiting = 3\n"
        "machine m { cpu 1 core, jitter if calm then 1 ms^2 * waiting else 9 ms^2 * load }\n"
        + ONE % "m" + "stream flow for each host { traffic 5 packet/s; at host { work } }"
    )  # fmt: skip
    assert _jitter(lowered(text, "calm = on"), "flow", 1) == Fraction(3, 10**6)
    assert _jitter(lowered(text, "calm = on", "waiting = 7"), "flow", 1) == Fraction(7, 10**6)
    assert _jitter(lowered(text, "waiting = 7"), "flow", 1) == Fraction("0.45") / 10**6


@law
@given(st.lists(st.integers(0, 400), min_size=1, max_size=5), st.integers(1, 90))
def test_variances_add_up(laws: list[int], rate: int) -> None:
    machines = "".join(
        f"machine m{i} {{ cpu 1 core, jitter {each} us^2 * load + {each} us^2 }}\n"
        for i, each in enumerate(laws)
    )
    nodes = "".join(f"node n{i} = m{i}\n" for i in range(len(laws)))
    ends = ", ".join(f"n{i}" for i in range(len(laws)))
    visits = "\n".join(f"at n{i} {{ work }}" for i in range(len(laws)))
    graph = lowered(
        PRELUDE + machines + f"topology {{ {nodes} link net = wire between {ends} }}\n"
        f"stream flow {{ traffic {rate} packet/s, 1 byte/packet; {visits} }}\n"
    )
    expected = sum(each * (1 + Fraction(rate, 100)) for each in laws)
    assert _jitter(graph, "flow", 1) == expected / 10**12


# -- the playout buffer --------------------------------------------------------------------

# name, the stream's end, population, buffer and latency in ms, voluntary loss
PLAYOUTS = [
    ("none", "", 1, "0", "10", "0"),
    ("a_fixed_one", "playout 30 ms", 1, "30", "40", "0"),
    ("by_a_parameter", "playout wait", 1, "25", "35", "0"),
    ("by_the_population", "playout N * 2 ms", 9, "18", "28", "0"),
    # loaded N %
    ("by_a_load", "playout host.cpu.load * 100 ms", 20, "20", "30", "0"),
    # 4 ms^2 * N %: 1 ms^2 at 25
    ("by_its_jitter", "playout 7 ms/ms^2 * flow.jitter", 25, "7", "17", "0"),
    ("by_the_root_of_its_jitter", "playout 3 * sqrt(flow.jitter)", 25, "3", "13", "0"),
    ("dropping_a_share", "playout 30 ms dropping 5 %", 1, "30", "40", "0.05"),
    ("dropping_by_its_buffer", "playout 30 ms dropping 6 ms / (flow.buffer)", 1, "30", "40", "0.2"),
    ("dropping_by_its_jitter", "playout 30 ms dropping flow.jitter / (10 ms^2)", 25, "30", "40", "0.1"),
    ("dropping_by_a_load", "playout 30 ms dropping host.cpu.load / 2", 25, "30", "40", "0.125"),
    ("dropping_by_both", "playout 7 ms/ms^2 * flow.jitter dropping flow.jitter / (10 ms^2) * flow.buffer / (7 ms)", 25, "7", "17", "0.1"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("end", "population", "buffer", "whole", "late"),
    [pytest.param(*case[1:], id=case[0]) for case in PLAYOUTS],
)
def test_playout(end: str, population: int, buffer: str, whole: str, late: str) -> None:
    graph = lowered(
        PRELUDE + "param wait = 25 ms\nmachine odd { cpu 1 core, jitter 4 ms^2 * load }\n"
        + ONE % "odd"
        + f"stream flow for each host {{ traffic N * 1 packet/s; at host {{ work }}\n{end} }}\n"
        "measure waited = flow.buffer"
    )  # fmt: skip
    flow = graph.streams["flow"]
    assert at(graph, flow.buffer, population) == Fraction(buffer) / 1000
    assert at(graph, graph.measures["waited"].value, population) == Fraction(buffer) / 1000
    assert latency(graph, "flow", population) == Fraction(whole) / 1000
    assert at(graph, flow.lost_by(LossKind.VOLUNTARY), population) == Fraction(late)
    # what comes too late is given up after it has arrived: it loads as before
    assert load(graph, "host.cpu", population) == Fraction(population, 100)
    expected = population * (1 - Fraction(late))
    assert at(graph, flow.rate, population) == expected


def test_a_buffer_may_rest_on_the_loads_of_other_places() -> None:
    graph = lowered(
        PRELUDE + TWO % ("box", "box", "wire") + WAY % ("", "\nplayout 1 s * web.cpu.load")
    )
    assert at(graph, graph.streams["flow"].buffer, 8) == Fraction("0.04")


def test_the_i_policy_of_the_library_gives_what_its_formulas_give() -> None:
    graph = lowered(
        "use std.claypool1997.playout as policy\n" + PRELUDE
        + "machine odd { cpu 1 core, jitter 100 ms^2 * load }\n" + ONE % "odd"
        + "stream flow for each host { traffic N * 1 packet/s; at host { work }\n"
        "playout policy.buffer(flow.jitter) dropping policy.late(flow.buffer, 230 ms, 6 %) }"
    )  # fmt: skip
    # 50 ms^2 are 5e7 us^2: the area is 0.000198 * 5e7 + 1_590_000 ns
    buffer = (26.5 * (0.000198 * 5e7 + 1_590_000) - 624_000) * 1e-9
    assert float(at(graph, graph.streams["flow"].buffer, 50)) == pytest.approx(buffer, rel=1e-12)
    late = graph.streams["flow"].lost_by(LossKind.VOLUNTARY)
    value = graph.at(50).number(late)
    # lateness is exponential, g = exp(-y): B = latency / loss * sqrt(y) exp(-y), y > 1/2
    y = findroot(lambda t: 0.23 / 0.06 * t**0.5 * exp(-t) - buffer, (0.5, 50), solver="ridder")
    assert value == pytest.approx(exp(-y), rel=1e-9)


# -- three kinds of loss -------------------------------------------------------------------

LOSSY = """
component thin { drop 20 % }
component half { keep 50 % }
network bad { rate 1 Mbit/s; loss 10 % }
network worse { rate 1 Mbit/s; loss 50 % }
"""

# name, spec, population, voluntary, saturation and transmission loss, rate that arrives
LOSSES = [
    ("none", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { work } }", 1, "0", "0", "0", "5"),
    ("dropped", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { thin } }", 1, "0.2", "0", "0", "4"),
    ("dropped_twice", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { thin; thin } }", 1, "0.36", "0", "0", "3.2"),
    ("kept_is_not_lost", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { half } }", 1, "0", "0", "0", "2.5"),
    ("too_late", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { work }; playout 1 s dropping 40 % }", 1, "0.4", "0", "0", "3"),
    ("dropped_and_too_late", ONE % "box" + "stream flow for each host { traffic 5 packet/s; at host { thin }; playout 1 s dropping 50 % }", 1, "0.6", "0", "0", "2"),
    ("on_a_link", TWO % ("box", "box", "bad") + "stream flow for each user { traffic 10 packet/s, 1 byte/packet; at web { }\n at user { } }", 1, "0", "0", "0.1", "9"),
    ("on_two_links", "topology { node web = box\n node user = box * N\n link trunk = bad between web\n link edge = worse between trunk, user }\nstream flow for each user { traffic 10 packet/s, 1 byte/packet; at web { }\n at user { } }", 1, "0", "0", "0.55", "4.5"),
    # at 200 packet/s the processor does half
    ("saturated", ONE % "box" + "stream flow for each host { traffic 200 packet/s; at host { work } }", 1, "0", "0.5", "0", "100"),
    ("just_not_saturated", ONE % "box" + "stream flow for each host { traffic 100 packet/s; at host { work } }", 1, "0", "0", "0", "100"),
    # 125 packet/s after dropping: 1 - 1/1.25 of them are lost
    ("dropped_before_it_saturates", ONE % "box" + "stream flow for each host { traffic 156.25 packet/s; at host { thin; work } }", 1, "0.2", "0.2", "0", "100"),
    # four flows of 100 packet/s on two machines: loaded 2; a tenth of the rest on the way
    ("all_three", TWO % ("box", "box", "bad") + "stream flow for each user { traffic 125 packet/s, 1 byte/packet; at web { thin; work }\n at user { }\n playout 1 s dropping 50 % }", 4, "0.6", "0.5", "0.1", "22.5"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "voluntary", "saturation", "transmission", "rate"),
    [pytest.param(*case[1:], id=case[0]) for case in LOSSES],
)
def test_losses(
    spec: str, population: int, voluntary: str, saturation: str, transmission: str, rate: str
) -> None:
    graph = lowered(
        PRELUDE + LOSSY + spec + "\nmeasure a = flow.voluntary_loss\n"
        "measure b = flow.saturation_loss\nmeasure c = flow.transmission_loss\n"
        "measure whole = flow.loss\nmeasure left = flow.rate"
    )
    by_name = {name: at(graph, m.value, population) for name, m in graph.measures.items()}
    kinds = [Fraction(kind) for kind in (voluntary, saturation, transmission)]
    assert [by_name["a"], by_name["b"], by_name["c"]] == kinds
    assert by_name["whole"] == 1 - (1 - kinds[0]) * (1 - kinds[1]) * (1 - kinds[2])
    assert by_name["left"] == Fraction(rate)


def test_what_is_dropped_loads_nothing_behind_it() -> None:
    graph = lowered(
        PRELUDE + LOSSY + "component paid { cpu 10 ms/packet; drop 20 % }\n" + ONE % "box"
        + "stream flow for each host { traffic 10 packet/s, 1 byte/packet; at host { paid; work } }"
    )  # fmt: skip
    # 10 packets are paid for before 2 of them are dropped
    assert load(graph, "host.cpu", 1) == Fraction("0.18")
    assert at(graph, graph.streams["flow"].throughput, 1) == 64


def _lossy(drop: int, link: int, late: int, pace: int, wait: int) -> LoadGraph:
    return lowered(
        PRELUDE + f"component thin {{ drop {drop} % }}\n"
        f"network bad {{ rate 10 kbit/s; loss {link} % }}\n"
        "topology { node web = box * 2\n node user = box * N\n"
        "link net = bad between web, user }\n"
        f"stream flow for each user {{ traffic {pace} packet/s, 3 byte/packet\n"
        f"at web {{ thin; work }}\n at user {{ work }}\n playout {wait} ms dropping {late} % }}"
    )


SHARES = st.integers(0, 100)


@law
@given(
    SHARES, st.integers(0, 99), SHARES, st.integers(1, 300), st.integers(0, 500), st.integers(1, 60)
)
def test_losses_are_shares_that_join(
    drop: int, link: int, late: int, pace: int, wait: int, population: int
) -> None:
    graph = _lossy(drop, link, late, pace, wait)
    flow = graph.streams["flow"]
    whole = at(graph, flow.loss, population)
    kinds = [at(graph, flow.lost_by(kind), population) for kind in LossKind]
    assert all(0 <= kind <= whole <= 1 for kind in kinds)
    assert whole == 1 - (1 - kinds[0]) * (1 - kinds[1]) * (1 - kinds[2])
    # loads worked out plainly: dropped before the work, lost on the link before the user
    stored = 1 - Fraction(drop, 100)
    web = Fraction(population, 2) * pace * stored / 100
    net = population * pace * 24 * stored / 10_000
    user = pace * stored * (1 - Fraction(link, 100)) / 100
    served = Fraction(1)
    for each in (web, net, user):
        served *= 1 / max(Fraction(1), each)
    arriving = stored * (1 - Fraction(link, 100)) * (1 - Fraction(late, 100)) * served
    assert whole == 1 - arriving
    assert at(graph, flow.rate, population) == pace * arriving
    assert at(graph, flow.throughput, population) == pace * arriving * 24


@law
@given(SHARES, SHARES, st.integers(0, 500), st.integers(1, 60))
def test_latency_is_never_below_the_buffer(
    drop: int, late: int, wait: int, population: int
) -> None:
    graph = _lossy(drop, 10, late, 50, wait)
    buffer = at(graph, graph.streams["flow"].buffer, population)
    assert buffer == Fraction(wait, 1000)
    # 10 ms at each machine, and 24 bit at 10 kbit/s
    assert latency(graph, "flow", population) == buffer + Fraction("0.0224")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ("playout 3 ms dropping 20 * host.cpu.load", "above 100 %"),
        ("playout (host.cpu.load - 50 %) * 1 s", "is negative"),
    ],
)
def test_what_loads_make_impossible_is_refused(item: str, message: str) -> None:
    graph = lowered(
        PRELUDE
        + ONE % "box"
        + f"stream flow for each host {{ traffic N * 1 packet/s; at host {{ work }}\n{item} }}"
    )
    with pytest.raises(QpsError) as raised:
        solve(graph)
    (diagnostic,) = raised.value.diagnostics
    assert diagnostic.code.id == "QPS0309"
    assert message in diagnostic.message
    assert diagnostic.primary is not None


# -- what waits for a merge ----------------------------------------------------------------

MIX = "component mix { cpu 1 ms/packet; merge }\ncomponent wait { delay 7 ms }\ncomponent go { }\n"
SENT = "stream flow for each host { traffic 1 packet/s, 125 byte/packet; at host { %s }\n over lan\n at host { %s } }"

# name, steps before, steps where it arrives, latency in ms for N = 5: four flows arrive; the link takes 1 ms
MERGED = [
    ("before_it_for_all", "go to others", "work; mix", "44"),
    ("behind_it_once", "go to others", "mix; work", "14"),
    ("both", "go to others", "work; mix; work", "54"),
    ("a_delay_once", "go to others", "wait; mix", "11"),
    ("elsewhere_once", "work to others by multicast", "work; mix", "54"),
    # three merges, each of them twice
    ("repeated", "go to others", "work * 2; mix * 2", "87"),
    # the second one has nothing to merge, and one flow to wait for
    ("merged_twice", "go to others", "work; mix; mix", "44"),
    ("without_a_merge", "go to others", "work; work", "21"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "arriving", "expected"), [pytest.param(*case[1:], id=case[0]) for case in MERGED]
)
def test_what_is_merged_waits_for_the_last(before: str, arriving: str, expected: str) -> None:
    graph = lowered(PRELUDE + MIX + MANY + SENT % (before, arriving))
    assert latency(graph, "flow", 5) == Fraction(expected) / 1000


@pytest.mark.parametrize(
    ("cores", "work", "expected"),
    [
        (1, "work", "44"),  # as above
        (2, "work", "24"),  # four flows, two at a time
        (8, "work", "14"),  # all four at once, and no faster than one
        (8, "serial", "44"),
    ],
)
def test_flows_to_be_merged_share_the_cores(cores: int, work: str, expected: str) -> None:
    many = MANY.replace("box", "big")
    serial = "component serial { cpu 10 ms/packet single_thread }\n"
    graph = lowered(
        PRELUDE + MIX + serial + f"machine big {{ cpu {cores} core }}\n" + many
        + SENT % ("go to others", f"{work}; mix")
    )  # fmt: skip
    assert latency(graph, "flow", 5) == Fraction(expected) / 1000


def test_a_flow_that_is_alone_waits_for_nobody() -> None:
    graph = lowered(
        PRELUDE
        + MIX
        + MANY
        + "stream flow for each host { traffic 1 packet/s; at host { work; mix } }"
    )
    assert latency(graph, "flow", 9) == Fraction("0.01")
    half = "component half { active 50 % }\n"
    graph = lowered(
        PRELUDE + MIX + half + MANY
        + "stream flow for each host { traffic 1 packet/s; at host { half; work; mix } }"
    )  # fmt: skip
    assert latency(graph, "flow", 9) == Fraction("0.01")


# -- Lambert's W ---------------------------------------------------------------------------


def _w(function: str, x: Fraction) -> Formula:
    graph = lowered(
        PRELUDE + ONE % "box" + "stream flow for each host { traffic 1 packet/s; at host { work } }\n"
        f"param x = {x.numerator}/{x.denominator}\nmeasure w = {function}(x)"
    )  # fmt: skip
    return graph.valued(graph.measures["w"].value)


@law
@given(st.fractions(Fraction(-36, 100), 200, max_denominator=1000))
def test_lambert_w_solves_its_equation(x: Fraction) -> None:
    w = _w("lambert_w", x)
    assert abs(in_floats(w * apply("exp", w)) - float(x)) < 1e-12 * max(1, float(x))
    assert in_floats(w) == pytest.approx(float(lambertw(float(x)).real), rel=1e-9, abs=1e-12)
    assert in_floats(w) >= -1


@law
@given(st.fractions(Fraction(-36, 100), Fraction(-1, 1000), max_denominator=1000))
def test_the_lower_branch_solves_the_same_equation(x: Fraction) -> None:
    w = _w("lower_lambert_w", x)
    assert abs(in_floats(w * apply("exp", w)) - float(x)) < 1e-12
    assert in_floats(w) == pytest.approx(float(lambertw(float(x), -1).real), rel=1e-9)
    assert in_floats(w) <= -1


def test_lambert_w_by_hand() -> None:
    assert in_floats(_w("lambert_w", Fraction(0))) == 0
    # e * 1 = e, and near 2 e^2: W(14.778) = 2
    assert in_floats(_w("lambert_w", Fraction(14778112, 10**6))) == pytest.approx(2, rel=1e-6)
    # -3 exp(-3) = -0.149361
    assert in_floats(_w("lower_lambert_w", Fraction(-149361205, 10**9))) == pytest.approx(
        -3, rel=1e-6
    )


@pytest.mark.parametrize("branch", [0, -1])
def test_lambert_w_in_arrays_and_plain_numbers(branch: int) -> None:
    x = symbol("x")
    at_points = np.array([-0.3, -0.05, -0.5])
    expected = [float(lambertw(at, branch).real) for at in at_points]
    w = apply("lower_w" if branch else "w", x)
    (result,) = array_function(x, [w])(at_points)
    assert result[:2].tolist() == pytest.approx(expected[:2], rel=1e-12)
    # below -1/e it is not real
    assert np.isnan(result[2])
    one = number_function(x, w + 1)(-0.3)
    assert one == pytest.approx(expected[0] + 1, rel=1e-12)


def test_a_requirement_with_lambert_w_is_tried_everywhere() -> None:
    text = (
        PRELUDE
        + ONE % "box"
        + "stream flow for each host { traffic 1 packet/s; at host { work } }\n"
        "measure m = lambert_w(N)\nrequire { m <= 2 }"
    )
    # W(x) = 2 at x = 2 e^2 = 14.78
    assert solve(lowered(text)).capacity == int(2 * e**2) == 14


def _jitter(graph: LoadGraph, stream: str, population: int) -> Fraction:
    parts = graph.streams[stream].jitter
    assert len({part.resource for part in parts}) == len(parts)
    return sum((at(graph, part.value, population) for part in parts), Fraction(0))
