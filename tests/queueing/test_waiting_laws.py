"""Laws of waits alone, and shares of items beyond a time, against closed forms and simulations."""

from __future__ import annotations

from fractions import Fraction
from math import exp, sqrt

import pytest

from helpers.specs import lowered
from qps.compiler.quantities.certainty import CertaintyKind

SPEC = """
users N in 1..2
unit thread
network wire {{ propagation 1 us }}
machine box {{ }}
machine m {{ cpu {cores} core, queueing {queueing} }}
machine o {{ cpu 64 core, queueing mmc }}
component c {{ cpu 0.1 s/request }}
component d {{ cpu 0.3 s/request }}
component e {{ cpu 0.01 s/request }}
component rest {{ delay 1 s }}
topology {{
  node root = box
  node a = o
  node b = m
  link l = wire between root, a, b
}}
{streams}
measure asked = {query}
"""
BATCH = "stream s in all {{ traffic {rate} request/s, 1 bit/request; at root {{ {steps} }} }}"
AGAIN = """
stream s in all {{ traffic {rate} request/s, 1 bit/request; at b {{ c; call a {{ e }}; d }} }}
"""
USERS = """
stream users in all {{ traffic {users} request, 1 bit/request, think 1 s; at b {{ c }} }}
stream s in all {{ traffic {rate} request/s, 1 bit/request; at b {{ c }} }}
"""
RANKS = """
stream first in all {{ traffic {rate} request/s, 1 bit/request; priority 1; at b {{ c }} }}
stream s in all {{ traffic {rate} request/s, 1 bit/request; priority 2; at b {{ c }} }}
"""


def _value(query: str, streams: str, queueing: str = "mm1", cores: int = 1) -> float:
    return _measured(query, streams, queueing, cores)[0]


def _measured(
    query: str, streams: str, queueing: str = "mm1", cores: int = 1
) -> tuple[float, CertaintyKind, list[str]]:
    text = SPEC.format(queueing=queueing, cores=cores, streams=streams, query=query)
    graph = lowered(text)
    one = graph.measures["asked"]
    return graph.at(1).number(one.value), one.known.kind, [by.method for by in one.known.because]


def _batches(copies: int, load: float) -> str:
    rate = load / copies / 0.1
    return BATCH.format(rate=rate, steps=f"together {copies} {{ call b {{ c }} }}")


# -- copies that come together ---------------------------------------------------------------


@pytest.mark.parametrize("queueing", ["mm1", "md1", "mg1 cv 2"])
@pytest.mark.parametrize("copies", [2, 3, 8])
@pytest.mark.parametrize("load", [0.3, 0.8])
def test_the_first_copy_of_a_batch_may_not_wait(queueing: str, copies: int, load: float) -> None:
    """It is the first one with 1/n, and finds the server free with 1 - load."""
    streams = _batches(copies, load)
    found, kind, methods = _measured("share(b.cpu.wait > 0 s)", streams, queueing)
    assert found == pytest.approx(1 - (1 - load) / copies, rel=1e-6)
    assert (kind, methods) == (CertaintyKind.APPROXIMATION, ["batch-waits"])


@pytest.mark.parametrize("load", [0.3, 0.8])
@pytest.mark.parametrize("level", [80, 95, 99])
def test_two_copies_of_exponential_service_wait_as_their_transform_says(
    load: float, level: int
) -> None:
    """A batch waits as in M/G/1 with services of two stages, and half of the copies one more.

    So the transform is (1 - load) (s + m) (s + 2 m)/2/((s + first) (s + second)).
    """
    found, late = _value(f"b.cpu.wait.p{level}", _batches(2, load)), 0.0
    served, rate = 10.0, load / 2 / 0.1
    middle, product = served - rate / 2, served**2 - 2 * served * rate
    apart = sqrt(middle**2 - product)
    for root, other in ((middle - apart, middle + apart), (middle + apart, middle - apart)):
        part = (1 - load) * (served - root) * (2 * served - root) / 2 / (other - root)
        late += part / root * exp(-root * found)
    assert late == pytest.approx(1 - level / 100, rel=1e-6)


PLAYED_BATCHES = {  # discipline, copies, load: simulated mean, p50, p95 and p99, in s
    ("mm1", 3, 0.3): (0.1824, 0.1089, 0.6333, 0.9974),
    ("mm1", 8, 0.8): (2.173, 1.602, 6.27, None),
    ("md1", 2, 0.8): (0.4433, 0.3106, 1.340, None),
    ("md1", 8, 0.3): (0.5185, 0.4887, 1.310, 1.905),
    ("mg1 cv 2", 2, 0.3): (0.1742, 0.00796, 0.8757, 1.645),
    ("mg1 cv 2", 8, 0.8): (2.741, 1.931, 8.536, None),
}
"""A p99 that is None was not known to 5 % in so short a simulation."""


@pytest.mark.parametrize(("queueing", "copies", "load"), PLAYED_BATCHES)
def test_waits_of_copies_are_near_simulated_ones(queueing: str, copies: int, load: float) -> None:
    mean, *played = PLAYED_BATCHES[queueing, copies, load]
    streams = _batches(copies, load)
    assert _value("b.cpu.wait", streams, queueing) == pytest.approx(mean, rel=0.03)
    for level, simulated, within in zip((50, 95, 99), played, (0.14, 0.04, 0.04), strict=True):
        if simulated is not None:
            found = _value(f"b.cpu.wait.p{level}", streams, queueing)
            assert found == pytest.approx(simulated, rel=within), level


SEVERAL_SERVERS = {  # cores, copies, load: share that waits, mean and p95 of the wait, in services
    (2, 3, 0.3): (0.5333, 0.5801, 2.653),
    (4, 3, 0.3): (0.2226, 0.131, 0.8767),
    (4, 8, 0.3): (0.65, 0.7816, 3.03),
    (4, 3, 0.7): (0.6422, 1.0076, 4.008),
    (16, 32, 0.6): (0.8, 1.782, 6.117),
}
"""By the Markov chain of how many copies are there, found by one in any place of its batch."""


@pytest.mark.parametrize(("cores", "copies", "load"), SEVERAL_SERVERS)
def test_copies_wait_for_several_servers_about_as_their_chain_says(
    cores: int, copies: int, load: float
) -> None:
    waiting, mean, late = SEVERAL_SERVERS[cores, copies, load]
    of = (_batches(copies, load * cores), "mmc", cores)
    assert _value("share(b.cpu.wait > 0 s)", *of) == pytest.approx(waiting, rel=0.3)
    assert _value("b.cpu.wait", *of) / 0.1 == pytest.approx(mean, rel=0.25)
    found, kind, methods = _measured("b.cpu.wait.p95", *of)
    assert found / 0.1 == pytest.approx(late, rel=0.2)
    assert kind is CertaintyKind.APPROXIMATION
    assert "batch-waits" in methods


# -- items that come back --------------------------------------------------------------------

PLAYED_AGAIN = {  # discipline, load: simulated p95, and share > 0, of a visit; p95 of the stream
    ("mm1", 0.4): (0.6735, 0.3538, 1.171),
    ("mm1", 0.8): (2.684, 0.7747, 5.047),
    ("md1", 0.4): (0.3661, 0.3445, 0.6537),
    ("md1", 0.8): (1.545, 0.7637, 2.949),
}


@pytest.mark.parametrize(("queueing", "load"), PLAYED_AGAIN)
def test_waits_of_items_that_come_back_are_near_simulated_ones(queueing: str, load: float) -> None:
    late, busy, of_stream = PLAYED_AGAIN[queueing, load]
    streams = AGAIN.format(rate=load / 0.4)
    assert _value("b.cpu.wait.p95", streams, queueing) == pytest.approx(late, rel=0.16)
    assert _value("share(b.cpu.wait > 0 s)", streams, queueing) == pytest.approx(busy, rel=0.17)
    found, kind, methods = _measured("s.wait.p95", streams, queueing)
    assert found == pytest.approx(of_stream, rel=0.2)
    assert kind is CertaintyKind.APPROXIMATION
    assert "feedback-percentiles" in methods
    share = _value(f"share(s.wait > {found:.15g} s)", streams, queueing)
    assert share == pytest.approx(0.05, rel=1e-6)


FIXED_AGAIN = """
users N in 1..2
network wire { propagation 1 us }
machine mf { cpu 1 core, queueing mm1 }
machine mb { cpu 1 core, queueing md1 }
component work { cpu 0.44 s/request }
component query { cpu 0.325333 s/request }
topology { node f = mf; node b = mb; link l = wire between f, b }
stream s { traffic 1 request/s, 1 bit/request; at f { work; call b * 1.5 { query } } }
"""


@pytest.mark.parametrize(("level", "simulated"), [(50, 1.323), (95, 3.434), (99, 4.787)])
def test_fixed_services_that_some_come_back_to_have_a_law(level: int, simulated: float) -> None:
    """What is waited for by those who do not come back varies by rounding alone."""
    graph = lowered(FIXED_AGAIN)
    stream, there = graph.streams["s"], graph.at(1)
    found = there.number(stream.latency_quantile(Fraction(level, 100)))
    assert found == pytest.approx(simulated, rel=0.02)
    later = there.number(stream.later(Fraction(found)))
    assert later == pytest.approx(1 - level / 100, rel=1e-5)


# -- beside users who wait -------------------------------------------------------------------

PLAYED_BESIDE = {  # discipline, cores, users, traffic: simulated p95; shares above 0.1 and 0.5 s
    ("mm1", 1, 3, 3.0): (0.4668, 0.342, 0.0882),
    ("mm1", 1, 10, 1.0): (0.8384, 0.683, 0.2993),
    ("ps", 1, 3, 3.0): (0.4724, 0.3104, 0.1038),
    ("ps", 1, 10, 1.0): (1.048, 0.5882, 0.2589),
}


@pytest.mark.parametrize(("queueing", "cores", "users", "rate"), PLAYED_BESIDE)
def test_open_traffic_and_users_who_think_wait_together(
    queueing: str, cores: int, users: int, rate: float
) -> None:
    late, waiting, later = PLAYED_BESIDE[queueing, cores, users, rate]
    streams = USERS.format(users=users, rate=rate)
    of = (streams, queueing, cores)
    assert _value("s.wait.p95", *of) == pytest.approx(late, rel=0.1)
    assert _value("share(s.wait > 0.1 s)", *of) == pytest.approx(waiting, rel=0.05)
    assert _value("share(s.latency > 0.5 s)", *of) == pytest.approx(later, rel=0.08)


# users, think time in services: p95 of the wait, in services, and the share that waits at all, by
# the Markov chain of how many others are there: waits grow by n/(n + 1) of the time beside n.
SHARING_USERS = {(2, 1): (1.805, 0.75), (3, 3): (2.391, 0.6825), (10, 10): (6.675, 0.8562)}


@pytest.mark.parametrize(("users", "think"), SHARING_USERS)
def test_users_who_share_a_server_wait_as_the_chain_of_others_says(users: int, think: int) -> None:
    late, waiting = SHARING_USERS[users, think]
    streams = USERS.format(users=users, rate=1e-6).replace("think 1 s", f"think {think / 10} s")
    found, kind, _ = _measured("users.wait.p95", streams, "ps")
    assert found / 0.1 == pytest.approx(late, rel=0.05)
    assert kind is CertaintyKind.APPROXIMATION
    assert _value("share(users.wait > 0 s)", streams, "ps") == pytest.approx(waiting, rel=0.25)


# -- interruptions ---------------------------------------------------------------------------

PLAYED_RANKS = {  # variation, load: simulated p95, p99 and share > 0 of the second stream
    ("", 0.4): (0.5172, 0.9252, 0.5),
    ("", 0.8): (2.533, None, 0.8585),
    (" cv 0", 0.4): (0.2783, 0.4479, 0.5086),
    (" cv 0", 0.8): (1.298, 1.968, 0.8665),
    (" cv 2", 0.4): (1.245, 2.382, 0.4861),
}


@pytest.mark.parametrize(("variation", "load"), PLAYED_RANKS)
def test_waits_of_who_is_interrupted_are_near_simulated_ones(variation: str, load: float) -> None:
    *played, waiting = PLAYED_RANKS[variation, load]
    of = (RANKS.format(rate=load / 0.2), f"priority preemptive{variation}")
    for level, simulated in zip((95, 99), played, strict=True):
        if simulated is not None:
            assert _value(f"s.wait.p{level}", *of) == pytest.approx(simulated, rel=0.04), level
    assert _value("share(s.wait > 0 s)", *of) == pytest.approx(waiting, rel=0.01)


def test_nobody_is_interrupted_before_the_first_rank_comes() -> None:
    """Of exponential services an item waits for nobody with (1 - 0.8)/(1 + 0.4)."""
    found = _value("share(s.wait > 0 s)", RANKS.format(rate=4), "priority preemptive")
    assert found == pytest.approx(1 - 0.2 / 1.4, rel=1e-6)


# -- shares beyond a time --------------------------------------------------------------------


@pytest.mark.parametrize("queueing", ["priority", "priority preemptive"])
@pytest.mark.parametrize("level", [50, 95])
def test_a_share_of_a_rank_is_of_the_law_of_its_percentile(queueing: str, level: int) -> None:
    streams = RANKS.format(rate=4)
    late = _value(f"s.p{level}", streams, queueing)
    share = _value(f"share(s.latency > {late:.15g} s)", streams, queueing)
    assert share == pytest.approx(1 - level / 100, rel=1e-6)


UNLIKE = "call a * 2 { call b * 30 % { c }; call b * 20 % { d } }"
"""Waits at one queue again, by chances drawn twice: a sum of periodic ones has no known law."""


@pytest.mark.parametrize("level", [50, 80, 95, 99])
def test_shares_of_added_percentiles_are_of_the_law_of_two_moments(level: int) -> None:
    streams = BATCH.format(rate=2, steps=UNLIKE)
    late, kind, methods = _measured(f"s.p{level}", streams, "periodic")
    assert (kind, "nearer-percentile" in methods) == (CertaintyKind.APPROXIMATION, True)
    query = f"share(s.latency > {late:.15g} s)"
    share, kind, methods = _measured(query, streams, "periodic")
    assert share == pytest.approx(1 - level / 100, rel=1e-6)
    assert (kind, "later-by-two-moments" in methods) == (CertaintyKind.APPROXIMATION, True)


def test_no_item_is_faster_than_what_is_always_the_same() -> None:
    streams = BATCH.format(rate=2, steps=UNLIKE + "; call a { rest }")
    assert _value("share(s.latency > 0.999 s)", streams, "md1") == 1
    assert _value("share(s.latency > 1 day)", streams, "md1") < 1e-9


def test_the_cycle_of_users_has_shares_near_its_percentiles() -> None:
    """The percentile is that of the whole cycle, the share that of independent stays."""
    streams = USERS.format(users=10, rate=1)
    late = _value("users.p95", streams)
    found, kind, _ = _measured(f"share(users.latency > {late:.15g} s)", streams)
    assert found == pytest.approx(0.05, abs=0.02)
    assert kind is CertaintyKind.APPROXIMATION


@pytest.mark.parametrize("level", [50, 95])
def test_shares_of_calls_at_once_are_of_the_law_of_their_percentiles(level: int) -> None:
    streams = BATCH.format(rate=2, steps="together 3 { call b { c } }; call a { e }")
    late = _value(f"s.p{level}", streams, "mg1 cv 2")
    share = _value(f"share(s.latency > {late:.15g} s)", streams, "mg1 cv 2")
    assert share == pytest.approx(1 - level / 100, rel=1e-4)
