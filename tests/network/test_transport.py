"""Transport: queues of bounded length, recovery of what is lost, priorities of elastic rates."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.answers import answer_of
from helpers.breakdowns import explain
from helpers.nightly import examples
from helpers.specs import PRELUDE, at, checked, latency, load, lowered
from oracles.plain_model import plain_measure
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.reports.text.solutions.answer_text import solve_text
from qps.solver.answers.graph_solution import solve

law = settings(max_examples=examples(40), deadline=None)

PARTS = """
network bad { rate 1 Mbit/s; loss 10 % }
network worse { rate 1 Mbit/s; loss 50 % }
component half { keep 50 % }
component thin { drop 20 % }
component double { emit 2 }
component once { emit 1/2 }
component hold { queue 6 packet }
component heap { queue 1 kB }
component mend { recover 80 % }
component work_mend { cpu 10 ms/packet; recover 80 % }
"""
ONE = "topology { node host = box }\n"
MANY = "topology { node host = box * N\n link lan = wire between host }\n"
WAY = "topology { node web = box\n node user = box * N\n link net = %s between web, user }\n"
FAR = "topology { node web = box\n node user = box * N\n link trunk = bad between web\n link edge = worse between trunk, user }\n"


# -- queues --------------------------------------------------------------------------------

# name, spec, population, the time that all full queues hold
QUEUES = [
    ("none", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { work } }", 1, "0"),
    ("of_items", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { hold } }", 1, "6/5"),
    ("of_bytes", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { heap } }", 1, "2"),
    ("two_add_up", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { hold; heap } }", 1, "16/5"),
    ("charged_twice_it_is_one_queue", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { hold * 2 } }", 1, "6/5"),
    # half of the packets come: they are held for twice as long
    ("of_what_comes", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { half; hold; heap } }", 1, "32/5"),
    ("before_what_changes_it", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { hold; half } }", 1, "6/5"),
    # twice the bytes in as many packets
    ("of_larger_items", ONE + "stream flow { traffic 5 packet/s, 100 byte/packet; at host { double; hold; heap } }", 1, "11/5"),
    # each of N flows has a queue of its own
    ("one_for_each_flow", ONE + "stream flow for each host { traffic 5 packet/s, 100 byte/packet; at host { hold } }", 1, "6/5"),
    ("at_both_ends", WAY % "wire" + "stream flow for each user { traffic 5 packet/s, 100 byte/packet; at web { hold }\n at user { heap } }", 7, "16/5"),
    # a tenth is lost before the second one
    ("behind_a_loss", WAY % "bad" + "stream flow for each user { traffic 5 packet/s, 100 byte/packet; at web { hold }\n at user { hold } }", 3, "38/15"),
    ("by_the_population", ONE + "component grow { queue N * 1 packet }\nstream flow { traffic 5 packet/s; at host { grow } }", 20, "4"),
    ("by_an_argument", ONE + "component some(n) { queue n }\nstream flow { traffic 5 packet/s; at host { some(2 packet); some(8 packet) } }", 1, "2"),
    ("where_its_condition_holds", ONE + "option long = on\nstream flow { traffic 5 packet/s; at host { hold if long; hold if not long } }", 1, "6/5"),
    ("of_length_zero", ONE + "component none { queue 0 packet }\nstream flow { traffic 5 packet/s; at host { none } }", 1, "0"),
    # what is left for each of N users is 100/N packet/s
    ("of_an_elastic_rate", ONE + "param x elastic 1..30 packet/s\ncomponent all { queue 60 packet }\nstream flow { traffic N * x; at host { all; work } }", 50, "3/5"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "population", "time"), [pytest.param(*case[1:], id=case[0]) for case in QUEUES]
)
def test_full_queues_hold_their_items_at_the_rate_of_their_place(
    spec: str, population: int, time: str
) -> None:
    graph = lowered(PRELUDE + PARTS + spec + "\nmeasure full = flow.max_wait")
    assert at(graph, graph.measures["full"].value, population) == Fraction(time)


def test_a_queue_adds_no_latency_load_or_loss() -> None:
    spec = PRELUDE + PARTS + WAY % "bad" + (
        "stream flow for each user { traffic 5 packet/s, 100 byte/packet\n at web { work%s }\n"
        " at user { %swork } }"
    )  # fmt: skip
    with_queues = lowered(spec.replace("%s", "; hold", 1).replace("%s", "heap; "))
    without = lowered(spec.replace("%s", ""))
    assert latency(with_queues, "flow", 9) == latency(without, "flow", 9)
    assert with_queues.streams["flow"].loss == without.streams["flow"].loss
    for name in ("web.cpu", "user.cpu", "net"):
        assert load(with_queues, name, 9) == load(without, name, 9)


def test_the_latency_that_queues_admit_can_be_required() -> None:
    # one more user brings 0.2 s of queue; 20 of them 4 s
    solution = solve(
        lowered(
            PRELUDE + ONE + "component grow { queue N * 1 packet }\n"
            "stream flow { traffic 5 packet/s; at host { grow; work } }\n"
            "require { flow.latency + flow.max_wait <= 4.01 s; flow.max_wait <= 10 s }\nquality worst"
        )
    )
    assert solution.capacity == 20


def test_a_playout_buffer_may_be_as_long_as_the_queues() -> None:
    graph = lowered(
        PRELUDE + PARTS + ONE + "stream flow { traffic 5 packet/s; at host { hold; work }\n"
        " playout 2 * flow.max_wait }"
    )
    assert at(graph, graph.streams["flow"].buffer, 1) == Fraction("2.4")
    assert latency(graph, "flow", 1) == Fraction("2.41")


def test_queues_are_explained_place_by_place() -> None:
    graph = lowered(
        PRELUDE + PARTS + WAY % "bad" + "stream flow for each user {\n"
        " traffic 5 packet/s, 100 byte/packet; at web { hold }\n at user { heap } }"
    )
    explanation = explain(graph, "flow.max_wait", 4)
    assert [(part.name, part.value) for part in explanation.parts] == [
        ("hold at web", "1.2 s"),
        ("heap at user", "2.222 s"),
    ]
    assert explanation.value == pytest.approx(1.2 + 2 / 0.9)


@law
@given(
    st.integers(0, 500), st.integers(1, 200), st.integers(0, 99), st.integers(1, 9), st.integers(1, 60)
)  # fmt: skip
def test_a_queue_twice_as_long_admits_twice_the_time(
    length: int, pace: int, lost: int, times: int, population: int
) -> None:
    def full(packets: int) -> Fraction:
        graph = lowered(
            PRELUDE + f"network drops {{ rate 1 Gbit/s; loss {lost} % }}\n"
            f"component hold {{ queue {packets} packet }}\n" + WAY % "drops"
            + f"stream flow for each user {{ traffic {pace} packet/s, 100 byte/packet\n"
            " at web { hold }\n at user { hold } }"
        )  # fmt: skip
        return at(graph, graph.streams["flow"].max_wait, population)

    once = full(length)
    assert full(length * times) == once * times
    # nothing shorter fills them: the packets that come in that time are the length
    assert once * pace == length * (1 + 1 / (1 - Fraction(lost, 100)))


# -- recovery ------------------------------------------------------------------------------

# name, spec, transmission loss, voluntary loss, rate that arrives, load of user.cpu
RECOVERED = [
    ("nothing_recovered", WAY % "bad", "work", "work", "0.1", "0", "9", "0.09"),
    ("most_of_it", WAY % "bad", "work", "mend; work", "0.02", "0", "9.8", "0.098"),
    ("after_the_work", WAY % "bad", "work", "work; mend", "0.02", "0", "9.8", "0.09"),
    # what a component costs is for what reaches it
    ("by_the_worker_itself", WAY % "bad", "work", "work_mend", "0.02", "0", "9.8", "0.09"),
    ("nothing_was_lost", WAY % "wire", "work", "mend; work", "0", "0", "10", "0.1"),
    ("twice", WAY % "bad", "work", "mend; mend; work", "0.004", "0", "9.96", "0.0996"),
    # on two links 55 % is lost
    ("of_both_links", FAR, "work", "mend; work", "0.11", "0", "8.9", "0.089"),
    # what is given up stays given up, whether before or after
    ("dropped_before", WAY % "bad", "thin", "mend; work", "0.02", "0.2", "7.84", "0.0784"),
    ("dropped_after", WAY % "bad", "work", "thin; mend; work", "0.02", "0.2", "7.84", "0.0784"),
    ("sent_twice", WAY % "bad", "double", "mend; once; work", "0.02", "0", "9.8", "0.098"),
    ("if_it_is_on", WAY % "bad" + "option fec = on\n", "work", "mend if fec; work", "0.02", "0", "9.8", "0.098"),
    ("if_it_is_off", WAY % "bad" + "option fec = on\n", "work", "mend if not fec; work", "0.1", "0", "9", "0.09"),
]  # fmt: skip


def _recovering(spec: str, first: str, last: str) -> str:
    return PRELUDE + PARTS + spec + (
        "stream flow for each user { traffic 10 packet/s, 100 byte/packet\n"
        f" at web {{ {first} }}\n at user {{ {last} }} }}\n"
        "measure a = flow.transmission_loss\nmeasure b = flow.voluntary_loss\n"
        "measure c = flow.rate\nmeasure d = flow.loss"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "first", "last", "transmission", "voluntary", "rate", "loaded"),
    [pytest.param(*case[1:], id=case[0]) for case in RECOVERED],
)
def test_recovery(
    spec: str, first: str, last: str, transmission: str, voluntary: str, rate: str, loaded: str
) -> None:
    text = _recovering(spec, first, last)
    graph = lowered(text)
    by_name = {name: at(graph, m.value, 4) for name, m in graph.measures.items()}
    assert by_name["a"] == Fraction(transmission)
    assert by_name["b"] == Fraction(voluntary)
    assert by_name["c"] == Fraction(rate)
    assert by_name["d"] == 1 - (1 - by_name["a"]) * (1 - by_name["b"])
    assert load(graph, "user.cpu", 4) == Fraction(loaded)
    # the oracle, which knows no formulas, says the same
    loaded_spec = checked(text)
    configuration = loaded_spec.configuration(None, ())
    for measure in loaded_spec.model.measures:
        if measure.name != "b":
            value = plain_measure(loaded_spec.model, configuration, measure.value.expr, 4)
            assert value == by_name[measure.name]


def test_what_is_sent_twice_loads_the_link_twice() -> None:
    plain = lowered(_recovering(WAY % "bad", "work", "work"))
    redundant = lowered(_recovering(WAY % "bad", "work; double", "mend; once; work"))
    assert load(redundant, "net", 4) == 2 * load(plain, "net", 4)
    throughput = [at(g, g.streams["flow"].throughput, 4) for g in (plain, redundant)]
    assert throughput == [9 * 800, Fraction("9.8") * 800]


def test_recovery_stands_in_the_loss_budget() -> None:
    graph = lowered(_recovering(WAY % "bad", "work", "mend; work"))
    explanation = explain(graph, "flow.transmission_loss", 4)
    # of 90 that reach it, it makes 98
    assert [(part.name, part.value) for part in explanation.parts] == [
        ("lost on net", "10 %"),
        ("recovered by mend", "-8.889 %"),
    ]
    assert explanation.value == pytest.approx(0.02)
    assert ("formula", "net.loss*(1 - mend.recover)") in explanation.formulas


def test_saturation_is_not_recovered() -> None:
    graph = lowered(_recovering(WAY % "bad", "work", "mend; work"))
    flow = graph.streams["flow"]
    # 20 users ask 2 s of a second
    assert at(graph, flow.lost_by(LossKind.SATURATION), 20) == Fraction(1, 2)
    assert at(graph, flow.loss, 20) == 1 - Fraction("0.98") / 2


SHARES = st.integers(0, 100)


@law
@given(SHARES, SHARES, *[st.integers(0, 99)] * 3, st.integers(1, 80))
def test_more_recovery_never_loses_more(
    one: int, two: int, first: int, second: int, drop: int, population: int
) -> None:
    def lost(share: int) -> tuple[Fraction, Fraction]:
        text = (
            PRELUDE + f"network a {{ rate 1 Mbit/s; loss {first} % }}\n"
            f"network b {{ rate 1 Mbit/s; loss {second} % }}\n"
            f"component mend {{ recover {share} % }}\ncomponent thin {{ drop {drop} % }}\n"
            "topology { node web = box\n node user = box * N\n"
            " link trunk = a between web\n link edge = b between trunk, user }\n"
            "stream flow for each user { traffic 5 packet/s, 100 byte/packet\n"
            " at web { work }\n at user { thin; mend; work } }\n"
            "measure sent = flow.transmission_loss\nmeasure all = flow.loss"
        )  # fmt: skip
        graph = lowered(text)
        spec = checked(text)
        sent, whole = (at(graph, m.value, population) for m in graph.measures.values())
        plain = [
            plain_measure(spec.model, spec.configuration(None, ()), m.value.expr, population)
            for m in spec.model.measures
        ]
        assert [sent, whole] == plain
        return sent, whole

    less, more = lost(min(one, two)), lost(max(one, two))
    without = 1 - (1 - Fraction(first, 100)) * (1 - Fraction(second, 100))
    assert 0 <= more[0] <= less[0] <= without
    assert less[0] == without * (1 - Fraction(min(one, two), 100))
    # what is recovered is asked of the processor: where that is full, it is lost again
    assert more[1] <= less[1] <= 1


# -- priorities ----------------------------------------------------------------------------

RATES = """
param a elastic 1..20 packet/s%s
param b elastic 1..20 packet/s%s
param c elastic 1..20 packet/s%s
"""
# N users at 10 ms for each packet: 100/N packet/s are left, at 4 users 25
SHARED = ONE + "".join(
    f"stream s{x} {{ traffic N * {x}; at host {{ work }} }}\n" for x in ("a", "b", "c")
)


def _values(graph: LoadGraph, population: int) -> dict[str, Fraction]:
    return {s.parameter.name: at(graph, s.value, population) for s in graph.elastic}


@pytest.mark.parametrize(
    ("priorities", "order", "at_four"),
    [
        pytest.param(("", "", ""), "abc", (20, 4, 1), id="of_declaration"),
        pytest.param((" priority 3", " priority 2", " priority 1"), "cba", (1, 4, 20), id="turned_round"),
        pytest.param((" priority 2", " priority 3", " priority 1"), "cab", (4, 1, 20), id="mixed"),
        pytest.param(("", " priority 5", ""), "bac", (4, 20, 1), id="one_before_those_without"),
        pytest.param((" priority 1", " priority 1", ""), "abc", (20, 4, 1), id="equal_ones"),
        pytest.param((" priority 2", "", " priority 10"), "acb", (20, 1, 4), id="as_numbers"),
    ],
)  # fmt: skip
def test_the_first_is_served_first(
    priorities: tuple[str, ...], order: str, at_four: tuple[int, ...]
) -> None:
    graph = lowered(PRELUDE + RATES % priorities + SHARED)
    assert "".join(s.parameter.name for s in graph.elastic) == order
    assert _values(graph, 4) == dict(zip("abc", at_four, strict=True))
    assert load(graph, "host.cpu", 4) == 1
    # while there is enough, each has its most
    assert set(_values(graph, 1).values()) == {20}


def test_a_priority_may_be_a_parameter_that_a_scenario_changes() -> None:
    text = PRELUDE + "param rank = 1\nparam a elastic 1..20 packet/s priority 2\n" + (
        "param b elastic 1..20 packet/s priority rank\n" + ONE
        + "stream sa { traffic N * a; at host { work } }\nstream sb { traffic N * b; at host { work } }\n"
        "scenario turned { rank = 3 }"
    )  # fmt: skip
    assert _values(lowered(text), 4) == {"b": 20, "a": 5}
    graph = lowered(text, "rank = 3")
    assert _values(graph, 4) == {"a": 20, "b": 5}
    assert "rank" in graph.basis.decided
    with pytest.raises(QpsError):
        lowered(text, "rank = 1/2")


# the budget of a line of 1 Mbit/s: 1250 packets of 100 byte in a second, and what video leaves
BUDGET = (
    PRELUDE
    + """
param video elastic 10..100 packet/s priority 3
param audio elastic 5..20 packet/s priority 2
param tool  elastic 1..10 packet/s priority 1
network lines { duplex; rate 1 Mbit/s }
topology { node hub = box * 100
 node site = box * N
 link line = lines between hub, site
}
stream seen for each site { traffic video, 100 byte/packet; at hub { } over line; at site { } }
stream heard for each site { traffic audio, 100 byte/packet; at hub { } over line; at site { } }
stream used for each site { traffic tool, 100 byte/packet; at hub { } over line; at site { } }
""".replace("at hub { } over", "at hub { }\n over")
)


@pytest.mark.parametrize(
    ("population", "video", "audio", "tool"),
    [
        (9, "100", "20", "10"),
        # 1250 / 10 - 30 = 95 are left for video
        (10, "95", "20", "10"),
        (31, "320/31", "20", "10"),  # 1250 / 31 - 30
        # video has its least: 1250 / 40 - 20 for audio
        (40, "10", "45/4", "10"),
        # then tools give way: 1250 / 60 - 15
        (60, "10", "5", "35/6"),
        (78, "10", "5", "40/39"),
        (79, "10", "5", "1"),
    ],
)
def test_a_short_budget_takes_from_the_last_first(
    population: int, video: str, audio: str, tool: str
) -> None:
    graph = lowered(BUDGET)
    found = _values(graph, population)
    assert [str(found[name]) for name in ("video", "audio", "tool")] == [video, audio, tool]
    assert load(graph, "line.forth", population) <= (1 if population < 79 else Fraction("1.02"))


def test_a_budget_may_be_less_than_the_line() -> None:
    graph = lowered(BUDGET + "require { line.load <= 60 % }")
    # 750 / 10 - 30
    assert _values(graph, 10) == {"tool": 10, "audio": 20, "video": 45}
    assert load(graph, "line.forth", 10) == Fraction("0.6")


def test_solve_states_what_was_lowered_and_with_which_priority() -> None:
    spec = checked(BUDGET + "require { used.rate >= 10 packet/s }")
    graph = lowered(BUDGET + "require { used.rate >= 10 packet/s }")
    solution = solve(graph)
    # audio gives way up to 1250 / 25
    assert solution.capacity == 50
    answer = answer_of(spec)
    assert [(e.name, e.priority, e.is_lowered) for e in answer.elastic] == [
        ("tool", 1, False),
        ("audio", 2, True),
        ("video", 3, True),
    ]
    text = " ".join(solve_text(answer, "").split())
    assert "Elastic video (priority 3) is 10 packets/s at 50 users" in text


@law
@given(
    st.permutations([1, 2, 3]), st.tuples(*[st.integers(1, 30)] * 3), st.tuples(*[st.integers(0, 40)] * 3), st.integers(1, 100)
)  # fmt: skip
def test_nobody_gets_more_than_the_least_while_one_before_lacks_something(
    ranks: list[int], least: tuple[int, ...], more: tuple[int, ...], population: int
) -> None:
    params = "".join(
        f"param {x} elastic {low}..{low + extra} packet/s priority {rank}\n"
        for x, low, extra, rank in zip("abc", least, more, ranks, strict=True)
    )
    graph = lowered(PRELUDE + params + SHARED)
    values = _values(graph, population)
    ranked = [x for _, x in sorted(zip(ranks, "abc", strict=True))]
    lowest = dict(zip("abc", least, strict=True))
    most = {x: lowest[x] + extra for x, extra in zip("abc", more, strict=True)}
    assert [s.parameter.name for s in graph.elastic] == ranked
    left = Fraction(100, population) - sum(lowest.values())
    for x in ranked:
        # each takes of what is left over the least of all, as much as it may
        given_ = min(Fraction(most[x] - lowest[x]), max(Fraction(0), left))
        assert values[x] == lowest[x] + given_
        left -= given_
