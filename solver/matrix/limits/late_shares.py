"""Limits of quantiles, told by how many items are later than the limit.

A search for the population at which a requirement begins to fail asks for its sign alone; only what
is near zero is looked at again by the quantile itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

import numpy as np

from qps.engine.distributions.sum_lateness import lateness
from qps.engine.execution.programs import Program
from qps.engine.forks.answer_arrays import order_lateness
from qps.engine.forks.fork_arrays import fork_lateness
from qps.engine.operations import PRODUCT, SUM
from qps.solver.matrix.limits.row_preparation import CompiledCriterion, Floats, Rows

_LATENESS = {
    "stages_quantile": lateness,
    "fork_quantile": fork_lateness,
    "order_quantile": order_lateness,
}
"""By how much more items than allowed are late, for what has the quantile."""


@dataclass(frozen=True)
class LateShare:
    """The operations of a limit: of the quantile that `word` has, the first operand is its level.

    What the limit is of is made of it from the inside out in some `steps`: a sum or a product with
    others, each by its word.
    """

    limit: int
    word: str
    operands: tuple[int, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]

    @staticmethod
    def of(program: Program, criterion: CompiledCriterion) -> LateShare | None:
        """Return that of a criterion, None where it limits something else."""
        if not criterion.at_most or criterion.is_strict:
            return None
        steps: list[tuple[str, tuple[int, ...]]] = []
        number = criterion.measure
        while (step := program.steps[number]).word not in _LATENESS:
            varying = [one for one in step.operands if program.varies[one]]
            if step.word not in (SUM, PRODUCT) or len(varying) != 1:
                return None
            (number,) = varying
            steps.append((step.word, tuple(one for one in step.operands if one != number)))
        return LateShare(
            limit=criterion.limit, word=step.word, operands=step.operands, steps=tuple(steps)
        )

    @property
    def outputs(self) -> set[int]:
        """The operations that it is told by."""
        return {self.limit, *self.operands, *(one for _, others in self.steps for one in others)}

    def at(self, rows: Rows, population: Floats) -> Floats:
        """Return what is above zero where a limit is passed; not-a-number where it is not told."""
        values = rows.at(self.outputs, population)
        time, is_told = values[self.limit], np.ones((), dtype=bool)
        for word, others in self.steps:
            each = [values[other] for other in others]
            if word == SUM:
                time = time - sum(each)
                continue
            factor = prod(each)
            time, is_told = time / factor, is_told & (np.asarray(factor) > 0)
        found = _LATENESS[self.word](time, *(values[operand] for operand in self.operands))
        return np.where(is_told, np.where(np.asarray(time) < 0, np.inf, found), np.nan)
