"""Spans of Jaeger as JSON: what its page downloads and its HTTP API answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec import Struct

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.json_elements import ITEM, Part, Path
from qps.compiler.measurement.traces.span_attributes import (
    WANTED,
    failed,
    instance_of,
    kind_of,
    operation_of,
    peer_of,
    returned_by,
    sent_by,
    weight_of_sampler,
)
from qps.compiler.measurement.traces.span_names import has_secrets, service_name
from qps.compiler.measurement.traces.spans import Kind, TraceSpan, clock

_MOST_PENDING = 200_000


class _Tag(Struct, frozen=True):
    key: str = ""
    value: Any = None


class _Reference(Struct, frozen=True):
    refType: str = "CHILD_OF"  # noqa: N815 - as Jaeger spells it
    traceID: str = ""  # noqa: N815
    spanID: str = ""  # noqa: N815


class _Process(Struct, frozen=True):
    serviceName: str = "unknown_service"  # noqa: N815
    tags: list[_Tag] = []


class _Span(Struct, frozen=True, kw_only=True):
    traceID: str  # noqa: N815
    spanID: str  # noqa: N815
    startTime: int  # noqa: N815 - in us, as the duration
    duration: int
    operationName: str = ""  # noqa: N815
    references: list[_Reference] | None = None
    parentSpanID: str = ""  # noqa: N815
    tags: list[_Tag] | None = None
    processID: str = ""  # noqa: N815
    process: _Process | None = None


_SPANS = msgspec.json.Decoder(_Span)
_PROCESSES = msgspec.json.Decoder(dict[str, _Process])


def wants(path: Path) -> bool:
    """Return whether an object of a document is a span, or the processes of a trace."""
    return path[-2:] == ("spans", ITEM) or path[-1:] == ("processes",)


def spans_of(parts: Iterable[Part], name: str) -> Iterator[TraceSpan]:
    """Yield the spans, trace by trace, as processes stand behind the spans of a trace."""
    pending: list[_Span] = []
    processes: dict[str, _Process] = {}
    for part in parts:
        try:
            if not part.text:
                yield from (_span(one, processes) for one in pending)
                pending, processes = [], {}
            elif part.path[-1] == "processes":
                processes = _PROCESSES.decode(part.text)
            else:
                pending.append(_SPANS.decode(part.text))
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise DataError(
                f"`{name}` has a span that is not valid Jaeger JSON: {error}",
                "export the traces again, from the page of a trace or `/api/traces`",
            ) from error
        if len(pending) > _MOST_PENDING:
            raise DataError(
                f"`{name}` has a trace of more than {_MOST_PENDING:,} spans",
                "leave this trace out",
            )
    yield from (_span(one, processes) for one in pending)


def _span(span: _Span, processes: dict[str, _Process]) -> TraceSpan:
    process = span.process or processes.get(span.processID) or _Process()
    tags = _texts(span.tags or [])
    kind = kind_of(tags)
    parents = [one for one in span.references or [] if one.traceID in ("", span.traceID)]
    waited = [one for one in parents if one.refType == "CHILD_OF"]
    parent = next(iter(waited or parents), None)
    start = clock(1000 * span.startTime)
    return TraceSpan(
        trace=span.traceID,
        id=span.spanID,
        parent=parent.spanID if parent else span.parentSpanID,
        service=service_name(process.serviceName),
        operation=operation_of(span.operationName, tags if kind is Kind.SERVER else {}),
        has_secrets=has_secrets(span.operationName),
        kind=kind,
        start=start,
        end=start + clock(1000 * span.duration),
        is_error=failed(tags, kind),
        follows=bool(parents) and not waited,
        peer=peer_of(tags) if kind in (Kind.CLIENT, Kind.PRODUCER) else "",
        instance=instance_of(_texts(process.tags)),
        weight=weight_of_sampler(tags),
        sent=sent_by(tags),
        returned=returned_by(tags),
    )


def _texts(tags: Iterable[_Tag]) -> dict[str, str]:
    return {
        tag.key: str(tag.value)
        for tag in tags
        if tag.key in WANTED and isinstance(tag.value, str | int | float | bool)
    }
