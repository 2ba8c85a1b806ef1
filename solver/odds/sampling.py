"""A spec solved for many values of what is not known: all of them as rows of one matrix."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.matrix.compiling import compile_matrix
from qps.solver.matrix.prepared import Bools, Floats, Ints
from qps.solver.matrix.row_block import NONE
from qps.solver.matrix.rows import MatrixSolver


class Sampled(Struct, frozen=True, eq=False, kw_only=True):
    """A spec solved for samples of what is not known, a value each.

    `largest` is one less than the least of the range where no population is acceptable. `limits`
    and `bottlenecks` are numbers of `words`, 0 for none. `is_told` tells which samples have an
    answer: in the others a number is such as none can be, and `reasons` tell why of each.
    `met` tells for each criterion in which it is met, not-a-number where that is not told.
    """

    largest: Ints
    limits: Ints
    bottlenecks: Ints
    words: tuple[str, ...]
    met: Mapping[str, Floats]
    is_told: Bools
    reasons: Mapping[int, str]


def solved_for(model: ir.Model, configuration: Configuration, axis: ir.Axis, at: int) -> Sampled:
    """Return a spec solved along what is drawn; requirements are judged at one population."""
    compiled = compile_matrix(model, _matrix(model, configuration, axis, at))
    solver = MatrixSolver(compiled)
    (rows,) = solver.row_blocks(0, axis.count)
    reasons = dict(rows.texts)
    reasons |= {int(row): rows.words[rows.reason[row]] for row in np.flatnonzero(rows.reason)}
    is_told = np.ones(rows.count, dtype=bool)
    is_told[list(reasons)] = False
    return Sampled(
        largest=np.where(rows.largest == NONE, configuration.low - 1, rows.largest),
        limits=rows.limited,
        bottlenecks=rows.bottleneck,
        words=tuple(rows.words),
        met=solver.met_at(at),
        is_told=is_told,
        reasons=reasons,
    )


def _matrix(model: ir.Model, configuration: Configuration, axis: ir.Axis, at: int) -> ir.Matrix:
    """Return the matrix of one configuration along what is drawn."""
    known = {scenario.name: scenario for scenario in model.scenarios}
    names = configuration.scenario.split(", ") if configuration.scenario else ()
    scenarios = [ir.SetScenario(name, known[name].changes, known[name].span) for name in names]
    return ir.Matrix(
        name="samples",
        title=None,
        changes=(*scenarios, *configuration.explicit),
        blocks=((axis,),),
        excluded=(),
        wanted=None,
        columns=(),
        selected=(),
        order=(),
        at=at,
        source=None,
        note=None,
        span=axis.span,
    )
