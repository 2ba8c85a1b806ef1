"""The spans of a file, in whichever format it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import unreadable
from qps.compiler.measurement.traces import (
    jaeger_spans,
    otlp_protobuf,
    otlp_spans,
    zipkin_spans,
)
from qps.compiler.measurement.traces.json_elements import Part, parts_of
from qps.compiler.measurement.traces.json_elements import Path as JsonPath
from qps.compiler.measurement.traces.spans import TraceSpan

_HEAD = 1 << 16
_BOM = b"\xef\xbb\xbf"

Found = Callable[[str], None]
"""What takes a note about a file."""


class TraceFormat(Struct, frozen=True, kw_only=True):
    """A format of JSON: its name, what it begins with, and the functions that read it."""

    name: str
    begins: re.Pattern[bytes]
    wants: Callable[[JsonPath], bool]
    spans_of: Callable[[Iterable[Part], str], Iterator[TraceSpan]]


FORMATS = (
    TraceFormat(
        name="OTLP JSON",
        begins=re.compile(rb'\s*[\[{].*"(resourceSpans|batches)"', re.DOTALL),
        wants=otlp_spans.wants,
        spans_of=otlp_spans.spans_of,
    ),
    TraceFormat(
        name="Jaeger JSON",
        begins=re.compile(rb'\s*[\[{].*"(operationName|processID|processes|spanID)"', re.DOTALL),
        wants=jaeger_spans.wants,
        spans_of=jaeger_spans.spans_of,
    ),
    TraceFormat(
        name="Zipkin JSON",
        begins=re.compile(rb'\s*\[.*"(traceId|localEndpoint)"', re.DOTALL),
        wants=zipkin_spans.wants,
        spans_of=zipkin_spans.spans_of,
    ),
)
"""All of JSON; the first that fits is read."""

_LOOKS = (
    (b"\x1f\x8b", "a gzip file", "unpack it with `gunzip`"),
    (b"PK\x03\x04", "a zip file", "unpack it with `unzip`"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it with `unzstd`"),
    (b"PAR1", "a Parquet file", "export the traces from Tempo's API as JSON"),
    (b"<", "HTML or XML", "save the answer of the tracing backend's API, not its page"),
)


def spans_of_file(path: Path, note: Found) -> Iterator[TraceSpan]:
    """Yield the spans of a file; DataError where it holds none in a format that is known."""
    name = shortened(str(path))
    try:
        with path.open("rb") as file:
            yield from _spans(file, name, note)
    except OSError as error:
        raise unreadable(path, error) from error


def _spans(file: BinaryIO, name: str, note: Found) -> Iterator[TraceSpan]:
    head = file.read(_HEAD).removeprefix(_BOM)
    for start, what, hint in _LOOKS:
        if head.lstrip().startswith(start):
            raise DataError(f"`{name}` is {what}, not a file of traces", hint)
    found = next((one for one in FORMATS if one.begins.match(head)), None)
    is_whole = [True]
    rest = _Rest(head, file)
    if found is not None:
        kind = found.name
        spans = found.spans_of(_whole(parts_of(rest, name, found.wants), is_whole), name)
    elif otlp_protobuf.is_protobuf(head):
        kind, spans = "OTLP protobuf", otlp_protobuf.spans_of(rest, name)
    else:
        raise _unknown(head, name)
    count = 0
    for span in spans:
        count += 1
        yield span
    note(f"{name}: {count:,} spans of {kind}")
    if not is_whole[0]:
        note(f"warning: `{name}` ends in the middle; the spans before that were read")


def _whole(parts: Iterable[Part | None], is_whole: list[bool]) -> Iterator[Part]:
    for part in parts:
        if part is None:
            is_whole[0] = False
        else:
            yield part


def _unknown(head: bytes, name: str) -> DataError:
    if not head.strip():
        return DataError(f"`{name}` is empty", "export the traces again")
    looks = "JSON, but of no trace format" if head.lstrip()[:1] in (b"{", b"[") else "no JSON"
    known = ", ".join(one.name for one in FORMATS)
    return DataError(
        f"`{name}` is {looks} that is known: {known}, or OTLP protobuf",
        "write traces with the `file` exporter of the OpenTelemetry collector, download them from "
        "Jaeger, or save `/api/v2/traces` of Zipkin",
    )


class _Rest:
    """A file whose first bytes were read already."""

    def __init__(self, head: bytes, file: BinaryIO) -> None:
        self.head = head
        self.file = file

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        if self.head:
            head, self.head = self.head, b""
            return head
        return self.file.read(size)
