"""Premises of labels: a network that meets each of them, and one that does not."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from documents.method_specs import PREMISES as premise_specs
from helpers.reasons import reason
from helpers.specs import lowered
from qps.compiler.diagnostics.source import Source
from qps.compiler.lower.label_doubts import NO_CHECKS, Checks, ClassDoubts
from qps.compiler.lower.labels.premise_checks import Checking
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.lower_measures import Measures
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.pipeline import check_file, check_source
from qps.compiler.quantities.certainty import (
    Certainty,
    CertaintyKind,
    Reason,
    approximation,
    lower_bound,
    upper_bound,
)
from qps.compiler.quantities.methods import METHODS, PREMISES, known_by

ROOT = Path(__file__).resolve().parents[2]
_HEAD = """
users N in 1..100
unit thread
machine queue { cpu 1 core, queueing mm1 }
machine fixed { cpu 1 core, queueing md1 }
machine shared { cpu 1 core, queueing ps }
machine plain { cpu 1 core }
machine pooled { cpu 1 core, queueing ps; threads 4 thread }
machine silent { threads 4 thread, queueing none }
machine gate { threads 2 thread }
machine lines { lines 2 core, queueing loss }
component work { cpu 5 ms/request }
component more { cpu 20 ms/request }
component talk { lines 5 ms/request }
component keeps { cpu 1 % }
component waits { delay 5 ms }
network wire { propagation 0.5 ms }
"""
_TWO = "node a = {a}; node b = {b}; link l = wire between a, b"


def _graph(topology: str, *streams: str, head: str = _HEAD) -> LoadGraph:
    return lowered(f"{head}topology {{ {topology} }}\n" + "\n".join(streams) + "\n")


def _open(way: str, name: str = "s", rate: str = "1 request/s") -> str:
    return f"stream {name} for each user {{ traffic {rate}; {way} }}"


def _closed(way: str, name: str = "s", amount: str = "1 request") -> str:
    return f"stream {name} for each user {{ traffic {amount}, think 1 s; {way} }}"


_OF_STATIONS = ("not-behind-a-pool", "product-form-station", "whole-visits")
_OF_CLASSES = ("product-form-stations", "no-saturation", "free-choice")
_OF_PATHS = ("one-path", "at-most-one-chance")


def _mean(graph: LoadGraph, name: str = "s") -> tuple[Reason, ...]:
    """Return why premises of the mean fail: at the stations of a class, and of the class."""
    stream = graph.streams[name]
    failing = [
        why
        for premise in _OF_STATIONS
        for place in stream.doubts.rests_on
        for why in stream.doubts.checks.of(premise, place)
    ]
    of_class = [w for each in _OF_CLASSES for w in stream.doubts.checks.of(each, name)]
    return tuple(dict.fromkeys((*failing, *of_class)))


def _path(graph: LoadGraph, name: str = "s") -> tuple[Reason, ...]:
    checks = graph.streams[name].doubts.checks
    return tuple(why for premise in _OF_PATHS for why in checks.of(premise, name))


def _is(why: tuple[Reason, ...], method: str, *places: str) -> bool:
    """Tell whether the one reason is of a method, and names places."""
    [reason] = why
    return reason.method == method and all(f"`{place}`" in reason.text for place in places)


# -- what follows where a premise fails --------------------------------------------------------

_EXACT = known_by("path-of-stages", "s")
_DOUBTS = ClassDoubts(
    checks=Checks(fails={"one-path": {"s": (reason("by chance"),)}}),
    saturation_reasons=(reason("held up"),),
)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (_EXACT, approximation(reason("held up"), reason("by chance"))),
        (
            approximation(reason("near"), error=0.1),
            approximation(reason("near"), reason("held up")),
        ),
        (approximation(reason("near")), approximation(reason("near"))),
        (upper_bound(reason("above")), upper_bound(reason("above"))),
        (lower_bound(reason("below")), lower_bound(reason("below"))),
    ],
)
def test_a_premise_that_fails_lowers_what_is_exact_or_states_an_error(
    known: Certainty, expected: Certainty
) -> None:
    found = _DOUBTS.lowered(known)
    assert (found.kind, found.because, found.error) == (
        expected.kind,
        expected.because,
        expected.error,
    )


def test_a_premise_of_a_theorem_is_none_of_another_one() -> None:
    assert _DOUBTS.checks.known(known_by("erlang-c", "s")).is_exact
    assert not _DOUBTS.checks.known(_EXACT).is_exact


# -- a network that meets each premise, and one that does not ----------------------------------


@pytest.mark.parametrize("premise", PREMISES)
def test_a_network_meets_a_premise_and_another_one_does_not(
    premise: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[Reason, ...]] = []

    def checks(checking: Checking) -> Checks:
        found.append(checking.why(premise, at))
        return NO_CHECKS

    monkeypatch.setattr(Checking, "checks", checks)
    at, *specs = premise_specs[premise]
    for text in specs:
        lowered(text)
    holds, fails = found
    assert holds == ()
    assert all(METHODS[one.method].kind is not CertaintyKind.EXACT for one in fails)
    assert fails


# -- of stations -------------------------------------------------------------------------------


def _beside_a_pool(machine: str, taken: str) -> LoadGraph:
    through = _open(f"at a {{ {taken}call b {{ work }}{'; give threads' if taken else ''} }}", "p")
    return _graph(_TWO.format(a=machine, b="shared"), through, _open("at b { work }"))


def test_what_a_pool_lets_through_does_not_arrive_at_random() -> None:
    doubt = _mean(_beside_a_pool("gate", "take threads; "))
    assert _is(doubt, "pool-lets-through-poisson", "a.threads", "b.cpu")


@pytest.mark.parametrize("taken", ["take threads; ", ""])
def test_closed_throughput_is_approximate_if_open_traffic_has_waited_for_a_pool(taken: str) -> None:
    """Simulated at 76 % with 3 cores and threads: throughput is 0.4 % higher than in one."""
    through = _open(f"at a {{ {taken}call b {{ work }}{'; give threads' if taken else ''} }}", "p")
    graph = _graph(_TWO.format(a="gate", b="queue"), through, _closed("at b { work }"))
    known = (graph.streams["s"].arriving_known, graph.resources["b.cpu"].known)
    assert [one.is_exact for one in known] == [not taken] * 2


@pytest.mark.parametrize(("machine", "taken"), [("silent", "take threads; "), ("plain", "")])
def test_what_nobody_waits_for_lets_through_all(machine: str, taken: str) -> None:
    assert _mean(_beside_a_pool(machine, taken)) == ()


def test_what_comes_behind_a_pool_does_not_arrive_at_random_either() -> None:
    way = "at a { take threads; waits; give threads }; over l; at b { work }"
    graph = _graph(_TWO.format(a="gate", b="shared"), _open(way, "p"), _open("at b { work }"))
    assert _is(_mean(graph), "pool-lets-through-poisson", "a.threads", "b.cpu")


@pytest.mark.parametrize(
    ("machine", "steps", "holds"),
    [
        ("fixed", "work; more * (1 + N / 7)", False),  # one visit, of two lengths
        ("queue", "work; more * (1 + N / 7)", False),
        ("fixed", "work; 10 %: more", True),  # of a law that is known
        ("fixed", "10 %: work", True),  # those who come do so at random
        ("queue", "work * 150 %", True),  # half of them twice
        ("fixed", "work * 3", True),
        ("shared", "work; more * (1 + N / 7)", True),  # of any law
        ("fixed", "work; keeps * (N / 7)", True),  # an amount that is kept
    ],
)
def test_a_step_by_chance_has_no_mean_law(machine: str, steps: str, *, holds: bool) -> None:
    doubt = _mean(_graph(f"node a = {machine}", _open(f"at a {{ {steps} }}")))
    assert (doubt == ()) is holds
    assert holds or _is(doubt, "step-by-chance", "a.cpu")


def test_a_step_by_chance_of_users_who_wait_counts_by_its_mean() -> None:
    assert _mean(_graph("node a = queue", _closed("at a { 40 %: work }"))) == ()


@pytest.mark.parametrize(
    ("machine", "other", "holds"),
    [
        ("queue", "more", False),
        ("queue", "work", True),
        ("fixed", "work", False),
        ("shared", "more", True),
    ],
)
def test_one_closed_user_is_in_product_form_only_with_equal_classes(
    machine: str, other: str, *, holds: bool
) -> None:
    one = f"stream s in all {{ traffic 1 request, think 1 s; at a {{ {other} }} }}"
    graph = _graph(f"node a = {machine}", one, _open("at a { work }", "t"))
    for name in ("s", "t"):
        assert (_mean(graph, name) == ()) is holds
    assert holds or _is(_mean(graph), "unequal-beside-closed", "a.cpu")
    assert holds or not graph.streams["s"].rate_known.is_exact


# -- of classes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("calls", "holds"),
    [
        ("call b * 30 % { work }; call b * 70 % { more }", False),
        ("call b * 30 % { work }; call b { more }", True),
        ("call b * 2 { work }; call b * 3 { more }", True),
    ],
)
def test_calls_by_chance_depend_on_each_other_somehow(calls: str, *, holds: bool) -> None:
    graph = _graph(_TWO.format(a="plain", b="shared"), _open(f"at a {{ {calls} }}"))
    assert _mean(graph) == ()
    assert (_path(graph) == ()) is holds
    assert holds or _is(_path(graph), "calls-by-chance", "b")


@pytest.mark.parametrize(
    ("step", "method"),
    [
        ("waits * (1 + N / 7)", "delay-by-chance"),
        ("waits * 2", None),
        ("work * (1 + N / 7)", "step-by-chance"),
        ("1 %: waits", None),
    ],
)
def test_a_quantile_is_of_one_path(step: str, method: str | None) -> None:
    graph = _graph("node a = plain", _open(f"at a {{ {step} }}"))
    assert _mean(graph) == ()
    assert [one.method for one in _path(graph)] == ([method] if method else [])


# -- of closed classes that meet ---------------------------------------------------------------


_FAR = "at a { work; call b { more } }"


def test_what_can_be_full_without_queueing_holds_up_all_who_meet_there() -> None:
    graph = _graph(
        _TWO.format(a="shared", b="plain"), _closed("at a { work }", "near"), _closed(_FAR, "far")
    )
    for name in ("near", "far"):
        assert _is(_mean(graph, name), "saturation-of-others", "b.cpu")
        assert graph.streams[name].doubts.saturation_reasons == _mean(graph, name)
    assert graph.streams["near"].rate_known.error == 0.1
    assert graph.streams["near"].latency_certainty.kind is CertaintyKind.APPROXIMATION


def test_what_has_a_place_for_everybody_is_never_full() -> None:
    head = _HEAD.replace("plain { cpu 1 core }", "plain { cpu 300 core }")
    graph = _graph(
        _TWO.format(a="shared", b="plain"),
        _closed("at a { work }", "near"),
        _closed(_FAR, "far"),
        head=head,
    )
    assert _mean(graph, "near") == ()


@pytest.mark.parametrize(
    ("cores", "count", "whose", "holds"),
    [
        (60, "2", "user", False),  # all may come to one of the two
        (60, "N", "user", False),  # each request goes to any of them
        (60, "2", "b", True),
        (150, "N", "ordered pair of b", False),  # 99 start at one, and 99 reach it
    ],
)
def test_who_has_no_machine_of_its_own_may_come_to_any(
    cores: int, count: str, whose: str, *, holds: bool
) -> None:
    head = _HEAD.replace("plain { cpu 1 core }", f"plain {{ cpu {cores} core }}")
    way = "at b { more }; over l; at b { more }; over l; at a { work }"
    far = _closed(way, "far").replace("each user", f"each {whose}")
    topology = _TWO.format(a="shared", b=f"plain * {count}")
    graph = _graph(topology, _closed("at a { work }", "near"), far, head=head)
    assert (_mean(graph, "near") == ()) is holds


def test_a_class_alone_says_so_by_itself() -> None:
    graph = _graph(_TWO.format(a="shared", b="plain"), _closed(_FAR, "far"))
    assert _mean(graph, "far") == ()


@pytest.mark.parametrize(
    ("count", "names", "holds"), [(2, "st", False), (1, "st", True), (2, "s", True)]
)
def test_a_machine_is_chosen_with_its_pool(count: int, names: str, *, holds: bool) -> None:
    way = "at a { take threads; work; give threads }"
    streams = [_closed(way, name) for name in names]
    doubt = _mean(_graph(f"node a = pooled * {count}", *streams))
    assert (doubt == ()) is holds
    assert holds or _is(doubt, "any-of-the-copies", "a.threads")


def test_pairs_may_fill_a_pool_at_either_of_their_machines() -> None:
    """At each of 100 machines 99 of them start, and 99 come to it."""
    head = _HEAD.replace("ps; threads 4", "ps; threads 150")
    visit = "at a { take threads; work; give threads }"
    stream = _closed(f"{visit}; over l; {visit}").replace("each user", "each ordered pair of a")
    graph = _graph("node a = pooled * N; link l = wire between a", stream, head=head)
    waits = [one for one in graph.streams["s"].latency if "a.threads" in one.stage]
    assert any(graph.at(100).number(one.value) > 0 for one in waits)


# -- what is lost, and labels of all that is told ----------------------------------------------


def _case(folder: str, name: str) -> LoadGraph:
    spec = check_file(ROOT / "tests" / folder / f"{name}.qps").value
    assert spec is not None
    return lower(spec.model, spec.configuration(None))


def test_what_a_pool_lets_through_is_not_lost_as_if_it_came_at_random() -> None:
    graph = _case("networks", "g2_loss")
    stream = graph.streams["s"]
    assert not stream.lost_known.is_exact
    assert not any(part.known.is_exact for part in stream.losses if part.at is not None)
    assert not graph.resources["n1.cpu"].known.is_exact  # what is lost does not come there


@pytest.mark.parametrize(("room", "holds"), [(11, True), (2, True), (1, False)])
def test_nobody_is_lost_where_a_pool_has_no_more_places(room: int, *, holds: bool) -> None:
    head = _HEAD.replace(
        "pooled { cpu 1 core, queueing ps; threads 4",
        f"pooled {{ cpu 1 core, queueing mm1 room {room}; threads 2",
    )
    way = "at a { take threads; work; give threads }"
    graph = _graph("node a = pooled", _open(way), head=head)
    [blocked] = [part for part in graph.streams["s"].losses if part.at is not None]
    assert blocked.known.is_exact is holds


def test_an_error_of_a_wait_is_none_of_a_loss() -> None:
    graph = _case("networks", "g4_loss_behind_uneven")
    stream = graph.streams["s"]
    assert stream.lost_known.kind is CertaintyKind.APPROXIMATION
    assert stream.lost_known.error is not None
    assert stream.latency_certainty.error is not None
    assert stream.lost_known.error > stream.latency_certainty.error
    value = graph.at(200).number(stream.loss)
    assert value == pytest.approx(0.028, rel=stream.lost_known.error)


def _p95(stream: StreamMeasures) -> Certainty:
    return stream.quantile_certainty(Fraction(19, 20))


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("networks", "p1_pool_shapes_others"),
        ("requests", "t4_either"),
        ("requests", "t5_either"),
        ("requests", "t7"),
    ],
)
def test_a_false_quantile_is_not_reported_as_exact(folder: str, name: str) -> None:
    for stream in _case(folder, name).streams.values():
        assert not _p95(stream).is_exact


def test_alternatives_at_one_queue_are_no_visits_again() -> None:
    graph = _case("requests", "r1a_redis")
    (stream,) = graph.streams.values()
    assert _p95(stream).is_exact
    p99 = graph.at(252).number(stream.latency_quantile(Fraction(99, 100)))
    assert p99 == pytest.approx(0.03102, rel=0.005)  # a scan that waits for nothing takes 31 ms


def test_what_a_flow_keeps_of_a_store_is_no_chance() -> None:
    spec = check_file(ROOT / "tests" / "applications" / "kubernetes.qps").value
    assert spec is not None
    graph = lower(spec.model, spec.configuration(None))
    assert _p95(graph.streams["standing"]).is_exact


def test_a_quantile_of_who_is_held_back_where_nothing_waits_is_no_bound() -> None:
    """Played: 19 of 20 times are within 0.62 s, half of them take 0.607 s, and the mean 0.61 s."""
    graph = lowered(
        "users N in 1..2\nmachine m { cpu 3 core, queueing none }\n"
        "component c { cpu 0.60697 s/request }\ntopology { node a = m * 3 }\n"
        "stream s in all { traffic 10 request, 1 bit/request, think 0.1 s; at a { c } }\n"
    )
    stream = graph.streams["s"]
    assert stream.latency_certainty.kind is CertaintyKind.LOWER_BOUND
    known = stream.quantile_certainty(Fraction(1, 2))
    assert known.kind is CertaintyKind.APPROXIMATION
    value = graph.at(1).number(stream.latency_quantile(Fraction(1, 2)))
    assert value == pytest.approx(0.607, rel=0.001)


def test_a_wait_that_is_read_off_a_graph_has_the_label_of_the_measure() -> None:
    """Arrivals behind a queue of constant services are no Poisson process: its wait is no theorem.

    The label of a measure, of a claim and of the simulation's prediction are one.
    """
    text = """
    users N in 1..2
    machine ma { cpu 1 core, queueing md1 }
    machine mc { cpu 1 core, queueing ps }
    network wire { propagation 1 us }
    topology { node a = ma; node c = mc; link l = wire between a, c }
    component first { cpu 1 s/request }
    component last { cpu 0.5 s/request }
    stream s in all {
      traffic 0.3 request/s, 1000 bit/request
      at c { call a { first; together { call c { last } } }; last }
    }
    measure waiting = c.cpu.wait
    """
    spec = check_source(Source("spec.qps", text)).value
    assert spec is not None
    graph = lower(spec.model, spec.configuration((), ()))
    (measure,) = spec.model.measures
    read = Measures.of_graph(graph).known(measure.value.expr)
    assert not graph.measures["waiting"].known.is_exact
    assert read == graph.measures["waiting"].known
