"""Spans of OTLP as JSON: what the collector's file exporter and most backends write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    weight_of_state,
)
from qps.compiler.measurement.traces.span_names import has_secrets, service_name
from qps.compiler.measurement.traces.spans import Kind, TraceSpan, clock

_RESOURCES = frozenset({"resourceSpans", "batches"})
_MOST_PENDING = 200_000


class _Value(Struct, frozen=True, gc=False):
    stringValue: str | None = None  # noqa: N815 - as OTLP spells it
    intValue: int | str | None = None  # noqa: N815
    doubleValue: float | str | None = None  # noqa: N815
    boolValue: bool | None = None  # noqa: N815

    def text(self) -> str:
        """Return what the value says; nothing for lists and maps."""
        if self.stringValue is not None:  # nearly all are
            return self.stringValue
        values = (self.intValue, self.doubleValue, self.boolValue)
        return next((str(value) for value in values if value is not None), "")


class _Attribute(Struct, frozen=True, gc=False):
    key: str = ""
    value: _Value = _Value()


class OtlpStatus(Struct, frozen=True, gc=False):
    """Whether a span failed."""

    code: int | str = 0


class _Resource(Struct, frozen=True):
    attributes: list[_Attribute] = []


class OtlpSpan(Struct, frozen=True, kw_only=True):
    """A span as OTLP spells it."""

    traceId: str  # noqa: N815 - as OTLP spells it
    spanId: str  # noqa: N815
    startTimeUnixNano: int | str = 0  # noqa: N815
    endTimeUnixNano: int | str = 0  # noqa: N815
    name: str = ""
    parentSpanId: str | None = None  # noqa: N815
    kind: int | str = 0
    traceState: str = ""  # noqa: N815
    attributes: list[_Attribute] = []
    status: OtlpStatus = OtlpStatus()


_SPANS = msgspec.json.Decoder(OtlpSpan)
_RESOURCE = msgspec.json.Decoder(_Resource)


def wants(path: Path) -> bool:
    """Return whether an object of a document is a span, or the resource that wrote some."""
    if _RESOURCES.isdisjoint(path):
        return False
    return path[-1] == "resource" or path[-2:] == ("spans", ITEM)


def spans_of(parts: Iterable[Part], name: str) -> Iterator[TraceSpan]:
    """Yield the spans; those that stand before their resource wait for it."""
    resource: dict[str, str] | None = None
    pending: list[OtlpSpan] = []
    for part in parts:
        try:
            if not part.text:
                if part.path[-1:] == (ITEM,) and not _RESOURCES.isdisjoint(part.path[-2:]):
                    yield from (otlp_span(one, resource or {}) for one in pending)
                    resource, pending = None, []
            elif part.path[-1] == "resource":
                resource = texts(_RESOURCE.decode(part.text).attributes)
            elif resource is None:
                pending.append(_SPANS.decode(part.text))
                if len(pending) > _MOST_PENDING:
                    raise _late(name)
            else:
                yield otlp_span(_SPANS.decode(part.text), resource)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise DataError(
                f"`{name}` has a span that is not valid OTLP: {error}", "export the traces again"
            ) from error


def _late(name: str) -> DataError:
    return DataError(
        f"`{name}` has more than {_MOST_PENDING:,} spans before the resource that wrote them",
        "write `resource` before `scopeSpans`, as the OpenTelemetry collector does",
    )


def attribute(key: str, value: str) -> _Attribute:
    """Return an attribute with a text."""
    return _Attribute(key=key, value=_Value(stringValue=value))


def texts(attributes: Iterable[_Attribute]) -> dict[str, str]:
    """Return the attributes that anything reads, as texts."""
    return {one.key: one.value.text() for one in attributes if one.key in WANTED}


def otlp_span(span: OtlpSpan, resource: dict[str, str]) -> TraceSpan:
    """Return a span of OTLP with what its resource says; ValueError where it is none."""
    attributes = texts(span.attributes)
    kind = _kind(span.kind)
    return TraceSpan(
        trace=span.traceId,
        id=span.spanId,
        parent=_without_zeros(span.parentSpanId or ""),
        service=service_name(resource.get("service.name", "unknown_service")),
        operation=operation_of(span.name, attributes if kind is Kind.SERVER else {}),
        kind=kind,
        start=clock(int(span.startTimeUnixNano)),
        end=clock(int(span.endTimeUnixNano)),
        is_error=span.status.code in (2, "2", "STATUS_CODE_ERROR") or failed(attributes, kind),
        peer=peer_of(attributes) if kind in (Kind.CLIENT, Kind.PRODUCER) else "",
        instance=instance_of(resource),
        weight=weight_of_state(span.traceState) if span.traceState else 1.0,
        sent=sent_by(attributes),
        returned=returned_by(attributes),
        has_secrets=has_secrets(span.name),
    )


def _kind(kind: int | str) -> Kind:
    if isinstance(kind, str):
        name = kind.removeprefix("SPAN_KIND_")
        return Kind[name] if name in Kind.__members__ else Kind.INTERNAL
    return Kind(kind) if 1 <= kind <= Kind.CONSUMER else Kind.INTERNAL


def _without_zeros(parent: str) -> str:
    """Return an ID; one of zeros, or of `AAAA…` in base64, is none."""
    return parent if parent.strip("0") and parent.rstrip("=").strip("A") else ""
