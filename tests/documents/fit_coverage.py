"""How many published runs lie within the prediction intervals of fits that have not seen them.

Of each published table of loads every run is left out once: the fit to the other runs tells between
which loads it lies with 90 % probability.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from math import hypot
from operator import mul
from pathlib import Path

from msgspec import Struct

from qps.compiler.measurement.fit_spread import spread
from qps.compiler.measurement.least_squares import LeastSquares
from qps.compiler.measurement.repetitions import weighting
from qps.compiler.measurement.student_t import student_quantile

SPECS = Path(__file__).resolve().parents[2] / "specs"
_LEVEL = 0.95
_DIGITS = 10**6


class Published(Struct, frozen=True, kw_only=True):
    """A published table: its load, what it grows with, and which of its rows are of one kind."""

    file: str
    load: str
    rates: tuple[str, ...]
    only: tuple[tuple[str, str], ...] = ()
    has_fixed: bool = True


EMQX = "in, message/s"
TABLES = (
    Published(file="turn_relay/coturn.csv", load="cpu in %", rates=("packet/s",)),
    Published(file="sfu_router/rooms.csv", load="cores busy", rates=("people",)),
    Published(
        file="mqtt_broker/calibration.csv",
        load="cpu, %",
        rates=(EMQX,),
        only=(("model", "symmetric"), ("payload, byte", "128")),
    ),
    Published(
        file="mqtt_broker/calibration.csv",
        load="cpu, %",
        rates=(EMQX,),
        only=(("model", "fan-out"),),
    ),
    Published(
        file="mqtt_broker/calibration.csv",
        load="cpu, %",
        rates=("payload, byte",),
        only=(("model", "symmetric"), (EMQX, "20000")),
    ),
    Published(
        file="mqtt_broker/emqx.csv",
        load="cpu, %",
        rates=(EMQX,),
        only=(("qos", "q0"),),
    ),
    Published(
        file="voip_trunk/others.csv",
        load="cores busy",
        rates=("calls",),
        only=(("server", "siphon-ai, over the network"),),
        has_fixed=False,
    ),
)
"""All published tables of loads that have more runs of one kind than numbers and one."""


@cache
def held_of() -> tuple[tuple[int, int], ...]:
    """Return the coverage of each table."""
    return tuple(map(coverage, TABLES))


def coverage(table: Published) -> tuple[int, int]:
    """Return how many runs lie within the intervals of fits to the others, and of how many."""
    rows = list(rows_of(table))
    held = [
        abs(missed) <= width
        for i, row in enumerate(rows)
        for missed, width in [predicted([*rows[:i], *rows[i + 1 :]], row)]
    ]
    return sum(held), len(held)


def rows_of(table: Published) -> Iterator[tuple[int, ...]]:
    """Yield the load and what it grows with, row by row, in whole numbers."""
    with (SPECS / table.file).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if all(row[heading] == value for heading, value in table.only):
                ones = (_DIGITS,) if table.has_fixed else ()
                rates = (round(_DIGITS * float(row[rate])) for rate in table.rates)
                yield (round(_DIGITS * float(row[table.load])), *ones, *rates)


def predicted(
    rows: Sequence[tuple[int, ...]],
    unseen: tuple[int, ...],
    settings: Sequence[str] | None = None,
) -> tuple[float, float]:
    """Return by how much a fit to some rows misses another, and half the width of its interval.

    Both as shares of what was measured.
    """
    measured, *at = unseen
    target, *columns = zip(*rows, strict=True)
    squares = LeastSquares(tuple(columns), target)
    weights = weighting(squares, None)
    if weights is not None:
        columns = [tuple(map(mul, column, weights.weights)) for column in columns]
        squares = LeastSquares(tuple(columns), tuple(map(mul, target, weights.weights)))
    found = spread(squares, [1.0] * len(columns), settings=settings, weighting=weights)
    assert squares.numbers is not None
    middle = float(sum(a * b for a, b in zip(squares.numbers, at, strict=True)))
    if found is None:
        return middle / measured - 1, 0.0
    columns_of = zip(*found.weights, strict=True)
    off = [sum(a * b for a, b in zip(at, column, strict=True)) for column in columns_of]
    width = student_quantile(_LEVEL, found.freedom) * hypot(*off, found.noise * middle)
    return middle / measured - 1, width / measured


if __name__ == "__main__":
    for table, (held, of) in zip(TABLES, held_of(), strict=True):
        reported = ", ".join(f"{heading} {value}" for heading, value in table.only)
        sys.stdout.write(f"{held} of {of}  {table.file} {reported}".rstrip() + "\n")
