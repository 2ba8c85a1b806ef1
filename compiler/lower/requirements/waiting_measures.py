"""Waits as measures: means, quantiles, numbers of those who wait, and shares of items by a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.lower.label_doubts import ClassDoubts
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_stages import every
from qps.compiler.lower.response_time.station_waits import StationWaits
from qps.compiler.quantities.certainty import (
    Certainty,
    CertaintyKind,
    of_another,
    opposite,
)
from qps.compiler.quantities.measured_errors import ErrorQuantity
from qps.engine.expressions.formulas import Formula

AtEnds: TypeAlias = Callable[[Formula], Sequence[float]]
"""What a formula comes to where populations end."""

__all__ = [
    "AtEnds",
    "StationWaits",
    "stations_in",
    "wait_at",
    "wait_at_known",
    "wait_of_stream",
    "wait_of_stream_known",
]


def stations_in(streams: Iterable[StreamMeasures], names: Iterable[str]) -> list[StationWaits]:
    """Return the queues of some names in which items of streams wait."""
    queues = {
        part.queue.resource: part.queue
        for stream in streams
        for part in every(stream.latency)
        if part.queue is not None
    }
    return [StationWaits(queue=queues[name]) for name in dict.fromkeys(names) if name in queues]


def wait_of_stream(stream: StreamMeasures, measured: ir.Measured) -> Formula:
    """Return a measure of the waits of a stream, or the share of its items by a time."""
    if measured.times is not None:
        of = stream.waits_alone if measured.times.is_wait else stream
        later = of.later(measured.times.seconds)
        return later if measured.times.is_longer else 1 - later
    if measured.kind is ir.MeasureKind.WAIT_QUANTILE:
        assert measured.level is not None
        return stream.waits_alone.latency_quantile(measured.level)
    is_number = measured.kind is ir.MeasureKind.QUEUE
    return stream.number_waiting if is_number else stream.mean_wait


def wait_of_stream_known(
    stream: StreamMeasures, measured: ir.Measured, at_ends: AtEnds
) -> Certainty:
    """Return how such a measure is known; an error of a share goes by how large it is `at_ends`."""
    if measured.times is not None:
        of = stream.waits_alone if measured.times.is_wait else stream
        share = of.share_certainty(_quantity_of(measured))
        if not measured.times.is_longer:
            return opposite(share)
        if not _goes_by_size(share, of.doubts):
            return share
        shares = at_ends(of.later(measured.times.seconds))
        return of.share_certainty(ErrorQuantity.SHARE_BEYOND, shares)
    if measured.kind is ir.MeasureKind.WAIT_QUANTILE:
        assert measured.level is not None
        return stream.wait_quantile_certainty(measured.level)
    is_number = measured.kind is ir.MeasureKind.QUEUE
    return stream.number_certainty if is_number else stream.wait_certainty


def wait_at(station: StationWaits, measured: ir.Measured) -> Formula:
    """Return a measure of the waits at a station; of shares, that which waits longer."""
    if measured.times is not None:
        return station.tail(measured.times.seconds)
    if measured.kind is ir.MeasureKind.WAIT_QUANTILE:
        assert measured.level is not None
        return station.quantile(measured.level)
    return station.number if measured.kind is ir.MeasureKind.QUEUE else station.mean


def wait_at_known(
    station: StationWaits, measured: ir.Measured, doubts: ClassDoubts, at_ends: AtEnds
) -> Certainty:
    """Return how such a measure is known, where some premises are in doubt."""
    is_of_law = measured.times is not None or measured.kind is ir.MeasureKind.WAIT_QUANTILE
    found = of_another(station.quantiles_known if is_of_law else station.mean_known)
    known = doubts.known_in_part(found, _quantity_of(measured))
    if measured.times is None:
        return known
    if not measured.times.is_longer:
        return opposite(known)
    if not _goes_by_size(known, doubts):
        return known
    shares = at_ends(station.tail(measured.times.seconds))
    return doubts.of_share(shares).known_in_part(found, ErrorQuantity.SHARE_BEYOND)


def _goes_by_size(share: Certainty, doubts: ClassDoubts) -> bool:
    """Return whether how far off a share may be goes by how large it is."""
    return share.kind is CertaintyKind.APPROXIMATION and bool(doubts.points)


def _quantity_of(measured: ir.Measured) -> ErrorQuantity:
    if measured.times is not None:
        is_longer = measured.times.is_longer
        return ErrorQuantity.SHARE_BEYOND if is_longer else ErrorQuantity.SHARE_WITHIN
    if measured.kind is ir.MeasureKind.WAIT_QUANTILE:
        return ErrorQuantity.WAIT_QUANTILE
    return ErrorQuantity.WAIT
