"""Spans of the OpenTelemetry SDK as lines of OTLP JSON, as the collector's file exporter writes."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import StatusCode, Tracer

_CODES = {StatusCode.UNSET: 0, StatusCode.OK: 1, StatusCode.ERROR: 2}


class OtlpFile(SpanExporter):
    """Adds a line for each batch of spans to a file."""

    def __init__(self, path: Path) -> None:
        self.file = path.open("a", encoding="utf-8")
        self.lock = threading.Lock()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Write spans, all of which are of one process."""
        line = {
            "resourceSpans": [
                {
                    "resource": {"attributes": _attributes(spans[0].resource.attributes)},
                    "scopeSpans": [{"scope": {"name": "shop"}, "spans": [*map(_written, spans)]}],
                }
            ]
        }
        with self.lock:
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()
        return SpanExportResult.SUCCESS

    def shutdown(self) -> None:
        """Close the file."""
        self.file.close()


def tracer_of(service: str, folder: Path) -> tuple[Tracer, TracerProvider]:
    """Return a tracer that writes to a file of the service, and what flushes it."""
    provider = TracerProvider(resource=Resource({"service.name": service}))
    provider.add_span_processor(BatchSpanProcessor(OtlpFile(folder / f"{service}.traces.json")))
    trace.set_tracer_provider(provider)
    return trace.get_tracer("shop"), provider


def _attributes(values: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in (values or {}).items()]


def _value(value: object) -> dict[str, object]:
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": str(value)}


def _written(span: ReadableSpan) -> dict[str, Any]:
    context = span.context
    return {
        "traceId": f"{context.trace_id:032x}",
        "spanId": f"{context.span_id:016x}",
        "parentSpanId": "" if span.parent is None else f"{span.parent.span_id:016x}",
        "name": span.name,
        "kind": span.kind.value + 1,
        "startTimeUnixNano": str(span.start_time),
        "endTimeUnixNano": str(span.end_time),
        "attributes": _attributes(span.attributes),
        "status": {"code": _CODES[span.status.status_code]},
    }
