"""Calls: a step that goes to another node and comes back, by a share, with sizes, together."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import floor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from helpers.nightly import examples
from helpers.specs import at, latency, load, lowered
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind
from qps.compiler.syntax.format import formatted

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


def reported(graph: LoadGraph) -> object:
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


# -- a call is a visit there and back -------------------------------------------------

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
    assert reported(one) == reported(other)


def test_a_call_whose_condition_fails_is_not_there() -> None:
    way = "at web {{ work(1 ms/request); {}work(2 ms/request) }}"
    call = "call db if fast == yes { work(5 ms/request); call cache { wait } }; "
    queueing = ", queueing mmc"
    more = "option fast = no or yes\n"
    without = lowered(spec(way.format(""), queueing, more=more))
    assert reported(lowered(spec(way.format(call), queueing, more=more))) == reported(without)
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


# -- shares, and several times --------------------------------------------------------


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
            result, expected = (
                at(one, one.streams["shop"].latency_quantile(Fraction(level, 100)), 10)
                for one in (graph, plain)
            )
            assert result >= expected
            assert result == pytest.approx(float(expected), rel=1e-9) or queueing
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


# -- sizes ----------------------------------------------------------------------------


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


# -- any tree, by hand ----------------------------------------------------------------


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


EITHER_SIDE = {"parallel-estimated", "fork-grid"}
"""Methods of calls that are made together, by which means err to either side."""


_GRID = Fraction(1, 100)
"""What a law on a grid of times may be off, of a time and of a level."""


def _quantile(distribution: Times, level: Fraction) -> Fraction:
    """Return the time that a share `level` of a distribution does not exceed."""
    share, quantile = Fraction(0), Fraction(0)
    for time in sorted(distribution):
        quantile = time
        share += distribution[time]
        if share >= level:
            break
    return quantile


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
    parts = [part.certainty for part in stream.latency]
    if all(part.kind is CertaintyKind.EXACT for part in parts):
        assert abs(found - mean) < tiny
    elif EITHER_SIDE & {reason.method for part in parts for reason in part.because}:
        assert found < mean * Fraction(21, 20)
    else:
        assert found < mean + tiny
    quantile = _quantile(distribution, Fraction(level))
    found = at(graph, stream.latency_quantile(Fraction(level)), 1) - 2 * CROSSED
    methods = stream.quantile_certainty(Fraction(level)).methods
    if "fork-grid" in methods:  # at a jump of the law a grid is between both sides of it
        least, most = (_quantile(distribution, Fraction(level) + by) for by in (-_GRID, _GRID))
        assert least * (1 - _GRID) - tiny <= found <= most * (1 + _GRID) + tiny
        return
    assert found > quantile * (1 - Fraction(1, 10**12)) - tiny  # digits of a sum of transforms
    if "calls-allotted" not in methods:
        assert abs(found - quantile) < tiny
