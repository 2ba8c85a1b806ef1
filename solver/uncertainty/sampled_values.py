"""What an expression comes to at one population, for many values of what is not known."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.matrix.matrix_compiler import compile_matrix
from qps.solver.uncertainty.sample_solver import as_matrix
from qps.solver.uncertainty.structural_samples import FewAlone
from qps.solver.uncertainty.value_samples import value_solver


class SampledValues(Struct, frozen=True, eq=False, kw_only=True):
    """Values in base units, a sample each; `error` is that of their surface, if any.

    Not-a-number where there is none, where the sample cannot be, and where it takes long to
    compute.
    """

    values: Floats
    error: float | None = None


def sampled_values(
    model: ir.Model,
    configuration: Configuration,
    axis: ir.Axis,
    at: int,
    quantity: ir.Quantity,
) -> SampledValues:
    """Return what an expression comes to at a population along what is drawn."""
    columns = (ir.MatrixColumn("asked", quantity),)
    compiled = compile_matrix(
        model, replace(as_matrix(model, configuration, axis, at), columns=columns)
    )
    modes = (mode for block in compiled.blocks for group in block.groups for mode in group.modes)
    if any(mode.answers for mode in modes):
        (rows,) = FewAlone(compiled).row_blocks(0, axis.count)
        return SampledValues(values=np.where(rows.is_answered, rows.columns[-1], np.nan))
    solver = value_solver(compiled, at)
    (rows,) = solver.row_blocks(0, axis.count)
    surface = solver.surrogate_model
    return SampledValues(
        values=np.where(rows.is_answered, rows.columns[-1], np.nan),
        error=None if surface is None else surface.error,
    )
