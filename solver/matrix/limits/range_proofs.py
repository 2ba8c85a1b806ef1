"""What can be proved of a criterion over a range of populations, by the bounds of its sides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.execution.programs import StraightLineProgram
from qps.engine.operations import EXTREMES, OPERATIONS
from qps.solver.matrix.limits.row_preparation import CompiledCriterion


@dataclass(frozen=True, slots=True)
class FailureShape:
    """Where something fails in a range: nowhere, from a point on, up to a point.

    Each is true where it is proved, for one box of inputs or for each row.
    """

    never: Any
    rises: Any
    falls: Any
    either: Any
    """It is a choice of failures that rise and failures that fall."""

    @property
    def is_simple(self) -> Any:
        """True where, if nothing fails at the start, all failures lie behind one point."""
        return self.either


def shape_of(
    program: StraightLineProgram, criterion: CompiledCriterion, bounds: Mapping[int, Bounds]
) -> FailureShape:
    """Return what the bounds of the sides prove of a criterion."""
    measure, of_limit = criterion.tight
    limit = bounds[of_limit]
    if program.varies[of_limit]:
        return _moving(bounds[measure], limit, above=criterion.at_most)
    return _shape(
        program, measure, limit, bounds,
        above=criterion.at_most, strict=criterion.is_strict,
    )  # fmt: skip


def _moving(measure: Bounds, limit: Bounds, *, above: bool) -> FailureShape:
    """Return the shape of a criterion whose limit depends on the population too."""
    one, other = (measure, limit) if above else (limit, measure)
    never = one.high < other.low
    rises = one.slope_low - other.slope_high >= 0
    falls = one.slope_high - other.slope_low <= 0
    return FailureShape(never, rises | never, falls | never, never | rises | falls)


def _shape(
    program: StraightLineProgram,
    number: int,
    limit: Bounds,
    bounds: Mapping[int, Bounds],
    *,
    above: bool,
    strict: bool,
) -> FailureShape:
    own = bounds[number]
    if above:
        never = own.high < limit.low if strict else own.high <= limit.low
        rises, falls = own.slope_low >= 0, own.slope_high <= 0
    else:
        never = own.low > limit.high if strict else own.low >= limit.high
        rises, falls = own.slope_high <= 0, own.slope_low >= 0
    rises, falls = rises | never, falls | never
    plain = FailureShape(never, rises, falls, rises | falls)
    step = program.steps[number]
    if step.word not in EXTREMES or bool(np.all(plain.either)):
        return plain
    one, other = (
        _shape(program, operand, limit, bounds, above=above, strict=strict)
        for operand in step.operands
    )
    if (OPERATIONS[step.word].chooses > 0) == above:  # it fails where one of both does
        never = never | (one.never & other.never)
        either = one.either & other.either
    else:
        never = never | one.never | other.never
        either = np.False_
    rises = rises | never | (one.rises & other.rises)
    falls = falls | never | (one.falls & other.falls)
    return FailureShape(never, rises, falls, rises | falls | either)
