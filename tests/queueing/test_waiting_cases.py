"""The cases of waiting of issue 13: the true value, or a label that does not overstate.

Simulated values are those of the case's own simulation.
"""

# ruff: noqa: E501 - specs: one statement a line, however long

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from helpers.breakdowns import explain
from helpers.specs import PRELUDE, checked, lowered
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.pipeline import check_source
from qps.compiler.quantities.certainty import CertaintyKind
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total

P99 = Fraction(99, 100)


def _at(graph: LoadGraph, value: Formula, population: int = 1) -> float:
    return graph.at(population).number(value)


def _only(graph: LoadGraph) -> StreamMeasures:
    [stream] = graph.streams.values()
    return stream


# -- copies that leave together ----------------------------------------------------------

BATCHES = """
users N in 1..100
machine box { cpu 1 core }
network lan { rate 8 Mbit/s; queueing md1 }
component send { }
topology { node src = box; node rcv = box * 100; link net = lan between src, rcv }
stream pic for each src {
  traffic 4 packet/s, 1250 byte/packet
  at src { send to all rcv }; over net; at rcv { }
}
"""


def test_copies_wait_for_those_before_them() -> None:
    graph = lowered(BATCHES)
    stream = _only(graph)
    # a batch of 125 ms at load 0.5 waits 62.5 ms; a copy for 49.5 others of 1.25 ms, and itself
    assert _at(graph, stream.mean_latency) == pytest.approx(0.0625 + 49.5 * 1.25e-3 + 1.25e-3)
    assert stream.latency_certainty.is_exact
    assert _at(graph, stream.latency_quantile(P99)) == pytest.approx(0.479, rel=0.03)
    assert stream.quantile_certainty(P99).kind is CertaintyKind.UPPER_BOUND


def test_one_copy_by_multicast_is_no_batch() -> None:
    graph = lowered(BATCHES.replace("send to all rcv", "send to all rcv by multicast"))
    [wait] = [part.visit for part in _only(graph).latency if part.visit is not None]
    assert wait.batch is ONE


def test_a_batch_of_none_waits_no_less_than_nothing() -> None:
    """With one user there is nobody to send to: no copies, no load, and no wait below zero."""
    graph = lowered(
        PRELUDE
        + "network lan { rate 8 Mbit/s; queueing md1 }\n"
        + "topology { node user = box * N\n link net = lan between user }\n"
        + "stream flow for each user { traffic 10 packet/s, 125 byte/packet; at user { work to others }\n"
        + " over net\n at user { } }"
    )
    stream = _only(graph)
    waits = [part.value for part in stream.latency if part.queue is not None]
    assert _at(graph, total(waits), 1) == 0
    assert _at(graph, stream.latency_quantile(P99), 1) >= 0
    # 9 copies of 0.125 ms from each of 10
    load = 10 * 9 * 10 * 0.125e-3
    batch = 9 * 0.125e-3
    result = load * batch / 2 / (1 - load) + 4 * 0.125e-3
    assert _at(graph, total(waits), 10) == pytest.approx(result)


def test_copies_that_come_back_together_are_an_approximation() -> None:
    text = BATCHES.replace("at rcv { }", "at rcv { }; over net; at src { }")
    stream = _only(lowered(text))
    assert stream.latency_certainty.kind is CertaintyKind.APPROXIMATION
    assert any("copies of one item that meet" in one for one in stream.latency_certainty.reasons)


# -- bursts --------------------------------------------------------------------------------

BURSTS = """
users N in 1..30
machine box { }
network lan { rate 1 Mbit/s; queueing periodic }
component vad { active 1/3 }
topology { node phone = box * N; node far = box; link net = lan between phone, far }
stream voice for each phone { traffic 50 packet/s, 200 byte/packet; at phone { vad }; over net; at far { } }
"""


@pytest.mark.parametrize("queueing", ["periodic", "md1", "mm1", "mg1 cv 0.5"])
def test_bursts_are_no_more_than_a_lower_bound(queueing: str) -> None:
    """On for 1 s, off for 2 s: mean 56 ms, p99 524 ms; of no stated length all is open."""
    graph = lowered(BURSTS.replace("periodic", queueing))
    stream = _only(graph)
    assert stream.latency_certainty.kind is CertaintyKind.LOWER_BOUND
    assert stream.quantile_certainty(P99).kind is CertaintyKind.APPROXIMATION
    assert "averaged out" in " ".join(stream.quantile_certainty(P99).reasons)
    assert _at(graph, stream.mean_latency, 30) < 0.056


# -- jitter ----------------------------------------------------------------------------------

JITTER = """
users N in 1..10
machine box { }
network net1 { rate 1 Gbit/s; jitter 100 ms^2; propagation 20 ms }
topology { node a = box; node b = box; link l = net1 between a, b }
stream v for each a { traffic 50 packet/s, 200 byte/packet; at a { }; over l; at b { } }
"""


def test_jitter_belongs_to_a_quantile() -> None:
    graph = lowered(JITTER)
    stream = _only(graph)
    level = Fraction("0.999")
    # 3.09 deviations of 10 ms; at most sqrt(999) of them, by Cantelli
    assert _at(graph, stream.latency_quantile(level)) == pytest.approx(0.0200016 + 0.030902, 1e-4)
    known = stream.quantile_certainty(level)
    assert known.kind is CertaintyKind.APPROXIMATION
    assert "3.09 standard deviations; other distributions reach up to 31.6" in known.reasons[0]
    assert _at(graph, stream.mean_latency) == pytest.approx(0.0200016)
    explained = explain(graph, "quantile(v.latency, 99.9 %)", 1)
    assert explained.parts[-1].name == "jitter of l"


def test_a_playout_buffer_evens_jitter_out() -> None:
    stream = _only(lowered(JITTER.replace("at b { } }", "at b { }; playout 30 ms }")))
    assert stream.quantile_certainty(P99).kind is CertaintyKind.LOWER_BOUND  # no waiting is counted
    assert stream.jitter_quantile(P99) is ZERO


LAWFUL = """
users N in 1..90
machine box { cpu 1 core, queueing mm1, jitter 100 ms^2 / (1 - load)^2 }
component work { cpu 10 ms/request }
topology { node host = box }
stream v for each host { traffic N * 1 request/s; at host { work } }
"""


@pytest.mark.parametrize("users", [10, 60, 85])
def test_a_jitter_law_and_a_queue_describe_the_same_time(users: int) -> None:
    """The time in an M/M/1 is exponential: the law states its variance, and its quantile stays."""
    graph = lowered(LAWFUL)
    stream = _only(graph)
    mean = 0.01 / (1 - users / 100)
    assert _at(graph, stream.mean_latency, users) == pytest.approx(mean)
    assert _at(graph, stream.latency_quantile(P99), users) == pytest.approx(mean * log(100))
    assert stream.jitter_quantile(P99) is ZERO
    assert "added up" not in " ".join(stream.quantile_certainty(P99).reasons)
    # what waits longer than the queue says is what the law says: 2.33 deviations of 300 ms
    graph = lowered(LAWFUL.replace("100 ms^2 / (1 - load)^2", "90_000 ms^2"))
    late = _at(graph, _only(graph).latency_quantile(P99), users)
    assert late == pytest.approx(max(mean + 2.326348 * 0.3, mean * log(100)))


def test_a_jitter_law_counts_once_however_often_its_queue_is_passed() -> None:
    text = LAWFUL.replace("100 ms^2 / (1 - load)^2", "90_000 ms^2")
    text = text.replace("{ work }", "{ work; pause; work }") + "component pause { delay 1 ms }"
    graph = lowered(text)
    stream = _only(graph)
    half = _at(graph, stream.latency_quantile(P99), 10) - _at(graph, stream.mean_latency, 10)
    assert half == pytest.approx(2.575829 * 0.3)  # 99.5 % at each of two visits


def test_a_jitter_without_the_variance_of_a_wait_is_a_lower_bound() -> None:
    options = "measure jitter_seen = v.jitter"
    known = lowered(LAWFUL + options).measures["jitter_seen"].known
    assert known.kind is CertaintyKind.EXACT
    lawless = LAWFUL.replace(", jitter 100 ms^2 / (1 - load)^2", "")
    graph = lowered(lawless + options)
    assert explain(graph, "v.jitter", 1).known.kind == CertaintyKind.LOWER_BOUND.value
    known = graph.measures["jitter_seen"].known
    assert known.kind is CertaintyKind.LOWER_BOUND
    assert "variance of queueing delay at `host.cpu` is excluded" in known.reasons[0]


PLAYED = """
users N in 1..100
machine box { }
network lan { rate 1 Mbit/s; queueing mm1 }
topology { node a = box; node b = box; link l = lan between a, b }
stream v for each a {
  traffic N * 50 packet/s, 200 byte/packet
  at a { }; over l; at b { }
  playout PLAYOUT
}
"""


@pytest.mark.parametrize(
    ("law", "delay", "kinds"),
    [
        (
            "",
            "4 * sqrt(v.jitter)",
            (CertaintyKind.LOWER_BOUND, CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND),
        ),
        (
            "",
            "50 ms - sqrt(v.jitter)",
            (CertaintyKind.UPPER_BOUND, CertaintyKind.LOWER_BOUND, CertaintyKind.UPPER_BOUND),
        ),
        ("", "30 ms", (CertaintyKind.EXACT, CertaintyKind.EXACT, CertaintyKind.EXACT)),
        (
            "; jitter 1 ms^2",
            "4 * sqrt(v.jitter)",
            (CertaintyKind.EXACT, CertaintyKind.EXACT, CertaintyKind.EXACT),
        ),
    ],
)
def test_a_playout_buffer_is_known_as_the_jitter_that_it_rests_on(
    law: str, delay: str, kinds: tuple[CertaintyKind, ...]
) -> None:
    late = f"{delay} dropping max(0, 1 - v.buffer / 60 ms)"
    graph = lowered(PLAYED.replace("PLAYOUT", late).replace("mm1", "mm1" + law))
    stream = _only(graph)
    values = [explain(graph, name, 1).known.kind for name in ("v.buffer", "v.loss", "v.rate")]
    assert values == [kind.value for kind in kinds]
    assert stream.latency_certainty.kind is kinds[0]
    assert explain(graph, "v.voluntary_loss", 1).known.kind == kinds[1].value
    assert explain(graph, "v.saturation_loss", 1).known.kind == CertaintyKind.EXACT.value
    assert stream.quantile_certainty(P99).kind is kinds[0]


SIZES = """
users N in 1..60
machine box { }
param large = SIZE byte/packet
network lan { rate 1 Mbit/s; queueing md1 }
topology { node a = box; node b = box; link l = lan between a, b }
stream v for each a { traffic N * 5 packet/s, 100 byte/packet; at a { }; over l; at b { } }
stream w for each a { traffic N * 5 packet/s, large; at a { }; over l; at b { } }
"""


MIXED = "the mix of service times at `l` is assumed to be gamma distributed"


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2"])
def test_what_is_of_one_size_by_its_numbers_is_reported_as_such(queueing: str) -> None:
    text = SIZES.replace("md1", queueing)
    graph = lowered(text.replace("SIZE", "100"))
    stream = graph.streams["v"]
    assert MIXED not in " ".join(stream.quantile_certainty(P99).reasons)
    assert "mixture-wait" not in _theorems(stream)
    other = lowered(text.replace("SIZE", "101")).streams["v"]
    assert MIXED not in " ".join(other.quantile_certainty(P99).reasons)
    assert ("mixture-wait" in _theorems(other)) == (queueing != "mg1 cv 2")
    # and the formulas of a mix come to those of equal visits
    alike = lowered(
        text.replace("packet/s, 100 byte/packet", "packet/s, large").replace("SIZE", "100")
    )
    values = (stream.mean_latency, stream.latency_quantile(P99))
    equal = (alike.streams["v"].mean_latency, alike.streams["v"].latency_quantile(P99))
    for users in (1, 30, 59):
        for value, same in zip(values, equal, strict=True):
            assert _at(graph, value, users) == pytest.approx(_at(alike, same, users), 1e-9)


def _theorems(stream: StreamMeasures) -> list[str]:
    return [one.method for one in stream.quantile_certainty(P99).theorems]


def test_periodic_flows_of_one_size_by_their_numbers_have_the_bound_of_a_mix() -> None:
    text = SIZES.replace("md1", "periodic").replace("SIZE", "100")
    known = lowered(text).streams["v"].latency_certainty
    assert known.kind is CertaintyKind.UPPER_BOUND


def test_sizes_that_move_count_as_different() -> None:
    """Those that a reader of a page can change, and those that are an axis of a matrix."""
    spec = checked(SIZES.replace("SIZE", "100"))
    graph = lower(spec.model, spec.configuration(), sizes_move=True)
    assert "mixture-wait" in _theorems(graph.streams["v"])
    graph = lower(spec.model, spec.configuration(), {"large": False})
    assert "mixture-wait" in _theorems(graph.streams["v"])
    graph = lower(spec.model, spec.configuration())
    assert "mixture-wait" not in _theorems(graph.streams["v"])
    assert graph.streams["v"].quantile_certainty(P99).kind is CertaintyKind.EXACT


# -- beyond a load of 1 ------------------------------------------------------------------------

BEYOND = """
users N in 1..100
machine a { cpu 1 core }
component job { cpu 100 ms/request }
machine desk { }
topology { node host = a; node user = desk * N }
stream jobs for each user { traffic 1 request/s; at host { job } }
require { jobs.latency <= 20 s }
"""


def test_an_overloaded_resource_is_waited_for_without_end() -> None:
    graph = lowered(BEYOND)
    stream = _only(graph)
    assert [_at(graph, stream.mean_latency, n) for n in (1, 10, 11, 50)] == [
        0.1, 0.1, float("inf"), float("inf"),
    ]  # fmt: skip
    assert _at(graph, stream.latency_quantile(P99), 50) == float("inf")
    assert stream.latency_certainty.reasons == ("queueing delay at `host.cpu` is excluded",)
    # what judges the number of users is the load: the latency is that of what is served
    [latency, load] = graph.criteria
    assert _at(graph, latency.measure, 50) == 0.1
    assert _at(graph, load.measure, 50) == 5


def test_a_queue_of_stated_length_has_an_end() -> None:
    text = BEYOND.replace("cpu 100 ms/request", "cpu 100 ms/request; queue 60 request")
    graph = lowered(text)
    assert _at(graph, _only(graph).mean_latency, 50) == 0.1


def test_the_largest_values_are_those_of_single_items() -> None:
    param = "param work = { average 50 ms/request; least 10 ms/request; largest 200 ms/request }\n"
    text = param + BEYOND.replace("100 ms/request", "work")
    assert _at(lowered(text), _only(lowered(text)).mean_latency, 21) == float("inf")


# -- one stage after the other ---------------------------------------------------------------

STAGES = """
users N in 1..99
machine a { cpu 1 core, queueing FIRST }
machine b { cpu 1 core, queueing SECOND }
component ca { cpu 5 ms/request }
component cb { cpu 10 ms/request }
network w { rate 1000 Tbit/s; queueing md1 }
topology { node na = a; node nb = b }
stream job for each na { traffic N * 1 request/s, 1 bit/request; at na { ca }; at nb { cb } }
"""


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("mm1", "mm1", CertaintyKind.EXACT),  # Jackson
        ("mmc", "mm1", CertaintyKind.EXACT),
        ("mm1", "md1", CertaintyKind.EXACT),  # what leaves mm1 is random (Burke)
        ("mg1 cv 3", "md1", CertaintyKind.APPROXIMATION),
        ("md1", "mm1", CertaintyKind.APPROXIMATION),
        ("periodic", "periodic", CertaintyKind.APPROXIMATION),
    ],
)
def test_a_stage_behind_another_is_exact_where_that_keeps_arrivals_random(
    first: str, second: str, kind: CertaintyKind
) -> None:
    text = STAGES.replace("FIRST", first).replace("SECOND", second)
    text = text.replace("at na { ca }; at nb", "at na { ca }; over l; at nb")
    text = text.replace("node nb = b }", "node nb = b; link l = w between na, nb }")
    text = text.replace("rate 1000 Tbit/s; queueing md1", "rate 1000 Tbit/s")
    stream = _only(lowered(text))
    known = stream.latency_certainty
    waits = tuple(r for r in known.reasons if "is excluded" not in r)
    if kind is CertaintyKind.EXACT:
        assert known.kind is CertaintyKind.LOWER_BOUND  # for the link alone
        assert waits == ()
    else:
        assert known.kind is kind
        assert "`nb.cpu`" in waits[0]


# -- users who wait before they ask again -------------------------------------------------------

ERP = """
users staff in 1..400
param think = 15 s
machine db { cpu 1 core, queueing mm1 }
machine desk { }
component query { cpu 60 ms/request }
topology { node base = db; node seat = desk * staff }
stream job for each seat { traffic 1 request / think; at base { query } }
"""


@pytest.mark.parametrize(
    ("was", "now", "is_warned"),
    [
        ("", "", True),
        ("for each seat { traffic 1", "{ traffic staff * 1", True),
        ("queueing mm1", "queueing mmc", True),
        (", queueing mm1", "", False),  # nobody waits
        ("mm1", "periodic", False),
        ("1 request / think", "0.1 request/s", False),
        ("param think = 15 s", "param pace = 4 request/minute", False),
    ],
)
def test_a_rate_of_one_over_a_think_time_is_open_traffic(
    was: str, now: str, is_warned: bool
) -> None:
    text = ERP.replace(was, now, 1) if was else ERP
    if "pace" in text:
        text = text.replace("1 request / think", "pace")
    found = check_source(Source("x.qps", text)).diagnostics
    assert any(one.code is codes.OPEN_TRAFFIC for one in found) is is_warned


def test_media_go_by_their_clock() -> None:
    text = ERP.replace("think = 15 s", "think = 20 ms").replace("request", "packet")
    found = check_source(Source("x.qps", text)).diagnostics
    assert not any(one.code is codes.OPEN_TRAFFIC for one in found)
