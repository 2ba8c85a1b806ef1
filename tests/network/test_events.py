"""Events: drawn once for an item, so that all that asks for one of them agrees."""

from __future__ import annotations

from fractions import Fraction
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.specs import load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network.event_outcomes import with_event_alternatives
from qps.compiler.network.itinerary import Call, Fork, Serve
from qps.compiler.network.passages import passages
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind

SPEC = """users N in 1..1000
param hits = 85 %% in 0..100 %%
machine box { cpu 1 core, queueing %s }
unit thread
machine idle { threads 50 thread }
network lan { propagation 0 s }
component get { cpu 20 us/request }
component scan { cpu 31 ms/request }
component log { cpu 1 ms/request }
component quick { delay 1 ms }
component slow { delay 1 s }
component away { delay 100 ms }
topology { node a, b, c = box; node leaf, far = idle; link net = lan between all }
stream asks for each user { traffic 1 request/s, 100 byte/request; %s; at %s { %s } }
require { asks.latency <= 1 hour }
"""


def text(
    steps: str, *, at: str = "leaf", queueing: str = "md1", events: str = "event hit = hits"
) -> str:
    return SPEC % (queueing, events, at, steps)


def graph(
    steps: str, *, at: str = "leaf", queueing: str = "md1", events: str = "event hit = hits"
) -> LoadGraph:
    return lowered(text(steps, at=at, queueing=queueing, events=events))


def quantile(of: LoadGraph, level: str, users: int = 1) -> float:
    return float(of.at(users).number(of.streams["asks"].latency_quantile(Fraction(level))))


def mean(of: LoadGraph, users: int = 1) -> float:
    return float(of.at(users).number(of.streams["asks"].mean_latency))


def outcomes(of: LoadGraph) -> dict[str, list[str]]:
    """Return what is done at stations for each outcome of events, in order."""
    found: dict[str, list[str]] = {}
    for passage in passages(of.network.classes["asks"]):
        inside = [one for call in passage.calls for one in call.events]
        node = passage.node
        if isinstance(node, Call):
            inside += node.events
        key = " and ".join(one.words for one in inside)
        if isinstance(node, Serve):
            found.setdefault(key, []).append(node.by)
        elif isinstance(node, Call) and node.events:
            found.setdefault(key, [])
    return found


@pytest.mark.parametrize("level", ["1/100", "1/5", "4/5", "9999/10000"])
def test_each_item_does_one_of_two_steps_apart(level: str) -> None:
    """Drawn each by itself, 13 % would do both, and 13 % none."""
    of = graph("hit: away; call far { quick }; not hit: away")
    assert quantile(of, level) == pytest.approx(0.101, rel=1e-9)
    assert of.streams["asks"].quantile_certainty(Fraction(level)).kind is CertaintyKind.EXACT


def test_what_asks_for_one_event_is_done_together_or_not() -> None:
    of = graph("hit: slow; quick; hit: slow; hit: slow", events="event hit = 10 %")
    found = [quantile(of, level) for level in ("1/10", "89/100", "91/100", "999/1000")]
    assert found == pytest.approx([1e-3, 1e-3, 3.001, 3.001], rel=1e-9)


def test_calls_of_one_event_are_made_by_the_same_items() -> None:
    """M/M/1 twice, behind each other, for a fifth of the items: an Erlang time, or none."""
    steps = "hit: call b { log }; quick; hit: call c { log }"
    of = graph(steps, queueing="mm1", events="event hit = 20 %")
    rate = (1 - 0.2 * 1e-3) / 1e-3
    time = quantile(of, "95/100") - 1e-3
    assert 0.2 * exp(-rate * time) * (1 + rate * time) == pytest.approx(0.05, rel=1e-5)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("get; hit: log; not hit: scan", {"hit": ["get", "log"], "not hit": ["get", "scan"]}),
        ("hit: log; get", {"hit": ["log", "get"], "not hit": ["get"]}),
        ("get; hit: log; get; hit: log", {"hit": ["get", "log", "get", "log"],
                                          "not hit": ["get", "get"]}),
        ("one of { hit: log; else: scan }", {"hit": ["log"], "not hit": ["scan"]}),
        ("one of { not hit: log; hit: scan }", {"hit": ["scan"], "not hit": ["log"]}),
        ("hit: { log; call b { scan }; log }; get", {"hit": ["log", "scan", "log", "get"],
                                                     "not hit": ["get"]}),
        ("hit: log; call b { hit: scan; get }", {"hit": ["log", "scan", "get"],
                                                 "not hit": ["get"]}),
        ("call b { hit: scan; get }", {"hit": ["scan", "get"], "not hit": ["get"]}),
        ("together { call b { hit: scan }; call c { not hit: log; get } }; get",
         {"hit": ["scan", "get"], "not hit": ["log", "get"], "": ["get"]}),
        ("3 %: scan; hit: log; get; not hit: scan",
         {"hit": ["scan", "log", "get", "log", "get"],
          "not hit": ["scan", "get", "scan", "get", "scan"]}),
    ],
)  # fmt: skip
def test_an_event_is_decided_before_it_is_tested(
    steps: str, expected: dict[str, list[str]]
) -> None:
    assert outcomes(graph(steps, at="a")) == expected


def test_events_within_each_other() -> None:
    events = "event hit = hits; event prime = 10 %"
    of = graph("get; hit: log; prime: scan; not prime: get; not hit: log", at="a", events=events)
    assert sorted(outcomes(of)) == [
        "hit and not prime", "hit and prime", "not hit and not prime", "not hit and prime",
    ]  # fmt: skip
    crossing = graph("hit: away; prime: slow; hit: quick; not prime: quick", events=events)
    found = [quantile(crossing, f"{level}/100") for level in (13, 14, 85, 91, 92)]
    assert found == pytest.approx([1e-3, 0.102, 0.102, 1.0, 1.101], rel=1e-9)


def test_loads_are_those_of_the_shares() -> None:
    of = graph("get; hit: log; call b { not hit: log }; not hit: scan", at="a", queueing="mm1")
    assert float(load(of, "a.cpu", 10)) == pytest.approx(
        10 * (20e-6 + 0.85 * 1e-3 + 0.15 * 31e-3), rel=1e-12
    )
    assert float(load(of, "b.cpu", 10)) == pytest.approx(10 * 0.15 * 1e-3, rel=1e-12)


def test_what_is_held_across_an_event_is_held_in_each_outcome() -> None:
    steps = "hit: away; take threads; not hit: away; quick; give threads; quick"
    of = graph(steps)
    assert float(load(of, "leaf.threads", 10)) == pytest.approx(
        10 * (1e-3 + 0.15 * 0.1) / 50, rel=1e-9
    )
    assert mean(of) == pytest.approx(0.102, rel=1e-9)
    assert [quantile(of, level) for level in ("1/100", "99/100")] == pytest.approx([0.102] * 2)


def test_an_event_is_tested_at_several_nodes_of_the_path() -> None:
    first = "at far { not hit: away }; over net; at leaf {"
    written = text("hit: away").replace("at leaf {", first)
    of = lowered(written)
    assert quantile(of, "1/100") == quantile(of, "99/100") == pytest.approx(0.1, rel=1e-9)


def test_users_who_wait_for_answers_draw_events_too() -> None:
    steps = "hit: call b { log }; not hit: call c { log }; hit: call b { log }"
    written = text(steps, queueing="mm1").replace(
        "traffic 1 request/s, 100 byte/request", "traffic 1 request, 100 byte/request, think 1 s"
    )
    of = lowered(written)
    assert mean(of) == pytest.approx(0.85 * 2e-3 + 0.15 * 1e-3, rel=1e-6)


# -- laws ------------------------------------------------------------------------------------

_STEPS = ("quick", "away", "call far { quick }", "call far { away; quick }", "slow")


@st.composite
def _written(draw: st.DrawFn) -> list[tuple[str, str]]:
    step = st.tuples(st.sampled_from(["", "hit", "not hit"]), st.sampled_from(_STEPS))
    return draw(st.lists(step, min_size=2, max_size=6).filter(lambda some: any(o for o, _ in some)))


def _spec(steps: list[tuple[str, str]]) -> str:
    return "; ".join(f"{outcome}: {step}" if outcome else step for outcome, step in steps)


def _only(steps: list[tuple[str, str]], outcome: str) -> float:
    """Return how long it takes what is done where an event has an outcome."""
    took = {"quick": 1e-3, "away": 0.1, "slow": 1.0}
    return sum(
        sum(time for word, time in took.items() if word in step)
        for options, step in steps
        if options in ("", outcome)
    )


@given(steps=_written(), share=st.sampled_from([0, 1]))
def test_an_event_that_is_sure_is_as_if_it_were_not_there(
    steps: list[tuple[str, str]], share: int
) -> None:
    of = graph(_spec(steps), events=f"event hit = {share}")
    expected = _only(steps, "hit" if share else "not hit")
    assert mean(of) == pytest.approx(expected, rel=1e-9)
    assert quantile(of, "1/2") == pytest.approx(expected, rel=1e-9)


@given(steps=_written(), percent=st.integers(1, 99))
def test_a_latency_is_the_mixture_of_its_outcomes(
    steps: list[tuple[str, str]], percent: int
) -> None:
    """No queue: each outcome takes a time of its own, as often as the event comes out so."""
    of = graph(_spec(steps), events=f"event hit = {percent} %")
    share = percent / 100
    happens, not_ = _only(steps, "hit"), _only(steps, "not hit")
    assert mean(of) == pytest.approx(share * happens + (1 - share) * not_, rel=1e-9)
    (low, often), (high, _) = sorted([(happens, percent), (not_, 100 - percent)])
    for level, expected in ((2 * often - 1, low), (2 * often + 1, high)):
        assert quantile(of, f"{level}/200") == pytest.approx(expected, rel=1e-9)


# -- bad input -------------------------------------------------------------------------------


def codes(written: str) -> list[str]:
    found = check_source(Source("spec.qps", written)).diagnostics
    return [one.code.id for one in found if one.code.id not in ("QPS0501", "QPS0503")]


@pytest.mark.parametrize(
    ("steps", "events", "code"),
    [
        ("hit: quick", "event hit = 120 %", "QPS0409"),
        ("hit: quick", "event hit = 2 * hits", "QPS0409"),
        ("not miss: quick; hit: quick", "event hit = hits", "QPS0415"),
        ("not hits: quick; hit: quick", "event hit = hits", "QPS0415"),
        ("(1 - hit): quick; hit: quick", "event hit = hits", "QPS0415"),
        ("call far * hit { quick }", "event hit = hits", "QPS0415"),
        ("misses: quick; hit: quick", "event hit = hits", "QPS0201"),
        ("hit: quick", "event hit = hits; event hit = 3 %", "QPS0202"),
        ("hits: quick", "event hits = 30 %", "QPS0202"),
        ("quick", "event hit = hits", "QPS0502"),
        ("one of { hit: quick; 10 %: slow; else: away }", "event hit = hits", "QPS0416"),
        ("one of { 10 %: slow; hit: quick }", "event hit = hits", "QPS0416"),
        ("one of { hit: slow; prime: quick }", "event hit = hits; event prime = 1 %", "QPS0416"),
        ("one of { hit: slow; not hit: away; else: quick }", "event hit = hits", "QPS0416"),
        ("hit: { not hit: quick }", "event hit = hits", "QPS0211"),
        ("hit: quick", "event hit = hits for each user", "QPS0417"),
        ("hit: { }", "event hit = hits", "QPS0412"),
        ("hit: quick", "event hit = 3 ms", "QPS0302"),
    ],
)
def test_a_wrong_event_has_its_own_code(steps: str, events: str, code: str) -> None:
    found = [one for one in codes(text(steps, events=events)) if one != "QPS0502"]
    assert (found or codes(text(steps, events=events)))[:1] == [code]


def test_an_event_belongs_to_one_stream() -> None:
    other = "stream more for each user { traffic 1 request/s; at leaf { hit: quick } }\nrequire"
    assert codes(text("hit: quick").replace("require", other)) == ["QPS0415"]


def test_too_many_outcomes_are_refused() -> None:
    names = [f"e{number}" for number in range(7)]
    steps = "; ".join([*(f"{one}: away" for one in names), *(f"{one}: quick" for one in names)])
    with pytest.raises(QpsError) as refused:
        graph(steps, events="; ".join(f"event {one} = 10 %" for one in names))
    assert [one.code.id for one in refused.value.diagnostics] == ["QPS0413"]


def test_an_itinerary_without_events_stays_as_it_is() -> None:
    of = graph("hits: quick; slow", events="priority 1").network.classes["asks"].itinerary
    assert with_event_alternatives(of, "asks", {}).itinerary is of


def test_an_event_is_one_draw_for_calls_that_are_repeated() -> None:
    """Of 85 of 100 items each of three calls takes 101 ms, of the others each takes 1 ms."""
    of = graph("call far * 3 { hit: away; quick }")
    found = [quantile(of, level) for level in ("1/100", "14/100", "16/100", "99/100")]
    assert found == pytest.approx([3e-3] * 2 + [0.303] * 2, rel=1e-9)
    assert of.streams["asks"].quantile_certainty(Fraction(1, 2)).kind is CertaintyKind.EXACT


def test_an_event_is_decided_before_calls_that_are_made_at_once() -> None:
    of = graph("together 6 { call far { hit: away; quick } }").network.classes["asks"].itinerary
    decided = [node for node in of.nodes if isinstance(node, Call)]
    assert [[one.happens for one in call.events] for call in decided] == [[True], [False]]
    assert all(any(isinstance(node, Fork) for node in call.body.nodes) for call in decided)


def test_an_event_of_a_probabilistic_call_is_tested_where_the_call_is_made() -> None:
    of = graph("call far * 20 % { hit: away }").network.classes["asks"].itinerary
    (call,) = [node for node in of.nodes if isinstance(node, Call)]
    assert call.node == "far"
