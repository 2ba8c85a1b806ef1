"""Calls in components that lead back to where they began: a request would never be answered.

A stream says which calls a request makes, down to the last one, so that each of its ways ends.
Calls of components would not, where these call each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax.faults import Fault

_ASIDE = re.compile(r'"""[\s\S]*?"""|"[^"\n]*"|#[^\n]*')
_COMPONENT = re.compile(r"\bcomponent\s+(\w+)[^{};\n]*\{")
_CALL = re.compile(r"\bcall\s+([\w.]+)[^{};\n]*\{")
_RUN = re.compile(r"\brun\s+(\w+)")


class _Step(Struct, frozen=True):
    """A component that another one has run, at a `node` where it is called."""

    name: str
    node: str | None
    span: Span


def reports_endless_calls(fault: Fault, sink: Sink) -> bool:
    """Report calls of components that never end; False where a fault is none of these."""
    begins = _COMPONENT.match(fault.before)
    if begins is None or not re.search(r"\bcall\s+[\w.]+$", fault.before):
        return False
    steps = _steps(fault.span.source)
    circle = _circle(begins[1], steps)
    if not any(step.node for step in circle):
        return False
    first = min(range(len(circle)), key=lambda index: circle[index].span.start)
    circle = circle[first:] + circle[:first]
    names = [circle[-1].name, *(step.name for step in circle)]
    called = next(index for index, step in enumerate(circle) if step.node)
    caller, step = names[called], circle[called]
    sink.report(
        codes.DEFINITION_CYCLE,
        circle[0].span,
        f"these calls never end: {' -> '.join(names)}",
        secondary=[Label(one.span, "and here") for one in circle[1:]],
        hint="put the calls into a stream, down to the last one that a request makes: "
        f"`at node {{ {caller}; call {step.node} {{ {step.name} }} }}`",
    )
    return True


def _steps(source: Source) -> dict[str, list[_Step]]:
    """Return what the components of a text call and run."""
    text = _ASIDE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text)
    bodies = {one[1]: (one.end(), _closing(text, one.end())) for one in _COMPONENT.finditer(text)}
    return {
        name: [step for step in _within(source, text, start, end) if step.name in bodies]
        for name, (start, end) in bodies.items()
    }


def _within(source: Source, text: str, start: int, end: int) -> Iterator[_Step]:
    for call in _CALL.finditer(text, start, end):
        span = Span(source, call.start(), call.end(1))
        for word in re.findall(r"\w+", text[call.end() : _closing(text, call.end())]):
            yield _Step(word, call[1], span)
    for run in _RUN.finditer(text, start, end):
        yield _Step(run[1], None, Span(source, run.start(), run.end()))


def _closing(text: str, at: int) -> int:
    """Return where the block ends that begins in front of a place."""
    depth = 1
    for found in re.compile(r"[{}]").finditer(text, at):
        depth += 1 if found[0] == "{" else -1
        if not depth:
            return found.start()
    return len(text)


def _circle(start: str, steps: dict[str, list[_Step]]) -> list[_Step]:
    """Return the shortest way from a component back to itself; none where there is none."""
    ways: list[list[_Step]] = [[step] for step in steps.get(start, ())]
    seen = set[str]()
    for way in ways:
        last = way[-1].name
        if last == start:
            return way
        if last not in seen:
            seen.add(last)
            ways += [[*way, step] for step in steps[last]]
    return []
