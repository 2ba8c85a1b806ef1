"""What judges the resources of many rows, and which of them are full where the range starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from qps.compiler.ir.measure_names import utilization_of
from qps.solver.answers.limiting_factors import ALIKE, SaturationTable
from qps.solver.matrix.compilation.compiled_matrix import CompiledMode
from qps.solver.matrix.limits.row_preparation import Bools, CompiledCriterion, Floats, Rows


def saturation_table_of(
    mode: CompiledMode, rows: Rows, saturates: Sequence[Floats]
) -> SaturationTable:
    """Return what judges the resources of rows; `saturates` has a column for each of them."""

    def fullness(population: Any, needed: Bools) -> Sequence[Floats]:
        where = np.flatnonzero(needed)
        there = population[where] if np.ndim(population) else population
        found = np.full((len(mode.resources), rows.count), np.nan)
        found[:, where] = _fullness(mode, rows.take(where), there)
        return list(found)

    return SaturationTable(low=mode.low, high=mode.high, saturates=saturates, fullness=fullness)


def resources_of(mode: CompiledMode) -> list[int | None]:
    """Return of which resource each criterion is, None for what is stated."""
    place = {
        utilization_of(resource.name): number for number, resource in enumerate(mode.resources)
    }

    def of(criterion: CompiledCriterion) -> int | None:
        return None if criterion.is_stated else place[criterion.name]

    return [of(criterion) for criterion in mode.criteria]


def from_start(mode: CompiledMode, rows: Rows, saturates: Sequence[Floats]) -> Bools:
    """Return which resources are full where the range starts, a line for each.

    One that elastic parameters fill is so by design, and counts where it is beyond there.
    """
    found = np.zeros((len(saturates), rows.count), dtype=bool)
    for number, at in enumerate(saturates):
        found[number] = at <= mode.low * (1 + ALIKE)
    for number, resource in enumerate(mode.resources):
        where = np.flatnonzero(found[number])
        if where.size and resource.is_filled and mode.program.varies[resource.load]:
            loads = _fullness(mode, rows.take(where), float(mode.low))[number]
            found[number, where] = ~(loads <= 1 + ALIKE)
    return found


def _fullness(mode: CompiledMode, rows: Rows, population: float | Floats) -> Floats:
    """Return all loads as parts of their targets at populations, a line for each resource."""
    sides = [(resource.load, resource.target) for resource in mode.resources]
    values = rows.at({number for pair in sides for number in pair}, population)
    return np.array([rows.column(values, load) / rows.column(values, aim) for load, aim in sides])
