"""Recorded packets in arrays: their jitter, what buffers do to it, and which buffer is best.

`compiler.recordings` says the same exactly, packet by packet, and reads every file that can be
read. Plain files of digits, which is what programs write, are read here in a few passes over
arrays instead; whatever is unusual or wrong in a file is left to the other.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.recordings import FEWEST, Packets, Recording, recording_of
from qps.compiler.measurement.trace_files import Heading, TraceError, read_columns, read_first_line

Ticks = NDArray[np.int64]

LARGEST_FILE = 400_000_000
MOST_PACKETS = 20_000_000
_LARGEST_TICKS = 1 << 62
_MOST_DIGITS = 18


class RecordedTrace(Packets[Ticks], frozen=True, eq=False, kw_only=True, dict=True):
    """Packets of a file, measured in arrays.

    `delays` are how much later than the packet with the shortest way each one came.
    """

    file: str

    @property
    def lost(self) -> int:
        """Packets that never arrived."""
        return self.sent - self.received

    @property
    def duration(self) -> float:
        """How long the stream lasts, in s: a period for each packet that was sent."""
        return self.sent * self.period * float(self.tick)

    @cached_property
    def delays(self) -> Ticks:
        """How late each packet came, in the order of sending."""
        delays: Ticks = self.arrivals - self.scheduled
        return delays - int(delays.min())

    @cached_property
    def lateness(self) -> Ticks:
        """The same, the least late packet first."""
        return np.sort(self.delays)

    @cached_property
    def between(self) -> Ticks:
        """The times between packets in the order of arrival."""
        ordered = np.sort(self.arrivals)
        return ordered[1:] - ordered[:-1]

    def seconds(self, ticks: float) -> float:
        """Return ticks as seconds."""
        return float(ticks) * self.tick.numerator / self.tick.denominator

    def ticks(self, time: Fraction) -> int:
        """Return the whole ticks in a time (s); what comes in less is in time for it."""
        return int(time / self.tick)


class JitterMeasures(Struct, frozen=True, kw_only=True):
    """Jitter measures of the times between packets, as in Claypool 1997, section 3.3.

    Times are in s, and `variance` is in s^2. `gaps` is the rate of packets that are lost or too
    late for a given buffer, in 1/s. `area` is the area under the compensation curve, in s. The
    thesis defines the range as `longest` in one place, and as the difference of the extremes
    (`range`) in another. Its absolute deviation is a sum that grows with the trace;
    `absolute_deviation` is this sum divided by n.
    """

    range: float
    longest: float
    mean: float
    variance: float
    standard_deviation: float
    absolute_deviation: float
    total_absolute_deviation: float
    gaps: float
    area: float


class BestBuffer(Struct, frozen=True):
    """The point of the compensation curve nearest to no buffer and no gaps.

    `buffer` in s, `gaps` a share of the packets sent, `distance` with both limits as 1.
    """

    buffer: Fraction
    gaps: float
    distance: float


# -- measures ----------------------------------------------------------------------------


def measures(trace: RecordedTrace, buffer: Fraction) -> JitterMeasures:
    """Return the jitter of a trace; `buffer` (s) is that of the gaps."""
    between = trace.between
    mean = float(between.mean())
    off = between - mean
    variance = float(off @ off) / (len(between) - 1)
    total = float(np.abs(off).sum())
    tick = float(trace.tick)
    return JitterMeasures(
        range=trace.seconds(int(between.max() - between.min())),
        longest=trace.seconds(int(between.max())),
        mean=trace.seconds(mean),
        variance=variance * tick * tick,
        standard_deviation=variance**0.5 * tick,
        absolute_deviation=trace.seconds(total / len(between)),
        total_absolute_deviation=trace.seconds(total),
        gaps=gaps(trace, buffer) * trace.sent / trace.duration,
        area=trace.seconds(float(trace.lateness.mean())),
    )


def gaps(trace: RecordedTrace, buffer: Fraction) -> float:
    """Return the share of packets that a buffer (s) leaves out: too late for it, or lost."""
    in_time = int(np.searchsorted(trace.lateness, trace.ticks(buffer), side="right"))
    return (trace.sent - in_time) / trace.sent


def buffer_for(trace: RecordedTrace, allowed: Fraction) -> float | None:
    """Return the smallest buffer (s) with at most a share of gaps; None where more were lost."""
    late = int(allowed * trace.sent) - trace.lost
    if late < 0:
        return None
    return trace.seconds(int(trace.lateness[max(0, trace.received - 1 - late)]))


def compensation_curve(trace: RecordedTrace) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every buffer (s) at which the gaps become fewer, and the share of gaps there."""
    buffers, shares = _steps(trace)
    return buffers.astype(np.float64) * float(trace.tick), shares


def _steps(trace: RecordedTrace) -> tuple[Ticks, NDArray[np.float64]]:
    buffers, counts = np.unique(trace.lateness, return_counts=True)
    return buffers, (trace.sent - np.cumsum(counts)) / trace.sent


def best_buffer(trace: RecordedTrace, latency: Fraction, allowed: Fraction) -> BestBuffer:
    """Return the best buffer for limits on its delay (s) and on the share of gaps.

    Claypool 1997, section 5.6.4: the point of the compensation curve that is closest to the
    origin, with the limits as units. It is acceptable where its distance is at most 1.
    """
    buffers, shares = _steps(trace)
    distances = np.hypot(buffers * float(trace.tick / latency), shares / float(allowed))
    best = int(np.argmin(distances))
    return BestBuffer(int(buffers[best]) * trace.tick, float(shares[best]), float(distances[best]))


def correlations(columns: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return Pearson's coefficients of measures (a column each) over traces, as table 3.2 does.

    Not-a-number where a measure is the same in all traces.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        table = np.atleast_2d(np.corrcoef(np.asarray(columns, dtype=float)))
    constant = np.ptp(np.asarray(columns, dtype=float), axis=1) == 0
    table[constant, :] = table[:, constant] = np.nan
    return [[float(value) for value in row] for row in table]


# -- reading -----------------------------------------------------------------------------


def load_trace(path: Path, period: Fraction | None, unit: Fraction | None) -> RecordedTrace:
    """Read a trace; `period` is that of the stream, `unit` that of times without one, in s.

    QpsError, with the file and the line, where it cannot be used.
    """
    data = _bytes(path)
    found = _plain(str(path), data, period, unit)
    if found is None:
        try:
            text = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
            recording = recording_of(read_columns(text, unit, MOST_PACKETS), period)
            found = as_trace(str(path), recording)
        except UnicodeDecodeError as error:
            raise _unreadable(path, f"is not UTF-8 text (byte {error.start})") from error
        except TraceError as error:
            raise _bad_data(path, error) from error
    return found


def _bytes(path: Path) -> bytes:
    try:
        if not path.is_file():
            kind = "is not a regular file" if path.exists() else "does not exist"
            kind = "is a folder" if path.is_dir() else kind
            raise _unreadable(path, kind)
        if path.stat().st_size > LARGEST_FILE:
            raise _unreadable(path, f"is larger than {LARGEST_FILE:,} bytes: split the recording")
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, f"cannot be read: {error.strerror or error}") from error


def _unreadable(path: Path, message: str) -> QpsError:
    return QpsError.single(
        codes.UNREADABLE, None, f"`{shortened(str(path))}` {message}", hint="name a CSV file"
    )


def _bad_data(path: Path, error: TraceError) -> QpsError:
    line = "" if error.line is None else f":{error.line}"
    hint = error.hint.replace("add the period", "add the period, such as `--period 160ms`")
    hint = hint.replace("or beside the file", "or with `--unit ms`")
    return QpsError.single(codes.BAD_DATA, None, f"{path}{line}: {error.message}", hint=hint)


def as_trace(file: str, recording: Recording) -> RecordedTrace:
    """Return a recording in arrays, its times counted from the first one."""
    start = min(recording.arrivals)
    origin = recording.scheduled[0]
    largest = max(max(recording.arrivals) - start, recording.scheduled[-1] - origin)
    if largest + recording.sent * recording.period >= _LARGEST_TICKS:
        message = "its times have too many digits"
        raise TraceError(None, message, "round them, or use a larger unit")
    return RecordedTrace(
        file=file,
        places=np.array(recording.places, dtype=np.int64),
        scheduled=np.array([time - origin for time in recording.scheduled], dtype=np.int64),
        arrivals=np.array([time - start for time in recording.arrivals], dtype=np.int64),
        sent=recording.sent,
        duplicates=recording.duplicates,
        period=recording.period,
        tick=recording.tick,
    )


def _plain(
    file: str, data: bytes, period: Fraction | None, unit: Fraction | None
) -> RecordedTrace | None:
    """Return the packets of a plain file; None where the exact reader must look at it."""
    first, _, rest = data.partition(b"\n")
    try:
        cells = next(csv.reader([first.decode("utf-8-sig").rstrip("\r")], strict=True), [])
        heading = read_first_line(cells, unit)
    except (UnicodeDecodeError, csv.Error, TraceError):
        return None
    body = (rest if heading.lines else data).replace(b"\r\n", b"\n")
    table = _digits(body, len(heading.columns))
    return None if table is None else _ordered(file, heading, *table, period)


def _digits(body: bytes, width: int) -> tuple[list[Ticks], list[int]] | None:
    """Return the columns of a table of plain decimals as whole numbers, and their places."""
    if not body.endswith(b"\n"):
        body += b"\n"
    raw = np.frombuffer(body, dtype=np.uint8)
    if not _PLAIN[raw].all():
        return None
    ends = np.flatnonzero((raw == _COMMA) | (raw == _NEWLINE))
    rows, odd = divmod(len(ends), width)
    if odd or not rows or rows > MOST_PACKETS:
        return None
    expected = np.full(width, _COMMA, dtype=np.uint8)
    expected[-1] = _NEWLINE
    if (raw[ends].reshape(rows, width) != expected).any():
        return None
    dots = np.flatnonzero(raw == _DOT)
    cells = np.searchsorted(ends, dots)
    digits = np.diff(ends, prepend=-1) - 1
    digits[cells] -= 1
    places = np.zeros(len(ends), dtype=np.int64)
    places[cells] = ends[cells] - dots - 1
    if (np.diff(cells) == 0).any() or digits.min() < 1 or digits.max() > _MOST_DIGITS:
        return None
    plain = body.translate(_BLANKS, b".")
    values = np.fromstring(plain, dtype=np.int64, sep=" ").reshape(rows, width)
    most = places.reshape(rows, width).max(axis=0)
    missing = most - places.reshape(rows, width)
    if (digits.reshape(rows, width) + missing).max() > _MOST_DIGITS:
        return None
    if missing.any():
        values *= 10**missing
    return [np.ascontiguousarray(column) for column in values.T], [int(m) for m in most]


_COMMA, _NEWLINE, _DOT = b",\n."
_PLAIN = np.zeros(256, dtype=bool)
_PLAIN[list(b"0123456789.,\n")] = True
_BLANKS = bytes.maketrans(b",\n", b"  ")


def _ordered(
    file: str, heading: Heading, columns: list[Ticks], places: list[int], period: Fraction | None
) -> RecordedTrace | None:
    """Return packets in the order of sending; None where their lines are in doubt."""
    named = dict(zip(heading.columns, columns, strict=True))
    decimals = dict(zip(heading.columns, places, strict=True))
    ticks = {n: unit / 10 ** decimals[n] for n, unit in heading.units.items()}
    tick = min(ticks.values())
    numbers = named.get("sequence")
    if numbers is not None and (decimals["sequence"] or (np.diff(numbers) <= 0).any()):
        return None
    if len(columns[0]) < FEWEST or (period is None and "sent" not in named):
        return None
    finer = 1 if period is None else (period / tick).denominator
    arrivals, sent = (
        _from_first(named[name], int(ticks[name] / tick) * finer) if name in named else None
        for name in ("arrival", "sent")
    )
    if arrivals is None or (named.keys() == {"arrival"} and (np.diff(arrivals) < 0).any()):
        return None
    if numbers is None:
        numbers = np.arange(len(arrivals), dtype=np.int64)
    numbers = numbers - numbers[0]
    if sent is not None and (np.diff(sent) < 0).any():
        return None
    count = int(numbers[-1]) + 1
    whole = _usual(numbers, sent) if period is None else int(period / tick * finer)
    if not whole or count > 2 * len(numbers) or count * whole >= _LARGEST_TICKS:
        return None
    scheduled = numbers * whole if sent is None else sent
    return RecordedTrace(
        file=file,
        places=numbers,
        scheduled=scheduled,
        arrivals=arrivals,
        sent=count,
        duplicates=0,
        period=whole,
        tick=tick / finer,
    )


def _usual(numbers: Ticks, sent: Ticks | None) -> int:
    """Return what packets without a loss between them are mostly apart; 0 where some were lost."""
    if sent is None or len(numbers) != int(numbers[-1]) + 1:
        return 0
    apart = np.diff(sent)
    middle = (len(apart) - 1) // 2
    return int(np.partition(apart, middle)[middle])


def _from_first(times: Ticks, factor: int) -> Ticks | None:
    """Return times from the earliest on, in finer ticks; None where they grow too large."""
    times = times - times.min()
    return times * factor if int(times.max()) * factor < _LARGEST_TICKS else None
