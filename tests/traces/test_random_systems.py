"""Random systems: their graphs of calls are found in their traces, and their specs hold."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import examples
from qps.cli import main
from qps.compiler.measurement.traces.call_graph import CallGraph, TracedCall
from qps.compiler.measurement.traces.observed_traces import observed_traces
from traces.written_traces import FORMATS, Work, as_text, spans_of

SERVICES = ("front", "cart", "stock", "user", "db-1", "Mail Service")
Way = tuple[tuple[str, str], ...]


@st.composite
def works(draw: st.DrawFn, depth: int = 3, service: str = "front") -> Work:
    """Return a request with calls of different operations, each in turn or with others."""
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(SERVICES), st.sampled_from(("Get", "Put"))),
            unique=True,
            max_size=3 if depth else 0,
        )
    )
    calls = [
        Work(
            **{
                **_fields(draw(works(depth=depth - 1, service=callee))),
                "operation": operation,
                "message": draw(st.integers(0, 9)) == 0,
            }
        )
        for callee, operation in keys
    ]
    steps: list[Work | tuple[Work, ...]] = []
    if len(calls) > 1 and draw(st.booleans()) and not any(one.message for one in calls[:2]):
        steps.append((calls[0], calls[1]))
        calls = calls[2:]
    for call in calls:
        steps += [call] * draw(st.integers(1, 3))
    own = draw(st.integers(1, 9))
    network = draw(st.integers(0, 2)) / 2
    return Work(service=service, operation="GET /", own=own, network=network, calls=tuple(steps))


def _fields(work: Work) -> dict[str, object]:
    return {name: getattr(work, name) for name in work.__struct_fields__}


def ways_of(work: Work, above: Way = (), times: float = 1.0) -> Iterator[tuple[Way, float]]:
    """Yield the ways to all calls; one that is not waited for begins a way."""
    way = (work.service, work.operation), *(() if work.message else above)
    yield way, times
    for step in work.calls:
        for call in step if isinstance(step, tuple) else (step,):
            yield from ways_of(call, way, times)


def ways_in(graph: CallGraph) -> Iterator[tuple[Way, float]]:
    for route in graph.routes:
        yield from _below(route.root, ())


def _below(call: TracedCall, above: Way) -> Iterator[tuple[Way, float]]:
    way = call.key, *above
    yield way, call.count
    for step in call.steps:
        for group in step.together:
            for one in group:
                yield from _below(one, way)


def together_in(call: TracedCall) -> set[frozenset[tuple[str, str]]]:
    groups = {
        frozenset(one.key for one in group)
        for step in call.steps
        for group in step.together
        if len(group) > 1
    }
    for step in call.steps:
        for group in step.together:
            for one in group:
                groups |= together_in(one)
    return groups


def together_of(work: Work) -> set[frozenset[tuple[str, str]]]:
    groups = {
        frozenset((one.service, one.operation) for one in step)
        for step in work.calls
        if isinstance(step, tuple)
    }
    for step in work.calls:
        for one in step if isinstance(step, tuple) else (step,):
            groups |= together_of(one) if not one.message else set()
    return groups


def observed(folder: Path, roots: list[Work], kind: str, shuffled: bool = False) -> CallGraph:
    """Return the graph of the traces of requests, in a file of a format."""
    spans = spans_of(roots, every=1000)
    if shuffled:
        random.Random(7).shuffle(spans)
    path = folder / "traces.json"
    path.write_text(as_text(FORMATS[kind](spans)), encoding="utf-8")
    return observed_traces([path])


@pytest.mark.parametrize("kind", FORMATS)
@given(data=st.data())
@settings(max_examples=examples(60))
def test_a_random_graph_of_calls_is_found_again(
    kind: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    roots = data.draw(st.lists(works(), min_size=1, max_size=4))
    expected: Counter[Way] = Counter()
    for root in roots:
        for way, times in ways_of(root):
            expected[way] += times  # type: ignore[assignment]
    graph = observed(tmp_path_factory.mktemp("random"), roots, kind, shuffled=True)
    assert dict(ways_in(graph)) == dict(expected)
    assert not any(vars_of(graph))


def vars_of(graph: CallGraph) -> list[int]:
    """Return how often anything was wrong with the traces."""
    return [getattr(graph.flaws, name) for name in graph.flaws.__struct_fields__]


@given(root=works())
@settings(max_examples=examples(60))
def test_calls_at_the_same_time_are_found_and_no_others(
    root: Work, tmp_path_factory: pytest.TempPathFactory
) -> None:
    graph = observed(tmp_path_factory.mktemp("together"), [root] * 3, "otlp")
    roots = [route.root for route in graph.routes if not route.is_message]
    assert len(roots) == 1
    assert together_in(roots[0]) == together_of(root)


@given(roots=st.lists(works(depth=2), min_size=3, max_size=6))
@settings(max_examples=examples(40))
def test_specs_of_random_systems_hold_what_the_traces_say(
    roots: list[Work], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("specs")
    (folder / "traces.json").write_text(as_text(FORMATS["otlp"](spans_of(roots))))
    spec = folder / "system.qps"
    assert main(["observe", "traces", str(folder / "traces.json"), "-o", str(spec)]) == 0
    assert main(["fmt", "--check", str(spec)]) == 0
    assert main(["test", str(spec)]) == 0


HOSTILE = (
    "", "user", "users", "call", "ms", "N", "π", "日本", "1st", "a b", "a-b", "a_b", "x" * 500,
    "max", '"""', "# } stream x {", "a\nb", "\u202eevil", "recorded", "pod", "cpu", "waits",
    "$(rm)", "SELECT", "a\x00b",
)  # fmt: skip


def test_hostile_names_become_names_of_a_spec(tmp_path: Path) -> None:
    roots = [
        Work(
            service="front",
            operation=f"GET /{name}",
            calls=tuple(Work(service=one, operation=name) for one in HOSTILE),
        )
        for name in HOSTILE[:6]
    ]
    document = json.dumps(FORMATS["otlp"](spans_of(roots)))
    (tmp_path / "traces.json").write_text(document)
    spec = tmp_path / "system.qps"
    assert main(["observe", "traces", str(tmp_path / "traces.json"), "-o", str(spec)]) == 0
    assert main(["check", str(spec)]) == 0
    assert main(["fmt", "--check", str(spec)]) == 0
    text = spec.read_text(encoding="utf-8")
    assert "\u202e" not in text
    assert "\x00" not in text
