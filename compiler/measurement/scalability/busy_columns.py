"""Columns of busy cores in a closed load test: `cpu in core`, or `cpu in %` of `cores`."""

from __future__ import annotations

import re
from fractions import Fraction

from qps.compiler.measurement.fit_columns import LOADS, UnitOf, cores_of, numbers_below
from qps.compiler.measurement.measured_tables import MeasuredTable
from qps.compiler.quantities.dimension import CORE, DIMENSIONLESS

_NAMED = r"(\w+)\s+in\s+(.+)"


def busy_cores(table: MeasuredTable, unit_of: UnitOf) -> tuple[float, ...] | None:
    """Return how many cores were busy in each row; None where no column says so."""
    for heading in table.headings:
        named = re.fullmatch(_NAMED, heading.strip())
        unit = unit_of(named[2]) if named and named[1].lower() in LOADS else None
        if unit is None or unit[1] not in (CORE, DIMENSIONLESS):
            continue
        factor: Fraction | None = unit[0]
        if unit[1] == DIMENSIONLESS:
            cores = cores_of(table)
            factor = None if cores is None else unit[0] * cores
        if factor is not None:
            cells = tuple(cell.removesuffix("%").rstrip() for cell in table.columns[heading])
            found = numbers_below(table, heading, cells)
            return tuple(float(found[row] * factor) for row in range(len(found)))
    return None
