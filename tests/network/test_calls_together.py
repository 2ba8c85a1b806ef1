"""Calls that are made together, and when a request is where."""

# ruff: noqa: E501 - tables: one case a line, however long

from __future__ import annotations

from fractions import Fraction
from math import log

import pytest

from helpers.breakdowns import explain
from helpers.specs import at, checked, latency, load, lowered
from network.test_calls import reported, spec
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.quantities.certainty import CertaintyKind
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.solver.what_if.inverse import solve_for

# -- together -------------------------------------------------------------------------


def test_what_is_called_together_takes_as_long_as_the_slowest() -> None:
    both = "call db { work(4 ms/request) }; call cache { work(9 ms/request); wait }"
    graph = lowered(spec(f"at web {{ together {{ {both} }} }}"))
    slow = lowered(spec("at web { call cache { work(9 ms/request); wait } }"))
    assert latency(graph, "shop", 3) == latency(slow, "shop", 3)
    written_out = lowered(spec(f"at web {{ {both} }}"))
    for name in written_out.resources:
        assert load(graph, name, 3) == load(written_out, name, 3), name
    assert graph.streams["shop"].latency[4].certainty.kind is CertaintyKind.EXACT


def test_what_some_call_together_within_calls_together_has_its_label() -> None:
    """Two calls of a tenth each take as long as one that 19 % make: 10 % were told as exact."""
    few = (
        "together { call db * 10 % { work(9 ms/request) }; call log * 10 % { work(9 ms/request) } }"
    )
    text = spec(f"at web {{ together {{ call log {{ }}; call cache {{ {few} }} }} }}")
    known = lowered(text).streams["shop"].latency_certainty
    assert known.kind is CertaintyKind.LOWER_BOUND


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
    assert fork.certainty.kind is CertaintyKind.UPPER_BOUND
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


# -- when a request is where ----------------------------------------------------------


def test_the_tree_of_calls_shows_when_a_request_is_where() -> None:
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
    values = [(c.depth, c.name, c.times, c.each, c.start, c.end) for c in explanation.calls]
    assert values == [
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
        value = float(at(graph, stream.latency_quantile(1 - Fraction(str(late))), 50))
        crossed = 0.002 + 8 * 4000 * 1514 / 1448 / 1e9
        assert value == pytest.approx(base_ + crossed + sojourn * log(0.2 / late), rel=1e-6)


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
    by_name = {name: graph.number(one.value) for name, one in graph.measures.items()}
    # The cache is called 0.6 times for 5 ms, and once for 4 ms.
    assert by_name == pytest.approx({"db_": 0.027, "cache_": (0.6 * 5 + 4) / 1.6 / 1000})
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
    assert known.kind is CertaintyKind.APPROXIMATION
    assert any(reason.method == "share-of-periodic" for reason in known.because)


def test_what_recovers_and_queues_may_stand_in_a_call_that_all_make_once() -> None:
    more = "component mend { recover 50 % }\ncomponent hold { queue 6 request }\n"
    called = lowered(spec("at web { call db { mend; hold } }", "", "; loss 10 %", more))
    visited = lowered(
        spec("at web { }\n at db { mend; hold }\n at web { }", "", "; loss 10 %", more)
    )
    assert reported(called) == reported(visited)
    assert [q.value for q in called.streams["shop"].queues] == [
        q.value for q in visited.streams["shop"].queues
    ]
