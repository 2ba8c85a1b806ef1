"""Numbers of machines on an axis as numbers: rows that differ in them share a program.

`web in [small * 1..40, large * 1..10]` chooses a machine, which decides about the structure, and
how many there are, which is a number like any other.
"""

from __future__ import annotations

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.expressions.symbolic_numbers import count_of
from qps.compiler.quantities.dimension import DIMENSIONLESS

_SEVERAL = 2


def with_numbered_counts(model: ir.Model, matrix: ir.Matrix) -> tuple[ir.Model, ir.Matrix]:
    """Return a model and a matrix in which counts on axes of places are values of parameters.

    Only where all choices of an axis state a count, and some of them the same machine or network.
    """
    blocks = tuple(tuple(map(_numbered, block)) for block in matrix.blocks)
    counts = {one.name: one for block in blocks for axis in block for one in _own(axis)}
    if not counts:
        return model, matrix
    parameters = tuple(
        ir.Parameter(
            name=name,
            value=ir.Constant(one.number(0)),
            dimension=DIMENSIONLESS,
            low=None,
            high=None,
            span=one.span,
            value_span=one.span,
            source=None,
            doc=None,
        )
        for name, one in counts.items()
    )
    numbered = replace(model, parameters=(*model.parameters, *parameters))
    return numbered, replace(matrix, blocks=blocks)


def choice_classes(axis: ir.Axis) -> tuple[object, ...]:
    """Return what of each choice of an axis decides about the structure.

    Of a place that is what stands there, and whether there is none or one: that shares nothing.
    """
    counts = _own(axis)
    if not counts:
        return tuple(range(axis.count))
    return tuple(
        (choice.kind, min(counts[0].number(at), _SEVERAL))
        for at, choice in enumerate(axis.choices)
        if isinstance(choice, ir.SetPlace)
    )


def _own(axis: ir.Axis) -> tuple[ir.Axis, ...]:
    return axis.parameters if axis.kind is ir.AxisKind.PLACE else ()


def _numbered(axis: ir.Axis) -> ir.Axis:
    counted = [
        (choice, choice.count)
        for choice in axis.choices
        if isinstance(choice, ir.SetPlace) and isinstance(choice.count, ir.Constant)
    ]
    kinds = [place.kind for place, _ in counted]
    is_repeated = len(set(kinds)) < len(kinds)
    if axis.parameters or len(counted) < axis.count or not is_repeated:
        return axis
    name = count_of(axis.name)
    moving = ir.Axis(
        name=name,
        kind=ir.AxisKind.PARAMETER,
        numbers=tuple(count.value for _, count in counted),
        span=axis.span,
    )
    choices = tuple(replace(place, count=ir.ParameterValue(name)) for place, _ in counted)
    return replace(axis, choices=choices, parameters=(moving,))
