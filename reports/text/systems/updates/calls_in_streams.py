"""What a stream says of calls: how often each is made, by its components from the root on."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.syntax import ast
from qps.reports.text.systems.updates.evidence import Evidence, evidence_of
from qps.reports.text.systems.updates.text_places import (
    comment_lines,
    evidence_above,
    evidence_behind,
)

Path: TypeAlias = tuple[str, ...]


class StreamNumber(Struct, frozen=True, kw_only=True):
    """Its key, its kind, from where to where it stands, and its evidence.

    `block` is the first component of the share of requests in which a call is written, `is_share`
    whether a share of its own stands right before it.
    """

    key: Path
    kind: str
    start: int
    end: int
    evidence: Evidence | None
    block: str = ""
    is_share: bool = False


def stream_numbers(stream: ast.Stream, text: str) -> Iterator[StreamNumber]:
    """Yield the calls of a stream, the shares of blocks, and its comments."""
    name = stream.name.text
    start = stream.span.start
    route = evidence_above(text, start, "route")
    if route is not None:
        yield StreamNumber(
            key=("route", name), kind="route", start=start, end=start, evidence=route
        )
    for item in stream.items:
        if isinstance(item, ast.Emission) and len(item.values) > 1:
            size = item.values[1].span
            key = ("size", name)
            yield StreamNumber(key=key, kind="size", start=size.start, end=size.end, evidence=route)
        if isinstance(item, ast.At):
            yield from _steps(item.steps, (name,), "", text)
    yield from _seen_together(stream, text)


def _seen_together(stream: ast.Stream, text: str) -> Iterator[StreamNumber]:
    for line in comment_lines(text, stream.span.start, stream.span.end):
        pair, colon, seen = line.text.partition(": ")
        fields = evidence_of("together", seen) if colon else None
        if fields is not None:
            evidence = Evidence(
                kind="together", text=line.text, start=line.start, end=line.end, fields=fields
            )
            key = ("together", stream.name.text, pair)
            yield StreamNumber(
                key=key, kind="together", start=line.end, end=line.end, evidence=evidence
            )


def _steps(
    steps: Iterable[ast.StepItem], path: Path, block: str, text: str
) -> Iterator[StreamNumber]:
    for step in steps:
        match step:
            case ast.CallStep():
                yield from _call(step, None, path, block, text)
            case ast.Chance(steps=(ast.CallStep() as call,)) if _is_one_line(step, call):
                yield from _call(call, step, path, block, text)
            case ast.Chance(probability=probability, steps=inner):
                key = _first_component(inner)
                if probability is not None and key:
                    yield StreamNumber(
                        key=("share", *path, key),
                        kind="share",
                        start=probability.span.start,
                        end=probability.span.end,
                        evidence=_first_evidence(inner, text),
                    )
                yield from _steps(inner, path, key, text)
            case ast.Together(steps=inner):
                yield from _steps(inner, path, block, text)
            case ast.Step(component=component, repeat=repeat):
                begins = text.rfind("\n", 0, step.span.start) + 1
                is_alone = not text[begins : step.span.start].strip()
                evidence = evidence_behind(text, step.span.start, "calls") if is_alone else None
                if evidence is not None:
                    yield StreamNumber(
                        key=("work", *path, component.text),
                        kind="work",
                        start=component.span.end,
                        end=component.span.end if repeat is None else step.span.end,
                        evidence=evidence,
                        block=block,
                    )


def _is_one_line(chance: ast.Chance, call: ast.CallStep) -> bool:
    """Return whether a share is written right before a call, without a block of its own."""
    source, probability = chance.span.source, chance.probability
    return (
        probability is not None and "{" not in source.text[probability.span.end : call.span.start]
    )


def _call(
    call: ast.CallStep, chance: ast.Chance | None, path: Path, block: str, text: str
) -> Iterator[StreamNumber]:
    name = _first_component(call.steps)
    if not name:
        return
    parts = (call.node, *call.links, call.times, call.sends, call.returns, call.source)
    end = max(part.span.end for part in parts if part is not None)
    start = (chance or call).span.start
    inner = (*path, name)
    is_plain = not call.links and call.source is None and call.condition is None
    yield StreamNumber(
        key=("call", *inner),
        kind="calls",
        start=start,
        end=end,
        evidence=evidence_behind(text, start, "calls") if is_plain else None,
        block=block,
        is_share=chance is not None,
    )
    yield from _steps(call.steps, inner, "", text)


def _first_component(steps: Iterable[ast.StepItem]) -> str:
    """Return the first component in steps, however deep it stands."""
    for step in steps:
        match step:
            case ast.Step(component=component):
                return component.text
            case ast.CallStep(steps=inner) | ast.Chance(steps=inner) | ast.Together(steps=inner):
                if found := _first_component(inner):
                    return found
    return ""


def _first_evidence(steps: Iterable[ast.StepItem], text: str) -> Evidence | None:
    """Return the evidence of the first call of a block: its share is what it has in common."""
    for step in steps:
        match step:
            case ast.Chance(steps=inner) | ast.Together(steps=inner):
                return _first_evidence(inner, text)
            case _:
                return evidence_behind(text, step.span.start, "calls")
    return None


def without_numbers(header: str) -> frozenset[str]:
    """Return the words of the header of a call, without its numbers.

    >>> sorted(without_numbers("28 %: call db * 3.2"))
    ['call', 'db']
    """
    return frozenset(re.findall(r"[A-Za-z_]\w*", re.sub(r"(?<![A-Za-z_])\d[\d_.,]*", "", header)))
