"""Columns of response times in a closed load test: means and percentiles.

    latency in ms, mean latency in ms, p99 in ms

or as `qps observe` writes them: `latency mean, ms`, `latency p99, ms`. A column that is headed by a
unit of time alone, `ms`, is the mean if no other one is: Little's law then says whether it is.
"""

from __future__ import annotations

import re
from fractions import Fraction

from msgspec import Struct

from qps.compiler.measurement.fit_columns import UnitOf, numbers_below
from qps.compiler.measurement.measured_tables import MeasuredTable
from qps.compiler.quantities.dimension import TIME

_NAMED = r"(?P<name>[\w .%]+?)(?:\s+in\s+|\s*,\s*)(?P<unit>\w+)"
_PARTS = r"(?i)\b(?:latency|latencies|response|time|times|rt|query|request|transaction)\b"
_MEAN = r"(?i)|mean|average|avg"
_MEDIAN = r"(?i)median"
_PERCENTILE = r"(?i)p(?P<p>\d{1,2}(?:\.\d+)?)|(?P<of>\d{1,2}(?:\.\d+)?)\s*(?:th|%)(?: percentile)?"
_LIKELY = (
    r"(?i)(?:^|[\W_])(?:latency|latencies|lat|response|rt|ms|msec|usec|p50|p9\d(?:\.\d+)?|avg|"
    r"9\d(?:th|%))(?:$|[\W_])"
)
"""What a heading has in it that was probably meant as a response time."""
_OTHERS = r"(?i)\b(?:max|maximum|longest|min|minimum|shortest|std\w*|deviation|think|cpu|sum)\b"
"""What is a time as well, but not one that the fit needs."""


class ResponseColumns(Struct, frozen=True, kw_only=True):
    """Response times of the rows of a table (s), and by how much their cells are rounded.

    `percentiles` has those of each share, in order of the shares. `missed` names columns that look
    like response times, and have no unit by which they could be read.
    """

    means: tuple[float, ...] | None
    rounding: float
    percentiles: tuple[tuple[float, tuple[float, ...]], ...]
    headings: tuple[str, ...]
    missed: tuple[str, ...]


def response_columns(table: MeasuredTable, unit_of: UnitOf) -> ResponseColumns:
    """Return the response times of a table; those that are no numbers raise DataError."""
    means, rounding = None, 0.0
    percentiles: dict[float, tuple[float, ...]] = {}
    read, missed = [], []
    for heading in sorted(table.headings, key=lambda one: _is_bare(one, unit_of)):
        which, factor = _which(heading, unit_of)
        is_known = which is not None and not (which == 0 and means) and which not in percentiles
        if which is None or not is_known:
            if which is None and _looks_like_response(heading):
                missed.append(heading)
            continue
        found = numbers_below(table, heading, table.columns[heading])
        values = tuple(float(found[row] * factor) for row in range(len(found)))
        read.append(heading)
        if which:
            percentiles[which] = values
        else:
            means, rounding = values, float(found.unit * factor) / 2
    return ResponseColumns(
        means=means,
        rounding=rounding,
        percentiles=tuple(sorted(percentiles.items())),
        headings=tuple(read),
        missed=tuple(missed),
    )


def _which(heading: str, unit_of: UnitOf) -> tuple[float | None, Fraction]:
    """Return which share a column is a percentile of, 0 for a mean, None for anything else."""
    if _is_bare(heading, unit_of):
        unit = unit_of(heading.strip())
        assert unit is not None
        return 0.0, unit[0]
    named = re.fullmatch(_NAMED, heading.strip())
    if named is None or re.search(_OTHERS, named["name"]):
        return None, Fraction(1)
    unit = unit_of(named["unit"])
    if unit is None or unit[1] != TIME:
        return None, Fraction(1)
    kind = re.sub(_PARTS, " ", named["name"]).strip()
    if re.fullmatch(_MEAN, kind):
        return 0.0, unit[0]
    if re.fullmatch(_MEDIAN, kind):
        return 0.5, unit[0]
    percentile = re.fullmatch(_PERCENTILE, kind)
    share = float(percentile["p"] or percentile["of"]) / 100 if percentile else 0.0
    return share or None, unit[0]


def _is_bare(heading: str, unit_of: UnitOf) -> bool:
    """Return whether a heading is a unit of time and nothing else; `min` is a minimum."""
    unit = unit_of(heading.strip())
    return unit is not None and unit[1] == TIME and not re.search(_OTHERS, heading)


def _looks_like_response(heading: str) -> bool:
    """Return whether a heading was probably meant as a response time.

    >>> [_looks_like_response(h) for h in ("avg_ms", "p99", "Latency", "max latency, ms", "MB/s")]
    [True, True, True, False, False]
    """
    words = heading.replace("_", " ")
    return bool(re.search(_LIKELY, words)) and not re.search(_OTHERS, words) and "/s" not in heading
