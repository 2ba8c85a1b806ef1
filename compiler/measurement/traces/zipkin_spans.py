"""Spans of Zipkin, version 2 of its JSON."""

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
    operation_of,
    peer_of,
    returned_by,
    sent_by,
)
from qps.compiler.measurement.traces.span_names import has_secrets, service_name
from qps.compiler.measurement.traces.spans import Kind, TraceSpan, clock

_SHARED = ":server"


class _Endpoint(Struct, frozen=True):
    serviceName: str | None = None  # noqa: N815 - as Zipkin spells it
    ipv4: str | None = None


class _Span(Struct, frozen=True, kw_only=True):
    traceId: str  # noqa: N815
    id: str
    name: str | None = None
    parentId: str | None = None  # noqa: N815
    kind: str | None = None
    timestamp: int | None = None  # in us, as the duration
    duration: int | None = None
    shared: bool = False
    localEndpoint: _Endpoint = _Endpoint()  # noqa: N815
    remoteEndpoint: _Endpoint | None = None  # noqa: N815
    tags: dict[str, Any] = {}


_SPANS = msgspec.json.Decoder(_Span)


def wants(path: Path) -> bool:
    """Return whether an object is a span: they stand in a list, or in a list of lists."""
    return path in ((ITEM,), (ITEM, ITEM))


def spans_of(parts: Iterable[Part], name: str) -> Iterator[TraceSpan]:
    """Yield the spans; one without a start is of no use, as its order is unknown."""
    for part in parts:
        if not part.text:
            continue
        try:
            span = _SPANS.decode(part.text)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DataError(
                f"`{name}` has a span that is not valid Zipkin JSON, version 2: {error}",
                "export the traces from `/api/v2/traces`",
            ) from error
        yield _span(span)


def _span(span: _Span) -> TraceSpan:
    tags = {key: str(value) for key, value in span.tags.items() if key in WANTED}
    kind = Kind.__members__.get(span.kind or "", Kind.INTERNAL)
    remote = span.remoteEndpoint.serviceName if span.remoteEndpoint else None
    is_outgoing = kind in (Kind.CLIENT, Kind.PRODUCER)
    start = clock(1000 * (span.timestamp or 0))
    # Both sides of a call may share an ID: then the side of the server is a child of the client's.
    return TraceSpan(
        trace=span.traceId,
        id=span.id + _SHARED if span.shared else span.id,
        parent=span.id if span.shared else span.parentId or "",
        service=service_name(span.localEndpoint.serviceName or "unknown_service"),
        operation=operation_of(span.name or "", tags if kind is Kind.SERVER else {}),
        has_secrets=has_secrets(span.name or ""),
        kind=kind,
        start=start,
        end=start + clock(1000 * (span.duration or 0)),
        is_error="error" in span.tags or failed(tags, kind),
        peer=(service_name(remote) if remote else peer_of(tags)) if is_outgoing else "",
        instance=instance_of(tags) or span.localEndpoint.ipv4 or "",
        sent=sent_by(tags),
        returned=returned_by(tags),
    )
