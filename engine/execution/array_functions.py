"""Formulas of one symbol as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from qps.engine.execution.array_runs import Runner
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.expressions.formulas import Formula


def array_function(
    argument: Formula, formulas: Sequence[Formula]
) -> Callable[[np.ndarray], list[np.ndarray]]:
    """Return some formulas as a function of an array, with one array for each of them.

    Not-a-number where a formula has no value.
    """
    builder = ProgramBuilder(argument, {}, {})
    outputs = [builder.build(formula) for formula in formulas]
    runner = Runner(builder.program())

    def applied(at: Any) -> list[np.ndarray]:
        points = np.asarray(at, dtype=float)
        with np.errstate(all="ignore"):
            found = runner.run(outputs, {}, None, points)
        return [np.broadcast_to(np.asarray(found[o], dtype=float), points.shape) for o in outputs]

    return applied
