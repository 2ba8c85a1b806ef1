"""Loads from a counter process: one that counts as fast as it can, and less where others work.

The count of an idle machine is its potential, and what is missing of it the load (M. L. Claypool,
Quality planning for distributed collaborative multimedia applications, 1997, section 4.5).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn

COUNT = "count/s"
"""What a column is headed by that has what was counted in a second beside the work of each row."""
IDLE_COUNT = "idle count/s"
"""What a column is headed by that has what the idle machine of each row counts."""

_UNIT = Fraction(1, 10**12)
"""To what loads are rounded: ratios of counts have no digits in common."""


def loads_of_counts(
    table: MeasuredTable, read: Callable[[str], NumberColumn], rates: Sequence[NumberColumn]
) -> NumberColumn:
    """Return the load of each row: one less its count beside that of the idle machine.

    `read` gives the numbers of a column. What the idle machine counts stands in a column of its
    own; else it is the greatest of rows in which all `rates` are zero.
    DataError where neither is there, or more was counted than on an idle machine.
    """
    counts = read(COUNT)
    if IDLE_COUNT in table.headings:
        idle: Sequence[Fraction] = _each(read(IDLE_COUNT))
    else:
        idle = (_most_without_load(table, counts, rates),) * len(counts)
    loads = []
    for line, count, bare in zip(table.lines, _each(counts), idle, strict=True):
        if bare <= 0 or not 0 <= count <= bare:
            raise DataError(
                f"`{table.name}`, line {line}: {float(count):,g} counts per second, but "
                f"{float(bare):,g} on the idle machine",
                "measure the idle machine again: it was not idle, or its clock changed",
            )
        loads.append(round((1 - count / bare) / _UNIT))
    return NumberColumn(tuple(loads), _UNIT)


def _most_without_load(
    table: MeasuredTable, counts: NumberColumn, rates: Sequence[NumberColumn]
) -> Fraction:
    without = [
        counts[row] for row in range(len(counts)) if not any(rate.whole[row] for rate in rates)
    ]
    if not without or not rates:
        raise DataError(
            f"`{table.name}` has no counts of the idle machine",
            f"add a column `{IDLE_COUNT}`, or a row in which all rates are 0",
        )
    return max(without)


def _each(column: NumberColumn) -> tuple[Fraction, ...]:
    return tuple(column[row] for row in range(len(column)))
