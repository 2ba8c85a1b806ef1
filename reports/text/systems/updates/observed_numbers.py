"""The numbers of a spec that are, or may be, observed: where each stands, and its evidence.

A spec that is written from new observations has the same numbers under the same keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.diagnostics.source import Source, Span
from qps.compiler.syntax import ast
from qps.reports.text.systems.updates.calls_in_streams import stream_numbers
from qps.reports.text.systems.updates.evidence import Evidence, evidence_of
from qps.reports.text.systems.updates.text_places import (
    comment_lines,
    evidence_above,
)

Key: TypeAlias = tuple[str, ...]
_HEAD = 5000


class ObservedNumber(Struct, frozen=True, kw_only=True):
    """A number, or a piece of text that goes with others: from `start` to `end`, as written.

    `name` is what the person calls it, `kind` that of its observation. `source` is where it has a
    source, evidence or not; of a declaration, an empty stretch where one would stand. A call is in
    a `block` of requests, named by its first component, or has a share of its own before it.
    """

    name: str
    kind: str
    start: int
    end: int
    text: str
    evidence: Evidence | None
    source: tuple[int, int] | None = None
    block: str = ""
    is_share: bool = False


def observed_numbers(module: ast.Module) -> Mapping[Key, ObservedNumber]:
    """Return all of them by their keys."""
    found: dict[Key, ObservedNumber] = {}
    counts: Counter[Key] = Counter()
    for key, one in _all(module):
        counts[key] += 1
        found[(*key, str(counts[key]))] = one
    return found


def _all(module: ast.Module) -> Iterator[tuple[Key, ObservedNumber]]:
    text = module.source.text
    yield from _head(text)
    for one in module.declarations:
        match one:
            case ast.Param() | ast.Let():
                yield from _parameter(one)
            case ast.Component():
                yield from _component(one, text)
            case ast.Machine():
                yield from _machine(one, text)
            case ast.Topology():
                for item in one.items:
                    if isinstance(item, ast.Node):
                        yield from _node(item)
            case ast.Stream():
                for each in stream_numbers(one, text):
                    is_whole = each.kind in ("route", "size")
                    yield (
                        each.key,
                        ObservedNumber(
                            name=one.name.text if is_whole else each.key[-1],
                            kind=each.kind,
                            start=each.start,
                            end=each.end,
                            text=text[each.start : each.end],
                            evidence=each.evidence,
                            block=each.block,
                            is_share=each.is_share,
                        ),
                    )
            case ast.Expect():
                yield from _claims(one)


def _head(text: str) -> Iterator[tuple[Key, ObservedNumber]]:
    """Yield what the spec says of the files and the period: two lines at its top."""
    lines = [*comment_lines(text, 0, min(len(text), _HEAD))]
    for above, line in pairwise(lines):
        pair = (("files", above), ("period", line))
        fields = [evidence_of(kind, one.text) for kind, one in pair]
        if None in fields:
            continue
        for (kind, one), of in zip(pair, fields, strict=True):
            evidence = Evidence(
                kind=kind, text=one.text, start=one.start, end=one.end, fields=of or {}
            )
            here = Span(Source(label="", text=text), one.end, one.end)
            yield ("head", kind), _written(kind, kind, here, evidence)
        return


def _written(
    name: str,
    kind: str,
    span: Span,
    evidence: Evidence | None,
    source: tuple[int, int] | None = None,
) -> ObservedNumber:
    return ObservedNumber(
        name=name,
        kind=kind,
        start=span.start,
        end=span.end,
        text=span.text,
        evidence=evidence,
        source=source,
    )


def source_evidence(source: ast.Text | None, *kinds: str) -> Evidence | None:
    """Return what a source says, in the quotes."""
    if source is None:
        return None
    for kind in kinds:
        fields = evidence_of(kind, source.value)
        if fields is not None:
            span = source.span
            return Evidence(
                kind=kind, text=source.value, start=span.start, end=span.end, fields=fields
            )
    return None


_OF_PARAMETERS = ("rate", "retries", "cpu", "replicas", "assumed")


def _parameter(one: ast.Param | ast.Let) -> Iterator[tuple[Key, ObservedNumber]]:
    evidence = source_evidence(one.source, *_OF_PARAMETERS)
    span = one.value.span
    if isinstance(one, ast.Param) and one.range is not None:
        # A range is the person's, but for that of replicas, which an autoscaler has.
        is_counted = evidence is not None and evidence.kind == "replicas"
        span = span.to(one.range.span) if is_counted else span
    name = one.name.text
    kind = "" if evidence is None else evidence.kind
    yield ("param", name), _written(name, kind, span, evidence, _source(one.source, span))


def _source(source: ast.Text | None, value: Span) -> tuple[int, int]:
    """Return where a source stands, or an empty stretch behind the value."""
    return (value.end, value.end) if source is None else (source.span.start, source.span.end)


def _component(one: ast.Component, text: str) -> Iterator[tuple[Key, ObservedNumber]]:
    evidence = evidence_above(text, one.span.start, "elapsed")
    for item in one.items:
        if isinstance(item, ast.Effect) and item.kind == "delay" and item.value is not None:
            yield (
                ("component", one.name.text),
                _written(one.name.text, "elapsed", item.value.span, evidence),
            )


def _machine(one: ast.Machine, text: str) -> Iterator[tuple[Key, ObservedNumber]]:
    evidence = source_evidence(one.source, "limit")
    name = one.name.text
    for item in one.resources:
        if evidence is not None:
            yield ("machine", name, item.name.text), _written(name, "limit", item.span, evidence)
        for attribute in item.attributes:
            if attribute.name.text == "idle":
                yield ("idle", name), _written(name, "idle", attribute.value.span, None)
    memory = evidence_above(text, one.span.start, "memory")
    if memory is not None:
        span = Span(one.span.source, one.span.start, one.span.start)
        yield ("memory", name), _written(name, "memory", span, memory)


def _node(one: ast.Node) -> Iterator[tuple[Key, ObservedNumber]]:
    evidence = source_evidence(one.source, "instances")
    place, source = one.place.span, _source(one.source, one.place.span)
    yield ("node", one.name.text), _written(one.name.text, "instances", place, evidence, source)


def _claims(one: ast.Expect) -> Iterator[tuple[Key, ObservedNumber]]:
    source = one.source if isinstance(one.source, ast.Text) else None
    evidence = source_evidence(source, "files")
    if source is not None and evidence is None and one.name.text == "recorded_latencies":
        span = source.span
        evidence = Evidence(
            kind="files", text=source.value, start=span.start, end=span.end, fields={}
        )
    for claim in one.claims:
        if claim.claimed is not None:
            value = re.sub(r"\s+", " ", claim.value.span.text)
            number = _written(one.name.text, "claim", claim.claimed.span, evidence)
            yield ("claim", one.name.text, value), number
