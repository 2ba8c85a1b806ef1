"""Traces that a test writes by hand: a tree of work, laid out in time, in each of the formats."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

MS = 1_000_000
START = 1_700_000_000_000_000_000
Document = dict[str, Any] | list[Any]


class Work(Struct, frozen=True, kw_only=True):
    """A request: it works for `own` ms, then makes its calls, one after the other.

    Those in one tuple are made at the same time. `network` ms pass on the way there, and back.
    One that is a `message` is not waited for; one that is `bare` writes no span itself.
    """

    service: str
    operation: str
    own: float = 1.0
    calls: tuple[Work | tuple[Work, ...], ...] = ()
    network: float = 0.0
    fails: bool = False
    message: bool = False
    bare: bool = False
    instance: str = ""
    sent: int | None = None
    returned: int | None = None
    state: str = ""


class WrittenSpan(Struct, frozen=True, kw_only=True):
    """A span before it has a format; times in ns."""

    trace: str
    id: str
    parent: str
    work: Work
    service: str
    kind: Literal["SERVER", "CLIENT", "PRODUCER", "CONSUMER", "INTERNAL"]
    start: int
    end: int


class _Layout:
    """The spans of one trace, as they are laid out."""

    def __init__(self, trace: str) -> None:
        self.trace = trace
        self.spans: list[WrittenSpan] = []
        self.count = 0

    def new_id(self) -> str:
        self.count += 1
        return f"{self.count:016x}"

    def served(self, work: Work, parent: str, start: int, kind: str = "SERVER") -> int:
        """Lay out the work of a service; return when it ends."""
        own_id = self.new_id()
        now = start + round(work.own * MS)
        for step in work.calls:
            group = step if isinstance(step, tuple) else (step,)
            now = max(self.called(one, work.service, own_id, now) for one in group)
        self._add(own_id, parent, work, work.service, kind, start, now)
        return now

    def called(self, work: Work, caller: str, parent: str, start: int) -> int:
        """Lay out a call; return when its caller goes on."""
        client = self.new_id()
        way = round(work.network * MS)
        if work.message:
            end = start + way
            self.served(work, client, end, "CONSUMER")
            self._add(client, parent, work, caller, "PRODUCER", start, end)
            return end
        end = start + way + round(work.own * MS) + way
        if not work.bare:
            end = self.served(work, client, start + way) + way
        self._add(client, parent, work, caller, "CLIENT", start, end)
        return end

    def _add(
        self, own: str, parent: str, work: Work, service: str, kind: Any, start: int, end: int
    ) -> None:
        self.spans.append(
            WrittenSpan(
                trace=self.trace,
                id=own,
                parent=parent,
                work=work,
                service=service,
                kind=kind,
                start=start,
                end=end,
            )
        )


def spans_of(roots: Iterable[Work], every: float = 100.0) -> list[WrittenSpan]:
    """Return the spans of some traces, which begin `every` so many ms."""
    found: list[WrittenSpan] = []
    for number, root in enumerate(roots):
        layout = _Layout(f"{number + 1:032x}")
        layout.served(root, "", START + round(number * every * MS))
        found += layout.spans
    return found


def _attributes(span: WrittenSpan) -> Iterator[tuple[str, Any]]:
    work = span.work
    if span.kind == "CLIENT" and work.bare:
        yield "peer.service", work.service
    if span.kind in ("SERVER", "CONSUMER"):
        if work.sent is not None:
            yield "http.request.body.size", work.sent
        if work.returned is not None:
            yield "http.response.body.size", work.returned


def otlp(spans: Sequence[WrittenSpan]) -> Document:
    """Return spans as OTLP, by service, as a collector batches them."""
    kinds = {"INTERNAL": 1, "SERVER": 2, "CLIENT": 3, "PRODUCER": 4, "CONSUMER": 5}
    resources: dict[tuple[str, str], list[Any]] = {}
    for span in spans:
        own = span.work.instance if span.kind in ("SERVER", "CONSUMER") else ""
        resources.setdefault((span.service, own), []).append(
            {
                "traceId": span.trace,
                "spanId": span.id,
                "parentSpanId": span.parent,
                "traceState": span.work.state,
                "name": span.work.operation,
                "kind": kinds[span.kind],
                "startTimeUnixNano": str(span.start),
                "endTimeUnixNano": str(span.end),
                "attributes": [_otlp_attribute(*one) for one in _attributes(span)],
                "status": {"code": 2} if span.work.fails else {},
            }
        )
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [
                        _otlp_attribute("service.name", service),
                        *([_otlp_attribute("service.instance.id", own)] if own else []),
                    ]
                },
                "scopeSpans": [{"scope": {"name": "test"}, "spans": found}],
            }
            for (service, own), found in resources.items()
        ]
    }


def _otlp_attribute(key: str, value: Any) -> Any:
    kind = "stringValue" if isinstance(value, str) else "intValue"
    return {"key": key, "value": {kind: str(value)}}


def jaeger(spans: Sequence[WrittenSpan]) -> Document:
    """Return spans as Jaeger's page downloads them; times there are in us."""
    traces: dict[str, list[WrittenSpan]] = {}
    for span in spans:
        traces.setdefault(span.trace, []).append(span)
    return {"data": [_jaeger_trace(trace, found) for trace, found in traces.items()]}


def _jaeger_trace(trace: str, spans: Sequence[WrittenSpan]) -> Any:
    services = sorted({span.service for span in spans})
    return {
        "traceID": trace,
        "spans": [
            {
                "traceID": trace,
                "spanID": span.id,
                "operationName": span.work.operation,
                "references": [
                    {"refType": "CHILD_OF", "traceID": trace, "spanID": span.parent}
                    for _ in range(bool(span.parent))
                ],
                "startTime": span.start // 1000,
                "duration": (span.end - span.start) // 1000,
                "tags": [
                    {"key": "span.kind", "type": "string", "value": span.kind.lower()},
                    *({"key": k, "value": v} for k, v in _attributes(span)),
                    *([{"key": "error", "type": "bool", "value": True}] * span.work.fails),
                ],
                "processID": f"p{services.index(span.service)}",
            }
            for span in spans
        ],
        "processes": {f"p{n}": {"serviceName": one} for n, one in enumerate(services)},
    }


def zipkin(spans: Sequence[WrittenSpan]) -> Document:
    """Return spans as Zipkin has them: both sides of a call share the ID of the client's."""
    clients = {(s.trace, s.id) for s in spans if s.kind in ("CLIENT", "PRODUCER")}
    shared = {
        (s.trace, s.id): s.parent
        for s in spans
        if s.kind == "SERVER" and (s.trace, s.parent) in clients
    }
    found = []
    for span in spans:
        own = shared.get((span.trace, span.id))
        parent = shared.get((span.trace, span.parent), span.parent)
        one: dict[str, Any] = {
            "traceId": span.trace,
            "id": own or span.id,
            "name": span.work.operation,
            "timestamp": span.start // 1000,
            "duration": (span.end - span.start) // 1000,
            "localEndpoint": {"serviceName": span.service},
            "tags": {key: str(value) for key, value in _attributes(span)},
        }
        if span.kind != "INTERNAL":
            one["kind"] = span.kind
        if span.work.fails:
            one["tags"]["error"] = "true"
        if own:
            one["shared"] = True
            parent = next(s.parent for s in spans if (s.trace, s.id) == (span.trace, own))
        if parent:
            one["parentId"] = parent
        found.append(one)
    return found


FORMATS = {"otlp": otlp, "jaeger": jaeger, "zipkin": zipkin}


def as_text(document: Document) -> str:
    """Return a document as a file has it."""
    return json.dumps(document)
