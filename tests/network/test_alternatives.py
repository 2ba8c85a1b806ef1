"""What is done by chance, and one of several alternatives: one visit, one draw, one law."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest

from helpers.specs import load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network.itinerary import Call, Serve
from qps.compiler.network.passages import passages
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind

SPEC = """users N in 1..1000
param hits = 85 %% in 0..100 %%
machine box { cpu 1 core, queueing %s }
machine idle { }
network lan { propagation 0 s }
component get { cpu 20 us/request }
component scan { cpu 31 ms/request }
component log { cpu 1 ms/request }
component quick { delay 1 ms }
component slow { delay 1 s }
component away { delay 100 ms }
topology { node a, b, c = box; node leaf = idle; link net = lan between all }
stream asks for each user { traffic 1 request/s, 100 byte/request; at %s { %s } }
require { asks.latency <= 1 hour }
"""


def graph(steps: str, *, at: str = "a", queueing: str = "md1") -> LoadGraph:
    return lowered(SPEC % (queueing, at, steps))


def quantile(of: LoadGraph, level: str, users: int = 1) -> float:
    return float(of.at(users).number(of.streams["asks"].latency_quantile(Fraction(level))))


def mean(of: LoadGraph, users: int = 1) -> float:
    return float(of.at(users).number(of.streams["asks"].mean_latency))


def alternatives(of: LoadGraph) -> list[list[str]]:
    """Return what the alternatives of a stream do at stations, in order."""
    found: dict[int, list[str]] = {}
    for passage in passages(of.network.classes["asks"]):
        if isinstance(passage.node, Call) and passage.node.choice is not None:
            found[passage.node.number] = []
        elif isinstance(passage.node, Serve):
            for call in passage.calls:
                if call.choice is not None:
                    found[call.number].append(passage.node.by)
    return list(found.values())


def test_one_in_a_hundred_is_slow() -> None:
    of = graph("quick; 1 %: slow", at="leaf")
    found = [quantile(of, level) for level in ("1/2", "989/1000", "199/200")]
    assert found == pytest.approx([1e-3, 1e-3, 1.001], rel=1e-12)
    assert of.streams["asks"].quantile_certainty(Fraction(199, 200)).kind is CertaintyKind.EXACT


@pytest.mark.parametrize("level", ["1/100", "1/5", "4/5", "9999/10000"])
def test_each_request_goes_to_one_of_two_regions(level: str) -> None:
    """As coins, a quarter would make neither call, and a quarter both."""
    of = graph("one of { 50 %: call b { away }; else: call c { away } }", at="leaf")
    assert quantile(of, level) == pytest.approx(0.1, rel=1e-9)
    assert of.streams["asks"].quantile_certainty(Fraction(level)).kind is CertaintyKind.EXACT


@pytest.mark.parametrize("level", ["1/2", "99/100"])
def test_one_of_two_equal_queues_is_one_of_them(level: str) -> None:
    """M/M/1 with half of the arrivals: the time in it is exponential."""
    of = graph("one of { 50 %: call b { log }; else: call c { log } }", queueing="mm1", at="leaf")
    busy = 300 / 2 * 1e-3
    expected = -log(1 - float(Fraction(level))) * 1e-3 / (1 - busy)
    assert quantile(of, level, 300) == pytest.approx(expected, rel=1e-6)


def test_a_visit_goes_on_across_a_chance() -> None:
    """One wait, and a service that is a mixture: Pollaczek and Khinchine with its second moment."""
    of = graph("get; 3 %: scan")
    assert alternatives(of) == [["get", "scan"], ["get"]]
    users, both, alone = 500, 31.02e-3, 20e-6
    busy = users * (0.03 * both + 0.97 * alone)
    square = 0.03 * both**2 + 0.97 * alone**2
    wait = users * square / 2 / (1 - busy)
    mean = float(of.at(users).number(of.streams["asks"].mean_latency))
    assert mean == pytest.approx(wait + busy / users, rel=1e-12)


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("get; 3 %: scan; log", [["get", "scan", "log"], ["get", "log"]]),
        ("3 %: scan; log", [["scan", "log"], ["log"]]),
        ("one of { 3 %: scan; else: log }", [["scan"], ["log"]]),
        ("get; one of { 3 %: scan; else: log }", [["get", "scan"], ["get", "log"]]),
        (
            "3 %: scan; 5 %: log",
            [["scan", "log"], ["scan"], ["log"], []],
        ),
        # Elsewhere a visit ends: who comes back waits anew.
        ("get; 3 %: call b { scan }; log", [["scan"]]),
        ("get; 3 %: { call b { scan }; log }; get", [["scan", "log", "get"], ["get"]]),
        ("get; 3 %: { quick; scan }", [["scan"]]),
        ("one of { 3 %: { log; 50 %: scan }; else: get }", [["log", "scan"], ["log"], ["get"]]),
        ("get; 3 %: { 50 %: scan; log }", [["get", "scan", "log"], ["get", "log"], ["get"]]),
        ("3 %: { log; 50 %: scan }; get", [["log", "scan", "get"], ["log", "get"], ["get"]]),
    ],
)
def test_alternatives_are_whole_visits(steps: str, expected: list[list[str]]) -> None:
    found = alternatives(graph(steps))
    assert sorted(one for one in found if one or [] in expected) >= sorted(expected)


@pytest.mark.parametrize("runs", ["scan * 2.5", "scan; scan * 1.5", "scan * 2; 50 %: scan"])
def test_half_of_the_items_run_a_step_a_third_time(runs: str) -> None:
    """Two services or three, by Pollaczek and Khinchine with the second moment of the mixture."""
    of = graph(runs)
    users, long = 10, 31e-3
    busy = users * 2.5 * long
    wait = users * (4 + 9) / 2 * long**2 / 2 / (1 - busy)
    mean = float(of.at(users).number(of.streams["asks"].mean_latency))
    assert mean == pytest.approx(wait + 2.5 * long, rel=1e-12)


def test_a_parameter_may_say_how_often_a_step_runs() -> None:
    text = (SPEC % ("md1", "a", "scan * often")).replace(
        "param hits", "param often = 2.5 in 1..9\nparam hits"
    )
    of = lowered(text)
    assert float(load(of, "a.cpu", 2)) == pytest.approx(2 * 2.5 * 31e-3, rel=1e-12)
    assert alternatives(of) == [["scan", "scan"], ["scan"]]


def test_loads_are_those_of_the_shares() -> None:
    of = graph("get; one of { hits: log; else: { scan; call b { log } } }", queueing="mm1")
    found = float(load(of, "a.cpu", 10))
    assert found == pytest.approx(10 * (20e-6 + 0.85 * 1e-3 + 0.15 * 31e-3), rel=1e-12)


@pytest.mark.parametrize("hits", ["0 %", "100 %"])
def test_what_is_never_done_is_as_if_it_were_not_there(hits: str) -> None:
    text = SPEC % ("mm1", "a", "get; one of { hits: log; else: scan }")
    of = lowered(text.replace("hits = 85 %", f"hits = {hits}"))
    only = graph("get; log" if hits == "100 %" else "get; scan", queueing="mm1")
    for users in (1, 20):
        assert quantile(of, "99/100", users) == pytest.approx(
            quantile(only, "99/100", users), rel=1e-6
        )


def test_two_draws_by_the_same_chance_are_independent() -> None:
    of = graph("10 %: slow; quick; 10 %: slow", at="leaf")
    found = [quantile(of, level) for level in ("80/100", "82/100", "98/100", "995/1000")]
    assert found == pytest.approx([1e-3, 1.001, 1.001, 2.001], rel=1e-9)


def test_a_mixture_of_exponential_times() -> None:
    of = graph("one of { 30 %: call b { log }; else: call c { get } }", queueing="mm1", at="leaf")
    time = quantile(of, "99/100", 1)
    first, other = (1 - 1e-3 * 0.3) / 1e-3, (1 - 20e-6 * 0.7) / 20e-6
    assert 0.3 * exp(-first * time) + 0.7 * exp(-other * time) == pytest.approx(0.01, rel=1e-5)


def codes(steps: str) -> list[str]:
    found = check_source(Source("spec.qps", SPEC % ("md1", "a", steps))).diagnostics
    return [one.code.id for one in found if one.is_error]


@pytest.mark.parametrize(
    ("steps", "code"),
    [
        ("120 %: get", "QPS0409"),
        ("(2 * hits): get", "QPS0409"),
        ("one of { 70 %: get; 40 %: log }", "QPS0410"),
        ("one of { hits: get; hits: log; else: scan }", "QPS0410"),
        ("one of { else: get; 10 %: log }", "QPS0411"),
        ("one of { 10 %: log; else: get; else: scan }", "QPS0411"),
        ("10 %:", "QPS0412"),
        ("10 %: { }", "QPS0412"),
        ("one of { }", "QPS0412"),
        ("one of { 10 %: get; else: }", "QPS0412"),
        ("misses: get", "QPS0201"),
        ("10 %: { get to others }", "QPS0211"),
    ],
)
def test_a_wrong_alternative_has_its_own_code(steps: str, code: str) -> None:
    assert code in codes(steps)


def test_too_many_combinations_are_refused() -> None:
    with pytest.raises(QpsError) as refused:
        graph("; ".join(["50 %: get"] * 7))
    assert [one.code.id for one in refused.value.diagnostics] == ["QPS0413"]


def test_an_item_is_still_at_the_node_behind_runs_by_chance() -> None:
    """`get` runs twice or three times, then `log`, in one visit; behind the pause comes another."""
    of = graph("get * 2.5; log; away; get", queueing="ps")
    shares = [20e-6 * runs + 1e-3 for runs in (2, 3)]
    busy = 10 * (sum(shares) / 2 + 20e-6)
    served = (sum(shares) / 2 + 20e-6) / (1 - busy)
    assert mean(of, 10) == pytest.approx(served + 0.1, rel=1e-12)
    assert of.streams["asks"].latency_certainty.kind is CertaintyKind.EXACT
