"""Spans by trace, in bounded memory: those that are too many wait in files, by their trace.

A file may hold the spans of a trace anywhere, so all of them are read before the first trace is
whole. Up to `MOST_IN_MEMORY` stay in memory; of more, each goes to one of `_FILES` temporary files
by its trace, and these are read one by one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import islice
from typing import IO
from zlib import crc32

import msgspec

from qps.compiler.measurement.traces.spans import TraceSpan

MOST_IN_MEMORY = 300_000
MOST_OF_TRACE = 100_000
"""Spans of one trace: what has more was not one request, but a lost or repeated ID."""
_FILES = 64
_BUFFER = 1 << 16
_PACKED = 4096

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(list[TraceSpan])


def by_trace(spans: Iterable[TraceSpan], most: int = MOST_IN_MEMORY) -> Iterator[list[TraceSpan]]:
    """Yield the spans of each trace, all together; of one that is too long, one more than most."""
    traces: dict[str, list[TraceSpan]] = {}
    iterator = iter(spans)
    first = [*islice(iterator, most)]
    for span in first:
        _add(traces, span)
    if len(first) < most:
        yield from traces.values()
        return
    with ExitStack() as stack:
        files = _Files(stack)
        traces.clear()
        while first:
            files.add(first.pop())
        for span in iterator:
            files.add(span)
        yield from files.traces()


def _add(traces: dict[str, list[TraceSpan]], span: TraceSpan) -> None:
    of_trace = traces.setdefault(span.trace, [])
    if len(of_trace) <= MOST_OF_TRACE:
        of_trace.append(span)


def _temporary_file() -> IO[bytes]:
    return tempfile.TemporaryFile(prefix="qps-spans-", buffering=_BUFFER)


class _Files:
    """Temporary files, deleted with `stack`, each of the spans of some traces."""

    def __init__(self, stack: ExitStack) -> None:
        self.files = [stack.enter_context(_temporary_file()) for _ in range(_FILES)]
        self.waiting: list[list[TraceSpan]] = [[] for _ in range(_FILES)]

    def add(self, span: TraceSpan) -> None:
        number = crc32(span.trace.encode(errors="replace")) % _FILES
        waiting = self.waiting[number]
        waiting.append(span)
        if len(waiting) >= _PACKED:
            self._write(number)

    def _write(self, number: int) -> None:
        packed = _ENCODER.encode(self.waiting[number])
        self.files[number].write(len(packed).to_bytes(8, "little") + packed)
        self.waiting[number].clear()

    def traces(self) -> Iterator[list[TraceSpan]]:
        """Yield the traces of one file after the other."""
        for number, file in enumerate(self.files):
            self._write(number)
            file.seek(0)
            traces: dict[str, list[TraceSpan]] = {}
            while size := file.read(8):
                for span in _DECODER.decode(file.read(int.from_bytes(size, "little"))):
                    _add(traces, span)
            file.close()
            yield from traces.values()
