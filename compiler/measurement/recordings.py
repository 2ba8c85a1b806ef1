"""Recorded packets put in order, and the measures of their jitter, exact.

How late a packet is counts from its schedule: the time it was sent, or its place in the stream
times the period, moved so that the packet with the shortest way is on time. So clocks that
differ by an offset do no harm. The measures are those of Claypool 1997, sections 3.3 and 5.6.4.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence, Sized
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from statistics import median_low
from typing import Generic, TypeVar

from msgspec import Struct

from qps.compiler.measurement.trace_files import PacketColumns, TraceError

FEWEST = 3
"""Packets that must have arrived: a variance needs two times between packets."""
_MOST_LOST = 1000
_HALF_OF_16_BIT = 1 << 15
_LARGEST_16_BIT = (1 << 16) - 1


Ticks = TypeVar("Ticks", bound=Sized)


class Packets(Struct, Generic[Ticks], frozen=True, eq=False, kw_only=True, dict=True):
    """The packets that arrived, in the order in which they were sent; times are whole ticks.

    A tick is `tick` s. `places` count from the first packet of the file, the lost ones too;
    `scheduled` says when each was sent, or would have been by the period; `period` is the ticks
    between two packets; `sent` counts lost packets too.
    """

    places: Ticks
    scheduled: Ticks
    arrivals: Ticks
    sent: int
    duplicates: int
    period: int
    tick: Fraction

    @property
    def received(self) -> int:
        """Packets that arrived, each counted once."""
        return len(self.places)


class Recording(Packets[tuple[int, ...]], frozen=True, eq=False, kw_only=True, dict=True):
    """Packets that are measured exactly."""

    @property
    def loss(self) -> Fraction:
        """The share of packets that never arrived."""
        return Fraction(self.sent - self.received, self.sent)

    @cached_property
    def between(self) -> tuple[int, ...]:
        """The times between packets in the order of arrival, in ticks."""
        ordered = sorted(self.arrivals)
        return tuple(b - a for a, b in pairwise(ordered))

    @cached_property
    def lateness(self) -> tuple[int, ...]:
        """How late the packets came that arrived, the least first, in ticks."""
        delays = [a - s for a, s in zip(self.arrivals, self.scheduled, strict=True)]
        least = min(delays)
        return tuple(sorted(delay - least for delay in delays))

    @property
    def range(self) -> Fraction:
        """The longest time between two packets less the shortest, in s."""
        return (max(self.between) - min(self.between)) * self.tick

    @property
    def longest(self) -> Fraction:
        """The longest time between two packets, in s: the "range" of table 3.2's caption."""
        return max(self.between) * self.tick

    @property
    def mean(self) -> Fraction:
        """The mean time between packets, in s."""
        return Fraction(sum(self.between), len(self.between)) * self.tick

    @property
    def variance(self) -> Fraction:
        """The variance of the times between packets, over n - 1, in s^2."""
        count, total = len(self.between), sum(self.between)
        squares = sum(value * value for value in self.between)
        return Fraction(count * squares - total * total, count * (count - 1)) * self.tick**2

    @property
    def absolute_deviation(self) -> Fraction:
        """How far the times between packets lie from their mean, on average, in s."""
        count, total = len(self.between), sum(self.between)
        off = sum(abs(count * value - total) for value in self.between)
        return Fraction(off, count * count) * self.tick

    @property
    def area(self) -> Fraction:
        """The area under the whole compensation curve, in s: the mean lateness."""
        return Fraction(sum(self.lateness), self.received) * self.tick

    def area_within(self, buffer: Fraction) -> Fraction:
        """Return the area under the compensation curve from no buffer to one of some seconds."""
        ticks = buffer / self.tick
        short = bisect_right(self.lateness, ticks)
        total = sum(self.lateness[:short]) + (self.received - short) * ticks
        return Fraction(total) / self.received * self.tick

    def late(self, buffer: Fraction) -> Fraction:
        """Return the share of the packets that arrived which came too late for a buffer (s)."""
        return Fraction(self._late(buffer), self.received)

    def gaps(self, buffer: Fraction) -> Fraction:
        """Return the share of all packets that leave a gap: too late for a buffer (s), or lost."""
        return Fraction(self._late(buffer) + self.sent - self.received, self.sent)

    def buffer(self, gaps: Fraction) -> Fraction | None:
        """Return the smallest buffer (s) with at most a share of gaps; None if more were lost."""
        allowed = int(gaps * self.sent) - (self.sent - self.received)
        if allowed < 0:
            return None
        return self.lateness[max(0, self.received - 1 - allowed)] * self.tick

    def _late(self, buffer: Fraction) -> int:
        return self.received - bisect_right(self.lateness, buffer / self.tick)


def recording_of(columns: PacketColumns, period: Fraction | None) -> Recording:
    """Return the packets in order; `period` is the time between two of them, in s.

    It may be left out where times of sending are recorded. TraceError where the lines are in no
    order that makes sense, where too few packets arrived, or where a period is missing.
    """
    rows = _rows(columns)
    arrived = [row for row in rows if row.arrival is not None]
    if len(arrived) < FEWEST:
        raise TraceError(
            None,
            f"{len(arrived)} packet{'s' * (len(arrived) != 1)} arrived, and jitter needs "
            f"at least {FEWEST}",
            "record more packets",
        )
    _check_sent(columns, rows)
    places, duplicates = [], 0
    distinct: list[_Row] = []
    for row in arrived:
        if distinct and row.place == distinct[-1].place:
            duplicates += 1
            continue
        distinct.append(row)
        places.append(row.place - rows[0].place)
    if len(distinct) < FEWEST:
        raise TraceError(None, "too few different packets arrived", "number the packets 1, 2, 3")
    sent = rows[-1].place - rows[0].place + 1
    if sent > _MOST_LOST * len(rows):
        raise TraceError(
            rows[-1].line,
            f"sequence numbers span {sent:,} packets, but the file has {len(rows):,}",
            "number packets 1, 2, 3 in sending order",
        )
    ticks, finer = _period(columns, rows, period)
    arrivals = tuple(row.arrival * finer for row in distinct if row.arrival is not None)
    if columns.sent is None:
        scheduled = tuple(place * ticks for place in places)
    else:
        scheduled = tuple((row.sent or 0) * finer for row in distinct)
    return Recording(
        places=tuple(places),
        scheduled=scheduled,
        arrivals=arrivals,
        sent=sent,
        duplicates=duplicates,
        period=ticks,
        tick=columns.tick / finer,
    )


class _Row(Struct, frozen=True):
    """A line of the file: which packet it is, when it was sent and when it arrived."""

    place: int
    arrival: int | None
    sent: int | None
    line: int


def _rows(columns: PacketColumns) -> list[_Row]:
    """Return the lines in the order of sending; of a packet that came twice the first one first."""
    sent: Sequence[int | None] = columns.sent or [None] * len(columns.arrivals)
    numbers = columns.sequence or range(len(columns.arrivals))
    rows = [
        _Row(*values) for values in zip(numbers, columns.arrivals, sent, columns.lines, strict=True)
    ]
    if columns.sequence is not None:
        _check_wrapping(rows)
        return sorted(rows, key=lambda r: (r.place, r.arrival is None, r.arrival or 0))
    if columns.sent is None:
        for before, row in pairwise(rows):
            if (row.arrival or 0) < (before.arrival or 0):
                raise TraceError(
                    row.line,
                    "this packet arrived before the previous one",
                    "sort the lines, or add a column `sequence`",
                )
    return rows


def _check_wrapping(rows: Sequence[_Row]) -> None:
    """Refuse numbers of 16 bits that started again: they would mix early packets with late ones."""
    if max((row.place for row in rows), default=0) > _LARGEST_16_BIT:
        return
    for before, row in pairwise(rows):
        if before.place - row.place > _HALF_OF_16_BIT:
            raise TraceError(
                row.line,
                f"the sequence numbers start again: {row.place} follows {before.place}",
                "add 65536 from here on",
            )


def _check_sent(columns: PacketColumns, rows: Sequence[_Row]) -> None:
    """Refuse packets that were sent in another order than that of their numbers, or lines."""
    if columns.sent is None:
        return
    for before, row in pairwise(rows):
        if (row.sent or 0) < (before.sent or 0):
            raise TraceError(
                row.line,
                f"this packet was sent before its predecessor in line {before.line}",
                "sort the lines by sending time, or correct the sequence numbers",
            )


def _period(
    columns: PacketColumns, rows: Sequence[_Row], period: Fraction | None
) -> tuple[int, int]:
    """Return the period in ticks, and by what the ticks must be divided to make it whole.

    Without a period, it is what most times of sending are apart: their median.
    """
    if period is not None:
        ticks = period / columns.tick
        return ticks.numerator, ticks.denominator
    apart = [
        Fraction((row.sent or 0) - (before.sent or 0), row.place - before.place)
        for before, row in pairwise(rows)
        if columns.sent is not None and row.place > before.place
    ]
    if not apart:
        raise TraceError(
            None,
            "the sending interval of packets is unknown",
            "add the period, or a column `sent`",
        )
    usual = median_low(apart)
    if usual <= 0:
        raise TraceError(None, "most packets were sent at the same time", "add the period")
    return usual.numerator, usual.denominator
