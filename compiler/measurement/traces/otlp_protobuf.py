"""Spans of OTLP as protobuf, by the classes of the package `opentelemetry-proto`."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from qps.compiler.diagnostics.extras import need_opentelemetry
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.traces.json_elements import Readable
from qps.compiler.measurement.traces.otlp_spans import (
    OtlpSpan,
    OtlpStatus,
    attribute,
    otlp_span,
    texts,
)
from qps.compiler.measurement.traces.spans import TraceSpan

_MOST = 512 << 20
_FIRST_FIELD = b"\x0a"  # of TracesData: resource_spans, and of it: resource


def is_protobuf(head: bytes) -> bool:
    """Return whether a file may begin with a message of traces."""
    return head.startswith(_FIRST_FIELD) and not head[:200].isascii()


def spans_of(file: Readable, name: str) -> Iterator[TraceSpan]:
    """Yield the spans of one message `TracesData`, which is read as a whole."""
    need_opentelemetry(f"`{name}` looks like OTLP protobuf, which")
    message = import_module("google.protobuf.message")
    traces = import_module("opentelemetry.proto.trace.v1.trace_pb2")
    content = b"".join(_chunks(file, name))
    try:
        data = traces.TracesData.FromString(content)
        yield from _of_message(data)
    except (message.DecodeError, ValueError) as error:
        raise DataError(
            f"`{name}` is neither JSON nor one message of OTLP traces: {error}",
            "set `format: json` in the `file` exporter of the collector",
        ) from error


def _chunks(file: Readable, name: str) -> Iterator[bytes]:
    size = 0
    while chunk := file.read(1 << 20):
        size += len(chunk)
        if size > _MOST:
            raise DataError(
                f"`{name}` is larger than {_MOST >> 20} MB, and one message of protobuf is read "
                "as a whole",
                "set `format: json` in the `file` exporter of the collector: JSON is read bit by "
                "bit",
            )
        yield chunk


def _of_message(data: Any) -> Iterator[TraceSpan]:
    for resource_spans in data.resource_spans:
        resource = texts(map(_attribute, resource_spans.resource.attributes))
        for scope in resource_spans.scope_spans:
            for one in scope.spans:
                yield otlp_span(_span(one), resource)


def _attribute(one: Any) -> Any:
    which = one.value.WhichOneof("value")
    value = getattr(one.value, which) if which else None
    return attribute(one.key, str(value) if isinstance(value, str | int | float) else "")


def _span(one: Any) -> OtlpSpan:
    return OtlpSpan(
        traceId=one.trace_id.hex(),
        spanId=one.span_id.hex(),
        parentSpanId=one.parent_span_id.hex(),
        startTimeUnixNano=one.start_time_unix_nano,
        endTimeUnixNano=one.end_time_unix_nano,
        name=one.name,
        kind=one.kind,
        traceState=one.trace_state,
        attributes=[*map(_attribute, one.attributes)],
        status=OtlpStatus(code=one.status.code),
    )
