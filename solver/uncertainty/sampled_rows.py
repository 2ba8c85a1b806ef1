"""What is not known in the rows of a matrix, drawn as one more axis of it."""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.configuration import (
    Configuration,
    base_configuration,
    changed,
    uncertain_in_any_mode,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.solver.matrix.rows.row_quantiles import Drawing
from qps.solver.uncertainty.interval_result import SEED
from qps.solver.uncertainty.sample_draws import drawn_axis, uncertain_numbers
from qps.solver.uncertainty.sample_solver import samples_of_rows

_SAMPLES = 1000
"""Of each row."""
_MOST = 2**63 - 1


def drawn_in_rows(model: ir.Model, matrix: ir.Matrix) -> Drawing | None:
    """Return samples of all that is not known in the rows of a matrix; None where all is known.

    What an axis sets is known. QpsError where the rows differ in what is not known.
    """
    configuration = changed(base_configuration(model), matrix.changes)
    varied = {one.name for axis in matrix.axes for one in axis.varied}
    for axis in (axis for block in matrix.blocks for axis in block):
        _refuse_other(model, configuration, axis)
    numbers = uncertain_numbers(model, configuration)
    left = tuple(n for n in numbers if varied.isdisjoint(name for name, _ in n.parameters))
    partly = [n for n in numbers if n not in left and not varied.issuperset(dict(n.parameters))]
    if partly:
        raise QpsError.single(
            codes.NO_ANSWER,
            matrix.span,
            f"an axis of matrix `{matrix.name}` sets a part of correlated inputs, "
            f"`{partly[0].name}`",
            hint="vary all of them, or none",
        )
    if not left:
        return None
    if matrix.size * _SAMPLES > _MOST:
        raise QpsError.single(
            codes.NUMBER_SIZE,
            matrix.span,
            f"matrix `{matrix.name}` has {matrix.size:.3g} configurations of {_SAMPLES:,} "
            "samples, more than the limit of 2^63 - 1",
            hint="use larger steps, or fewer axes",
        )
    return Drawing(axis=drawn_axis(left, model, _SAMPLES, SEED), solver=samples_of_rows)


def _refuse_other(model: ir.Model, configuration: Configuration, axis: ir.Axis) -> None:
    """Raise a QpsError where a choice of an axis makes other numbers uncertain, or certain."""
    usual = _unknown(model, configuration)
    for choice in axis.choices:
        if _unknown(model, changed(configuration, [choice])) != usual:
            raise QpsError.single(
                codes.NO_ANSWER,
                axis.span,
                f"configurations of axis `{axis.name}` have different uncertain inputs",
                hint="compute quantiles in separate matrices: `matrix … with scenario = …`",
            )


def _unknown(model: ir.Model, configuration: Configuration) -> dict[str, ir.Distribution]:
    """Return all that is not known in any mode, by the parameters that have it."""
    unknown = uncertain_in_any_mode(model, configuration)
    return {name: value.distribution for name, value in unknown.items()}
