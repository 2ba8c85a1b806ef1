"""Calls: a step that goes to another node and comes back, by a share, with sizes, together."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product
from math import floor, log
from random import Random
from statistics import fmean

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from helpers.breakdowns import explain
from helpers.nightly import examples
from helpers.specs import at, checked, latency, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import Kind
from qps.compiler.syntax.format import formatted
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.solver.what_if.inverse import solve_for

law = settings(max_examples=examples(60), deadline=None)

HARDWARE = """
users N in 1..100
machine pod { cpu 2 core%s }
network mesh { switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms%s }
component work(t) { cpu t }
component spill { drop 20 %% }
component wait { delay 3 ms }
topology {
  node client = pod * N
  node web = pod
  node db = pod
  node cache = pod
  node log = pod
  link edge = mesh between client, web
  link lan = mesh between web, db, cache, log
}
"""
STREAM = """stream shop for each client {
  traffic 1 request/s, 2 kB/request, 1448 byte/packet
  at client { }
  %s
  at client { }
}
"""


def spec(way: str, machine: str = "", network: str = "", more: str = "") -> str:
    return HARDWARE % (machine, network) + more + STREAM % way


def told(graph: LoadGraph) -> object:
    """Return all that a graph tells of loads and streams, formulas and all."""
    return (
        {name: (one.load, one.parts) for name, one in graph.resources.items()},
        {
            name: (
                [(p.stage, p.value, p.queue, p.is_work) for p in one.latency],
                [(p.stage, p.kind, p.value) for p in one.losses],
                [(p.resource, p.value) for p in one.jitter],
                (one.rate, one.throughput, one.latency_quantile(Fraction(99, 100))),
                (one.latency_certainty, one.quantile_certainty(Fraction(99, 100))),
            )
            for name, one in graph.streams.items()
        },
    )


# -- a call is a visit there and back ----------------------------------------------------------

VISITS = [
    ("at web { work(1 ms/request); call db { work(2 ms/request) } }",
     "at web { work(1 ms/request) } at db { work(2 ms/request) } at web { }"),
    ("at web { call db { work(2 ms/request) }; call cache { wait }; work(1 ms/request) }",
     "at web { } at db { work(2 ms/request) } at web { } at cache { wait } at web { } at web { work(1 ms/request) }"),
    ("at web { call db over lan { work(2 ms/request); call cache { work(1 ms/request) }; call log { } } }",
     "at web { } over lan at db { work(2 ms/request) } at cache { work(1 ms/request) } at db { } at log { } at db { } over lan at web { }"),
    ("at web { spill; call db { spill; work(2 ms/request) }; work(1 ms/packet) }",
     "at web { spill } at db { spill; work(2 ms/request) } at web { } at web { work(1 ms/packet) }"),
    ("at web { call db { work(2 ms/request) } if fast == no; work(1 ms/request) }",
     "at web { } at db { work(2 ms/request) } at web { } at web { work(1 ms/request) }"),
]  # fmt: skip


@pytest.mark.parametrize(("called", "visited"), VISITS)
@pytest.mark.parametrize("queueing", ["", ", queueing mmc", ", queueing mg1 cv 2"])
@pytest.mark.parametrize("network", ["", "; loss 1 %", "; queueing md1; jitter load * 1 ms^2"])
def test_a_plain_call_is_a_visit_there_and_back(
    called: str, visited: str, queueing: str, network: str
) -> None:
    called = called.replace(
        "{ work(2 ms/request) } if fast == no", "if fast == no { work(2 ms/request) }"
    )
    more = "option fast = no or yes\n"
    one = lowered(spec(called, queueing, network, more))
    other = lowered(
        spec(
            visited.replace("} at", "}\n  at")
            .replace("} over", "}\n  over")
            .replace("lan at", "lan\n  at"),
            queueing,
            network,
            more,
        )
    )
    assert told(one) == told(other)


def test_a_call_whose_condition_fails_is_not_there() -> None:
    way = "at web {{ work(1 ms/request); {}work(2 ms/request) }}"
    call = "call db if fast == yes { work(5 ms/request); call cache { wait } }; "
    queueing = ", queueing mmc"
    more = "option fast = no or yes\n"
    without = lowered(spec(way.format(""), queueing, more=more))
    assert told(lowered(spec(way.format(call), queueing, more=more))) == told(without)
    with_it = lowered(spec(way.format(call), queueing, more=more), "fast=yes")
    assert load(with_it, "db.cpu", 10) == Fraction(10 * 5, 2000)


def test_what_calls_is_written_where_they_are_called_stays_where_it_is() -> None:
    text = spec(
        "at web {\n    work(1 ms/request) # first\n    call db * 20 %, sends 300 byte/request {\n      # a miss\n      work(2 ms/request)\n    }\n    together {\n      call cache { wait }\n      call log { wait } # both\n    }\n  }"
    )
    laid = formatted(Source("spec.qps", text)).value
    assert laid is not None
    for comment in ("# first", "# a miss", "# both"):
        assert comment in laid
    assert formatted(Source("spec.qps", laid)).value == laid


def test_calls_that_nobody_could_read_are_refused_and_not_walked() -> None:
    deep = "call db { call web { " * 2000 + "} } " * 2000
    found = check_source(Source("deep.qps", spec(f"at web {{ {deep} }}"))).diagnostics
    assert {d.code.id for d in found} == {"QPS0105"}


# -- shares, and several times -----------------------------------------------------------------


def test_hits_and_misses_both_answer() -> None:
    way = (
        "at web { work(1 ms/request); call db * 20 % { work(10 ms/request) }; work(1 ms/request) }"
    )
    graph = lowered(spec(way))
    plain = lowered(spec("at web { work(1 ms/request); work(1 ms/request) }"))
    miss = lowered(spec(way.replace(" * 20 %", "")))
    assert load(graph, "db.cpu", 10) == load(miss, "db.cpu", 10) / 5
    assert load(graph, "web.cpu", 10) == load(plain, "web.cpu", 10)
    assert load(graph, "edge.web.out", 10) == load(plain, "edge.web.out", 10)
    hit, missed = (latency(one, "shop", 10) for one in (plain, miss))
    assert latency(graph, "shop", 10) == hit + (missed - hit) / 5
    stream = graph.streams["shop"]
    assert at(graph, stream.rate, 10) == 1
    for level, expected in ((79, hit), (80, hit), (81, missed), (99, missed)):
        assert at(graph, stream.latency_quantile(Fraction(level, 100)), 10) == expected


def test_a_share_of_nothing_asks_for_nothing() -> None:
    more = "param misses = 20 % in 0..1\n"
    way = "at web { work(1 ms/request); call db * misses { work(10 ms/request); call cache * misses { wait } } }"
    for queueing in ("", ", queueing mmc"):
        graph = lowered(spec(way, queueing, more=more), "misses=0")
        plain = lowered(spec("at web { work(1 ms/request) }", queueing))
        for level in (1, 50, 99):
            told, expected = (
                at(one, one.streams["shop"].latency_quantile(Fraction(level, 100)), 10)
                for one in (graph, plain)
            )
            assert told >= expected
            assert told == pytest.approx(float(expected), rel=1e-9) or queueing
        assert load(graph, "db.cpu", 10) == 0
        assert at(graph, graph.streams["shop"].mean_latency, 10) == pytest.approx(
            float(at(plain, plain.streams["shop"].mean_latency, 10))
        )


def test_what_is_lost_in_a_call_is_lost_of_those_that_make_it() -> None:
    way = "at web { call db * 30 % { spill; spill; work(1 ms/request); call cache * 50 % { spill } } }"
    graph = lowered(spec(way))
    stream = graph.streams["shop"]
    inside = Fraction(4, 5) ** 2 * (Fraction(1, 2) + Fraction(1, 2) * Fraction(4, 5))
    left = Fraction(7, 10) + Fraction(3, 10) * inside
    assert at(graph, stream.lost_by(LossKind.VOLUNTARY), 1) == 1 - left
    assert at(graph, stream.rate, 1) == left
    assert load(graph, "db.cpu", 1) == Fraction(3, 10) * Fraction(16, 25) * Fraction(1, 2000)


def test_beyond_saturation_only_those_are_lost_that_make_the_call() -> None:
    graph = lowered(spec("at web { call db * 30 % { work(200 ms/request) } }"))
    assert load(graph, "db.cpu", 100) == 3
    (lost,) = (part for part in graph.streams["shop"].losses if part.resource == "db.cpu")
    assert at(graph, lost.value, 100) == Fraction(3, 10) * Fraction(2, 3)


def test_calls_that_are_made_several_times_may_not_lose_anything() -> None:
    with pytest.raises(QpsError, match="can be lost: their number is unknown"):
        lowered(spec("at web { call db * 3 { spill } }"))
    with pytest.raises(QpsError, match="can be lost: their number is unknown"):
        lowered(spec("at web { call db * 3 { wait } }", network="; loss 1 %"))
    lowered(
        spec("at web { call db * often { wait } }", network="; loss 1 %", more="param often = 1\n")
    )


def test_three_calls_are_three_calls_one_after_the_other() -> None:
    one = "call db { work(2 ms/request); call cache { wait } }"
    several = lowered(spec(f"at web {{ {one.replace('db', 'db * 3')} }}"))
    written = lowered(spec(f"at web {{ {one}; {one}; {one} }}"))
    for name in written.resources:
        assert load(several, name, 7) == load(written, name, 7), name
    assert latency(several, "shop", 7) == latency(written, "shop", 7)
    quantiles = [g.streams["shop"].latency_quantile(Fraction(9, 10)) for g in (several, written)]
    assert at(several, quantiles[0], 7) == at(written, quantiles[1], 7)
    assert several.streams["shop"].quantile_certainty(Fraction(9, 10)) == written.streams[
        "shop"
    ].quantile_certainty(Fraction(9, 10))


def test_waits_of_three_calls_are_three_waits() -> None:
    one = "call db { work(20 ms/request) }"
    several, written = (
        lowered(spec(f"at web {{ {way} }}", ", queueing mmc").replace("1 Mbit/s", "1 Gbit/s"))
        for way in (one.replace("db", "db * 3"), f"{one}; {one}; {one}")
    )
    streams = [graph.streams["shop"] for graph in (several, written)]
    means = [at(g, s.mean_latency, 20) for g, s in zip((several, written), streams, strict=True)]
    assert float(means[0]) == pytest.approx(float(means[1]))
    quantiles = [
        float(at(g, s.latency_quantile(Fraction(9, 10)), 20))
        for g, s in zip((several, written), streams, strict=True)
    ]
    assert quantiles[0] == pytest.approx(quantiles[1], rel=1e-6)


# -- sizes -------------------------------------------------------------------------------------


def test_requests_and_answers_have_sizes_of_their_own() -> None:
    way = "at web { call db, sends 300 byte/request, returns 4 kB/request { work(1 us/byte) }; work(1 us/byte) }"
    graph = lowered(spec(way))
    header = Fraction(66, 1448)
    for name, size in (("lan.db.in", 300), ("lan.web.in", 4000), ("edge.client.in", 2000)):
        each = Fraction(8 * size, 10**6) * (1 + header)
        count = 100 if name.startswith("edge") else 1
        assert load(graph, name, 100) == each * 100 / count, name
    assert load(graph, "db.cpu", 100) == Fraction(100 * 300, 2 * 10**6)
    assert load(graph, "web.cpu", 100) == Fraction(100 * 2000, 2 * 10**6)
    assert at(graph, graph.streams["shop"].throughput, 1) == 16000


@pytest.mark.parametrize(
    ("header", "steps", "back"),
    [
        ("", "", 2000),
        (", sends 300 byte/request", "", 2000),
        (", sends 300 byte/request", "enlarge", 5000),
        ("", "enlarge", 5000),
        (", returns 7 kB/request", "enlarge", 7000),
        (" * 50 %, sends 300 byte/request", "", 1000),
    ],
)
def test_an_answer_is_as_large_as_its_steps_make_it_or_as_the_stream(
    header: str, steps: str, back: int
) -> None:
    more = "component enlarge { emit 5 kB/request }\n"
    graph = lowered(spec(f"at web {{ call db{header} {{ {steps} }} }}", more=more))
    each = Fraction(8 * back, 10**6) * (1 + Fraction(66, 1448))
    assert load(graph, "lan.web.in", 10) == each * 10
    assert load(graph, "edge.client.in", 1) == Fraction(8 * 2000, 10**6) * (1 + Fraction(66, 1448))


# -- any tree, by hand -------------------------------------------------------------------------


class Call(Struct, frozen=True):
    """A call of a tree: how often, how long its step takes in ms, what is inside, and when."""

    node: str
    times: Fraction | None
    work: int
    inside: tuple[Block, ...]


Block = tuple[Call, ...]
"""Calls that are made together; of one alone it makes no difference."""
NODES = ("web", "db", "cache", "log")
TIMES = [None, *map(Fraction, ("0", "1/10", "1/4", "1/2", "1", "2", "5/2"))]
CROSSED = Fraction(1, 1000)


def calls(above: str, depth: int) -> st.SearchStrategy[Call]:
    nodes = st.sampled_from([node for node in NODES if node != above])
    return nodes.flatmap(
        lambda node: st.builds(
            Call,
            st.just(node),
            st.sampled_from(TIMES),
            st.integers(0, 9),
            blocks(node, depth - 1) if depth else st.just(()),
        )
    )


def blocks(above: str, depth: int) -> st.SearchStrategy[tuple[Block, ...]]:
    return st.lists(
        st.lists(calls(above, depth), min_size=1, max_size=2).map(tuple), max_size=2
    ).map(tuple)


def written(inside: tuple[Block, ...]) -> str:
    return "; ".join(
        one(block[0]) if len(block) == 1 else f"together {{ {'; '.join(map(one, block))} }}"
        for block in inside
    )


def one(call: Call) -> str:
    times = "" if call.times is None else f" * {call.times.numerator}/{call.times.denominator}"
    times = f" * ({times[3:]})" if "/" in times else times
    inner = written(call.inside)
    return f"call {call.node}{times} {{ work({call.work} ms/request){'; ' * bool(inner)}{inner} }}"


Times = dict[Fraction, Fraction]
"""The probability of each time."""


def added(left: Times, right: Times) -> Times:
    found: Times = {}
    for (a, p), (b, q) in product(left.items(), right.items()):
        found[a + b] = found.get(a + b, Fraction(0)) + p * q
    return found


def slowest(left: Times, right: Times) -> Times:
    found: Times = {}
    for (a, p), (b, q) in product(left.items(), right.items()):
        found[max(a, b)] = found.get(max(a, b), Fraction(0)) + p * q
    return found


def times_of(inside: tuple[Block, ...]) -> Times:
    found: Times = {Fraction(0): Fraction(1)}
    for block in inside:
        longest: Times = {Fraction(0): Fraction(1)}
        for call in block:
            longest = slowest(longest, times_of_calls(call))
        found = added(found, longest)
    return found


def times_of_calls(call: Call) -> Times:
    once = added({2 * CROSSED + Fraction(call.work, 1000): Fraction(1)}, times_of(call.inside))
    times = Fraction(1) if call.times is None else call.times
    more = times - floor(times)
    found: Times = {Fraction(0): Fraction(1)}
    for _ in range(floor(times)):
        found = added(found, once)
    again = {time: p * more for time, p in once.items()}
    again[Fraction(0)] = again.get(Fraction(0), Fraction(0)) + 1 - more
    return added(found, again)


def visits(
    inside: tuple[Block, ...], often: Fraction = Fraction(1)
) -> Iterator[tuple[str, Fraction]]:
    for block in inside:
        for call in block:
            made = often * (1 if call.times is None else call.times)
            yield call.node, made * call.work
            yield from visits(call.inside, made)


@law
@given(blocks("web", 2), st.sampled_from(["1/2", "9/10", "99/100", "999/1000"]))
def test_any_tree_of_calls_is_what_it_is_by_hand(inside: tuple[Block, ...], level: str) -> None:
    text = spec(f"at web {{ {written(inside)} }}").replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet;", "switched; rate 1e30 bit/s;"
    )
    graph = lowered(text)
    stream = graph.streams["shop"]
    expected: dict[str, Fraction] = {}
    for node, work in visits(inside):
        expected[node] = expected.get(node, Fraction(0)) + work / 2000
    for node, busy in expected.items():
        if busy:
            assert load(graph, f"{node}.cpu", 10) == 10 * busy
    distribution = times_of(inside)
    mean = sum((time * p for time, p in distribution.items()), Fraction(0))
    tiny = Fraction(1, 10**15)
    found = at(graph, stream.mean_latency, 1) - 2 * CROSSED
    by_calls = [part.certainty.kind for part in stream.latency]
    if all(kind is Kind.EXACT for kind in by_calls):
        assert abs(found - mean) < tiny
    else:
        assert found < mean + tiny
    share, quantile = Fraction(0), Fraction(0)
    for time in sorted(distribution):
        quantile = time
        share += distribution[time]
        if share >= Fraction(level):
            break
    found = at(graph, stream.latency_quantile(Fraction(level)), 1) - 2 * CROSSED
    assert found > quantile - tiny
    because = stream.quantile_certainty(Fraction(level)).because
    if all(reason.method != "calls-allotted" for reason in because):
        assert abs(found - quantile) < tiny


# -- together ----------------------------------------------------------------------------------


def test_what_is_called_together_takes_as_long_as_the_slowest() -> None:
    both = "call db { work(4 ms/request) }; call cache { work(9 ms/request); wait }"
    graph = lowered(spec(f"at web {{ together {{ {both} }} }}"))
    slow = lowered(spec("at web { call cache { work(9 ms/request); wait } }"))
    assert latency(graph, "shop", 3) == latency(slow, "shop", 3)
    written_out = lowered(spec(f"at web {{ {both} }}"))
    for name in written_out.resources:
        assert load(graph, name, 3) == load(written_out, name, 3), name
    assert graph.streams["shop"].latency[4].certainty.kind is Kind.EXACT


def test_what_some_call_together_within_calls_together_has_its_label() -> None:
    """Two calls of a tenth each take as long as one that 19 % make: 10 % were told as exact."""
    few = (
        "together { call db * 10 % { work(9 ms/request) }; call log * 10 % { work(9 ms/request) } }"
    )
    text = spec(f"at web {{ together {{ call log {{ }}; call cache {{ {few} }} }} }}")
    known = lowered(text).streams["shop"].latency_certainty
    assert known.kind is Kind.LOWER_BOUND


def test_what_waits_before_calls_together_waits_alone() -> None:
    # Nothing waits within them: there is no queue that both visit.
    both = "call db { wait }; call cache { wait }"
    text = spec(f"at web {{ work(1 ms/request); together {{ {both} }} }}")
    busy = "machine busy { cpu 2 core, queueing mmc }\n"
    graph = lowered(busy + text.replace("node web = pod", "node web = busy"))
    (wait,) = (p for p in graph.streams["shop"].latency if p.stage == "waiting for web.cpu")
    assert wait.visit is not None
    assert not wait.visit.meets


def test_the_mean_of_the_slowest_is_an_upper_bound_where_branches_wait() -> None:
    both = "call db { work(4 ms/request) }; call cache { work(9 ms/request) }"
    graph = lowered(spec(f"at web {{ together {{ {both} }} }}", ", queueing mmc"))
    (fork,) = (part for part in graph.streams["shop"].latency if part.branches)
    assert fork.certainty.kind is Kind.UPPER_BOUND
    known = graph.streams["shop"].quantile_certainty(Fraction(9, 10))
    assert "fork-associated" in known.methods
    assert not {"sum-of-percentiles", "any-parallel-late"} & known.methods


def test_what_is_lost_of_one_call_loads_the_others_together_with_it() -> None:
    both = "call db { spill; work(4 ms/request) }; call cache { work(9 ms/request) }"
    graph = lowered(spec(f"at web {{ together {{ {both} }}; work(1 ms/request) }}"))
    assert load(graph, "cache.cpu", 10) == Fraction(10 * 9, 2000)
    assert load(graph, "web.cpu", 10) == Fraction(10 * 8, 20000)


def test_parallel_calls_that_share_a_queue_are_reported() -> None:
    both = "call db { work(4 ms/request) }; call cache { call db { work(9 ms/request) } }"
    graph = lowered(spec(f"at web {{ together {{ {both} }} }}", ", queueing mmc"))
    known = graph.streams["shop"].latency_certainty
    assert any("meet at `db.cpu`" in reason for reason in known.reasons)


def test_specs_with_calls_are_checked_without_mistakes() -> None:
    assert checked(spec("at web { call db { } }")).model.streams[0].calls[0].node == "db"


# -- when a request is where -------------------------------------------------------------------


def test_the_tree_of_calls_tells_when_a_request_is_where() -> None:
    way = """at web {
      work(1 ms/request)
      call db * 20 % { work(10 ms/request); call cache * 3 { wait } }
      together { call cache { wait }; call log { work(9 ms/request) } }
    }"""
    text = spec(way).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s; propagation 1 ms",
    )
    explanation = explain(lowered(text), "shop.latency", 10)
    told = [(c.depth, c.name, c.times, c.each, c.start, c.end) for c in explanation.calls]
    assert told == [
        (0, "edge", "", "1 ms", "0 s", "1 ms"),
        (0, "web", "", "1 ms", "1 ms", "2 ms"),
        (0, "call db", "20 %", "27 ms", "2 ms", "7.4 ms"),
        (1, "lan", "", "1 ms", "2 ms", "2.2 ms"),
        (1, "db", "", "10 ms", "2.2 ms", "4.2 ms"),
        (1, "call cache", "3", "5 ms", "4.2 ms", "7.2 ms"),
        (2, "lan", "", "1 ms", "4.2 ms", "4.8 ms"),
        (2, "cache", "", "3 ms", "4.8 ms", "6.6 ms"),
        (2, "lan", "", "1 ms", "6.6 ms", "7.2 ms"),
        (1, "lan", "", "1 ms", "7.2 ms", "7.4 ms"),
        (0, "cache and log together", "", "11 ms", "7.4 ms", "18.4 ms"),
        (1, "call cache", "", "5 ms", "7.4 ms", "12.4 ms"),
        (2, "lan", "", "1 ms", "7.4 ms", "8.4 ms"),
        (2, "cache", "", "3 ms", "8.4 ms", "11.4 ms"),
        (2, "lan", "", "1 ms", "11.4 ms", "12.4 ms"),
        (1, "call log", "", "11 ms", "7.4 ms", "18.4 ms"),
        (2, "lan", "", "1 ms", "7.4 ms", "8.4 ms"),
        (2, "log", "", "9 ms", "8.4 ms", "17.4 ms"),
        (2, "lan", "", "1 ms", "17.4 ms", "18.4 ms"),
        (0, "edge", "", "1 ms", "18.4 ms", "19.4 ms"),
    ]
    text = explanation_text(explanation)
    assert "\n    lan" in text
    assert "\n      cache " in text


def test_a_stream_without_calls_has_no_tree() -> None:
    graph = lowered(
        spec("at web { work(1 ms/request) } at db { wait } at web { }".replace("} at", "}\n at"))
    )
    assert explain(graph, "shop.latency", 10).calls == ()


def test_the_quantile_of_what_few_wait_for_is_exact_where_nothing_else_varies() -> None:
    """Of a share s that waits and is served exponentially, s e^(-(mu - lambda) t) are later."""
    machine, queued = (
        "machine pod { cpu 2 core }",
        "machine pod { cpu 2 core }\nmachine slow { cpu 1 core, queueing mm1 }",
    )
    way = "at web { work(1 ms/request); call db * 20 % { work(10 ms/request) } }"
    text = spec(way).replace(machine, queued).replace("node db = pod", "node db = slow")
    graph = lowered(text.replace("1 Mbit/s", "1 Gbit/s"))
    stream = graph.streams["shop"]
    base = at(graph, stream.mean_latency, 50) - Fraction(1, 5) * (
        Fraction(2, 1000) + Fraction(8 * 4000 * 1514, 1448 * 10**9)
    )
    rate, load_ = 100.0, 50 * 0.2 * 0.01
    sojourn = 1 / (rate * (1 - load_))
    base_ = float(base) - 0.2 * sojourn
    for late in (0.1, 0.01, 0.001):
        told = float(at(graph, stream.latency_quantile(1 - Fraction(str(late))), 50))
        crossed = 0.002 + 8 * 4000 * 1514 / 1448 / 1e9
        assert told == pytest.approx(base_ + crossed + sojourn * log(0.2 / late), rel=1e-6)


def test_the_latency_of_a_call_is_that_from_its_request_to_its_answer() -> None:
    way = """at web {
      call db * 20 % { work(10 ms/request); call cache * 3 { wait } }
      together { call cache { work(2 ms/request) }; call log { work(9 ms/request) } if no == yes }
    }"""
    way = way.replace(
        "call log { work(9 ms/request) } if no == yes", "call log if made == yes { wait }"
    )
    more = "option made = no or yes\nmeasure db_ = shop.db.latency\nmeasure cache_ = shop.cache.latency\n"
    text = spec(way, more=more).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s; propagation 1 ms",
    )
    graph = lowered(text)
    told = {name: graph.number(one.value) for name, one in graph.measures.items()}
    # The cache is called 0.6 times for 5 ms, and once for 4 ms.
    assert told == pytest.approx({"db_": 0.027, "cache_": (0.6 * 5 + 4) / 1.6 / 1000})
    assert explain(graph, "shop.db.latency", 1).value == pytest.approx(0.027)
    with pytest.raises(QpsError, match="does not call `log` here"):
        lowered(text + "require { shop.log.latency <= 5 ms }\n")
    lowered(text + "require { shop.log.latency <= 5 ms }\n", "made=yes")


@pytest.mark.parametrize("queueing", ["", ", queueing mmc", ", queueing mg1 cv 2"])
@pytest.mark.parametrize("network", ["", "; queueing md1"])
def test_a_share_is_requested_though_few_make_the_call(queueing: str, network: str) -> None:
    """Shares next to nothing were not told: levels of quantiles were rounded below zero."""
    more = "param misses = 20 % in 0..1\nrequire { quantile(shop.latency, 99 %) <= 400 ms }\n"
    way = "at web { call db * misses { work(4 ms/request) } }"
    text = spec(way, queueing, network, more).replace("1 Mbit/s", "1 Gbit/s")
    model = checked(text)
    (interval,) = solve_for(model.model, model.configuration(), "misses", 50).intervals
    assert (interval.low, interval.high) == (0, 1)


def test_a_share_of_more_than_all_is_refused_wherever_it_is_set() -> None:
    text = spec("at web { call db * misses { wait } }", more="param misses = 20 %\n")
    model = checked(text)
    with pytest.raises(QpsError, match="the share 120% is above"):
        model.configuration(None, ["misses=120%"])
    graph = lowered(text.replace("wait }", "work(2 ms/request) }"), "misses=1.2")
    assert load(graph, "db.cpu", 10) == Fraction(10 * 12 * 2, 20000)


def test_a_share_of_periodic_items_is_reported_as_an_approximation() -> None:
    graph = lowered(spec("at web { call db * 20 % { work(2 ms/request) } }", ", queueing periodic"))
    known = graph.streams["shop"].latency_certainty
    assert known.kind is Kind.APPROXIMATION
    assert any(reason.method == "share-of-periodic" for reason in known.because)


def test_what_recovers_and_queues_may_stand_in_a_call_that_all_make_once() -> None:
    more = "component mend { recover 50 % }\ncomponent hold { queue 6 request }\n"
    called = lowered(spec("at web { call db { mend; hold } }", "", "; loss 10 %", more))
    visited = lowered(
        spec("at web { }\n at db { mend; hold }\n at web { }", "", "; loss 10 %", more)
    )
    assert told(called) == told(visited)
    assert [q.value for q in called.streams["shop"].queues] == [
        q.value for q in visited.streams["shop"].queues
    ]


# -- users and items of several kinds ----------------------------------------------------------

KINDS = """
kinds audience {of} {{ light 60 %; heavy 40 % }}
param misses by audience {{ light 0 %; heavy 100 % }}
param often by audience {{ light 0; heavy 2 }}
param some by audience {{ light 10 %; heavy 50 % }}
param long by audience {{ light 1 ms/request; heavy 10 ms/request }}
param lost by audience {{ light 0 %; heavy 20 % }}
component give_up {{ drop lost }}
"""
OF_KINDS = [{"weight": 0.6, "misses": 0.0, "often": 0.0, "some": 0.1, "long": 1.0, "lost": 0.0},
            {"weight": 0.4, "misses": 1.0, "often": 2.0, "some": 0.5, "long": 10.0, "lost": 0.2}]  # fmt: skip
WAYS = [  # how often each call is made, in calls, and what its step takes
    ("work(long)", [], "long"),
    ("call db * misses { work(long) }", ["misses"], "long"),
    ("call db * misses { call cache * misses { work(long) } }", ["misses", "misses"], "long"),
    ("call db * some { call cache * some { work(long) } }", ["some", "some"], "long"),
    ("call db * often { work(1 ms/request) }", ["often"], "1"),
    ("call db * some { call cache * often { work(1 ms/request) } }", ["some", "often"], "1"),
    ("call db * 50 % { call cache * misses { work(long) } }", ["0.5", "misses"], "long"),
]


def of_kind(kind: dict[str, float], name: str) -> Fraction:
    return Fraction(str(kind[name])) if name in kind else Fraction(name)


@pytest.mark.parametrize("of", ["", "of users"])
@pytest.mark.parametrize(("way", "often", "takes"), WAYS)
def test_kinds_call_and_take_what_each_of_them_does(
    way: str, often: list[str], takes: str, of: str
) -> None:
    """The mean of how often was multiplied by the mean of how long, and none was slower."""
    text = spec(f"at web {{ {way} }}", more=KINDS.format(of=of)).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s",
    )
    graph = lowered(text)
    distribution: Times = {}
    mean = calls_made = Fraction(0)
    for kind in OF_KINDS:
        weight, long = of_kind(kind, "weight"), of_kind(kind, takes) / 1000
        times: Times = {long: Fraction(1)}
        for how_often in reversed([of_kind(kind, name) for name in often]):
            more = how_often - floor(how_often)
            once, times = times, {Fraction(0): Fraction(1)}
            for _ in range(floor(how_often)):
                times = added(times, once)
            again = {time: share * more for time, share in once.items()}
            again[Fraction(0)] = again.get(Fraction(0), Fraction(0)) + 1 - more
            times = added(times, again)
        for time, share in times.items():
            distribution[time] = distribution.get(time, Fraction(0)) + weight * share
            mean += weight * share * time
        if often:
            calls_made += weight * of_kind(kind, often[0])
    stream = graph.streams["shop"]
    assert at(graph, stream.mean_latency, 1) == pytest.approx(mean)
    if often:
        each = stream.latency_of_calls("db")
        assert each is not None
        assert at(graph, each, 1) == pytest.approx(mean / calls_made)
    for level in map(Fraction, ("1/2", "3/4", "9/10", "99/100")):
        share, quantile = Fraction(0), Fraction(0)
        for quantile in sorted(distribution):
            share += distribution[quantile]
            if share >= level:
                break
        assert at(graph, stream.latency_quantile(level), 1) > quantile - Fraction(1, 10**9)
        known = stream.quantile_certainty(level)
        assert any("slowest class of users or items" in reason for reason in known.reasons)


def test_waits_of_kinds_that_call_both_are_counted_as_often_as_they_wait() -> None:
    """Of the 40 % that call all call again: a share of 16 % was counted."""
    way = "at web { call db * misses { call cache * misses { work(4 ms/request) } } }"
    text = spec(way, ", queueing mm1", more=KINDS.format(of="of users"))
    graph = lowered(text.replace("cpu 2 core", "cpu 1 core"))
    stream = graph.streams["shop"]
    waits = sum(at(graph, p.value, 50) for p in stream.latency if p.queue and p.times is not None)
    busy = Fraction(50 * 4 * 4, 10000)
    assert waits == pytest.approx(Fraction(4, 10) * busy / (1 - busy) * Fraction(4, 1000))


def test_the_tree_of_calls_tells_what_those_do_that_call() -> None:
    way = "at web { call db * misses { work(long); call cache * often { work(1 ms/request) } } }"
    text = spec(way, more=KINDS.format(of="of users")).replace(
        "switched; rate 1 Mbit/s; header 66 byte/packet; propagation 1 ms",
        "switched; rate 1e30 bit/s",
    )
    made = [(c.name, c.times, c.each) for c in explain(lowered(text), "shop.latency", 10).calls]
    told = [each for each in made if each[0] in ("call db", "db", "call cache")]
    assert told == [
        ("call db", "40 %", "12 ms"),
        ("db", "", "10 ms"),
        ("call cache", "2", "1 ms"),
    ]


@pytest.mark.parametrize("way", ["give_up; give_up", "call db * misses { spill; spill }"])
def test_who_loses_at_one_stage_loses_at_the_next(way: str) -> None:
    graph = lowered(spec(f"at web {{ {way} }}", more=KINDS.format(of="of users")))
    stream = graph.streams["shop"]
    left = Fraction(6, 10) + Fraction(4, 10) * Fraction(8, 10) ** 2
    assert at(graph, stream.rate, 1) == left
    assert at(graph, stream.loss, 1) == 1 - left


def test_the_quantile_of_a_queue_is_that_of_the_slowest_kind() -> None:
    """Of the 40 % that take 10 ms on average, e^(-t/10 ms) take longer than t without any wait."""
    text = spec("at web { work(long) }", ", queueing mm1", more=KINDS.format(of="of users"))
    graph = lowered(text.replace("cpu 2 core", "cpu 1 core"))
    told = at(graph, graph.streams["shop"].latency_quantile(Fraction(99, 100)), 1)
    assert told > 0.010 * log(0.4 / 0.01)


# -- by simulation -----------------------------------------------------------------------------

QUEUED = """
users N in 1..1000
machine pod { cpu 1 core, queueing mm1 }
network net { switched; rate 1e30 bit/s }
component work(t) { cpu t }
topology { node web = pod; node db = pod; node left = pod; node right = pod; link lan = net between web, db, left, right }
stream asked in all {
  traffic N * 1 request/s, 1 byte/request
  at web {
    work(1 ms/request)
    call db * 20 % { work(10 ms/request) }
    together { call left { work(5 ms/request) }; call right { work(4 ms/request) } }
  }
}
"""
SERVED = {"web": 0.001, "db": 0.010, "left": 0.005, "right": 0.004}


def simulated(requests: int, rate: float) -> list[float]:
    """Return how long requests take that arrive at random and wait at each node in turn."""
    chance = Random(7)
    waiting: list[tuple[float, int, str, int]] = []
    now = 0.0
    starts = []
    for request in range(requests):
        now += chance.expovariate(rate)
        starts.append(now)
        heappush(waiting, (now, 0, "web", request))
    busy_until = dict.fromkeys(SERVED, 0.0)
    ends: dict[int, float] = {}
    while waiting:
        now, _, node, request = heappop(waiting)
        served = max(busy_until[node], now) + chance.expovariate(1 / SERVED[node])
        busy_until[node] = served
        is_miss = node == "web" and chance.random() < 1 / 5
        for following in ["db"] if is_miss else ["left", "right"] if node in ("web", "db") else []:
            heappush(waiting, (served, 1, following, request))
        if node in ("left", "right"):
            ends[request] = max(ends.get(request, 0.0), served)
    return sorted(ends[request] - start for request, start in enumerate(starts))


def test_quantiles_of_calls_are_near_simulated_requests() -> None:
    graph = lowered(QUEUED)
    stream = graph.streams["asked"]
    times = simulated(60_000, 100.0)
    mean = float(at(graph, stream.mean_latency, 100))
    assert fmean(times) < mean < 1.05 * fmean(times)
    for level in ("1/2", "9/10", "99/100"):
        predicted = float(at(graph, stream.latency_quantile(Fraction(level)), 100))
        found = times[int(Fraction(level) * len(times))]
        assert predicted == pytest.approx(found, rel=0.15), level
