"""Packets that tcpdump or Wireshark have captured: how many, and how long, in each stretch of time.

Files are read by scapy, which is installed only where it is requested (`qps[captures]`).
"""

from __future__ import annotations

import logging
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from gzip import BadGzipFile, GzipFile
from io import BufferedReader
from math import floor
from pathlib import Path

from qps.compiler.diagnostics.extras import need_scapy
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, unreadable
from qps.compiler.measurement.observations.observed_runs import (
    MOST_STRETCHES,
    ObservedRuns,
    moment,
    too_many_stretches,
    written,
)
from qps.compiler.measurement.observations.time_windows import whole_stretches

_MOST_PACKETS = 50_000_000
_MOST_NOTES = 3
_LARGEST_PIECE = 16 * 2**20
"""Bytes: what Wireshark takes for a block at the most."""
_OF_ALL_INTERFACES = (113, 276)
"""Types of links as which Linux writes what passes any interface (SLL, SLL2)."""
_GZIP = b"\x1f\x8b"
_LOGGER = logging.getLogger("scapy")
"""Where scapy says what is broken; it goes on, or ends there as if that were the end."""
_HINT = "use a file written by `tcpdump -w FILE` or Wireshark"


def capture_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return packets and bytes a second in each whole stretch of the window; gaps are zeros.

    Bytes are those on the wire, also where only the beginnings of packets were kept. The first
    and the last stretch are left out: the capture begins and ends within them.
    """
    need_scapy("`qps observe pcap`")
    window = how.stretch
    assert window is not None
    try:
        counts, warnings = _counts(path, window)
    except OSError as error:
        raise unreadable(path, error) from error
    if not counts:
        raise DataError(f"`{shortened(str(path))}` contains no packets", _HINT)
    rows = []
    for place in whole_stretches(counts, window, str(path)):
        packets, octets = counts.get(place, (0, 0))
        rows.append((moment(place * window), written(packets / window), written(octets / window)))
    return ObservedRuns(
        headings=("time", "packet/s", "byte/s"),
        rows=tuple(rows),
        notes=tuple(f"warning: `{path}`: {note}" for note in warnings[:_MOST_NOTES]),
    )


def _counts(path: Path, window: float) -> tuple[dict[int, list[int]], list[str]]:
    """Return the packets and bytes of each stretch, and what is broken."""
    counts: dict[int, list[int]] = {}
    with _warnings() as warnings:
        for time, length in _packets(path):
            place = floor(time / window)
            found = counts.setdefault(place, [0, 0])
            found[0] += 1
            found[1] += length
            if len(counts) > MOST_STRETCHES:
                raise too_many_stretches(str(path))
    return counts, warnings


def _packets(path: Path) -> Iterator[tuple[float, int]]:
    """Yield when each packet passed, in s since 1970, and its length on the wire in bytes."""
    from scapy.error import Scapy_Exception  # noqa: PLC0415 - half a second
    from scapy.utils import RawPcapReader  # noqa: PLC0415

    number = -1
    try:
        with path.open("rb") as raw, RawPcapReader(_Pieces(_unpacked(raw))) as reader:
            per_second = 10**9 if getattr(reader, "nano", False) else 10**6
            of_file = getattr(reader, "linktype", None)
            for number, (_, packet) in enumerate(reader):
                if number == 0 and getattr(packet, "linktype", of_file) in _OF_ALL_INTERFACES:
                    _LOGGER.warning(
                        "captured on all interfaces (`any`): a packet is counted on each that it "
                        "passes; capture one interface, such as `-i eth0`"
                    )
                if number >= _MOST_PACKETS:
                    raise DataError(f"`{path}` has more than {_MOST_PACKETS:,} packets", "split it")
                if hasattr(packet, "sec"):
                    yield packet.sec + packet.usec / per_second, packet.wirelen
                elif packet.tshigh is not None:
                    yield ((packet.tshigh << 32) + packet.tslow) / packet.tsresol, packet.wirelen
                else:
                    raise DataError(f"`{path}` has packets without a time", _HINT)
    except (Scapy_Exception, EOFError, struct.error, zlib.error, BadGzipFile) as error:
        if number < 0:
            message = f"`{shortened(str(path))}` is not a packet capture"
            raise DataError(message, _HINT) from error
        _LOGGER.warning("truncated after packet %d: %s", number + 1, error)


class _Pieces:
    """A file that gives no piece larger than any packet is.

    A few bytes of a capture say how long the next piece is, and so much memory is taken for it,
    whether or not so much is there.
    """

    def __init__(self, file: BufferedReader | GzipFile) -> None:
        self._file = file
        self.close = file.close

    def read(self, size: int) -> bytes:
        """Return so many bytes, fewer at the end; `struct.error` where they are too many."""
        if size > _LARGEST_PIECE:
            raise struct.error(f"a block of {size:,} bytes")
        return self._file.read(size)


def _unpacked(raw: BufferedReader) -> BufferedReader | GzipFile:
    """Return a file as it was before gzip, once."""
    if not raw.peek(2).startswith(_GZIP):
        return raw
    file = GzipFile(fileobj=raw)
    if file.peek(2).startswith(_GZIP):
        raise BadGzipFile("it is compressed twice")
    return file


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Give what scapy warns of meanwhile: it reads up to what is broken, and goes no further."""
    warnings: list[str] = []

    class WarningCollector(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            warnings.append(record.getMessage())

    keeper = WarningCollector()
    propagated, _LOGGER.propagate = _LOGGER.propagate, False
    handlers, _LOGGER.handlers = _LOGGER.handlers, [keeper]
    try:
        yield warnings
    finally:
        _LOGGER.propagate, _LOGGER.handlers = propagated, handlers
