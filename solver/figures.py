"""Figures of a spec: what the model predicts along a population or a parameter, in numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from qps.compiler import codes, ir
from qps.compiler.configuration import base_configuration
from qps.compiler.diagnostics import Label, QpsError, Sink
from qps.solver.claims import Laboratory
from qps.solver.compiled import array_function

_POINTS = 241
_POINTS_ONE_BY_ONE = 33


@dataclass(frozen=True)
class DrawnCurve:
    """A curve: its label, and a value for each point of the axis, not-a-number for none."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class DrawnFigure:
    """A figure with the points of its axis and its curves, all in base units."""

    figure: ir.Figure
    at: tuple[float, ...]
    curves: tuple[DrawnCurve, ...]


def draw(laboratory: Laboratory, figure: ir.Figure) -> DrawnFigure:
    """Return the curves of a figure; QpsError where one needs a population that is not set."""
    _refuse_beyond(laboratory.model, figure)
    formulas = [_formula(laboratory, figure, curve) for curve in figure.curves]
    is_smooth = None not in formulas
    at = _points(figure, _POINTS if is_smooth else _POINTS_ONE_BY_ONE)
    curves = []
    for curve, formula in zip(figure.curves, formulas, strict=True):
        if formula is None:
            values = [_value_at(laboratory, figure, curve, point) for point in at]
        else:
            values = _values(formula, figure, laboratory.model, at)
        curves.append(DrawnCurve(curve.label, tuple(values)))
    return DrawnFigure(figure, tuple(at), tuple(curves))


def _refuse_beyond(model: ir.Model, figure: ir.Figure) -> None:
    """Refuse an axis that leaves the range of its parameter."""
    declared = next((p for p in model.parameters if p.name == figure.parameter), None)
    if declared is None:
        return
    low, high = (
        b.value if isinstance(b, ir.Constant) else None for b in (declared.low, declared.high)
    )
    if (low is not None and figure.low < low) or (high is not None and figure.high > high):
        sink = Sink()
        sink.report(
            codes.OUT_OF_RANGE,
            figure.axis_span,
            f"the axis leaves the range of `{figure.parameter}`",
            secondary=[Label(declared.span, "its range is stated here")],
            hint="stay inside the range, or widen it where it is declared",
        )
        raise QpsError(sink.found)


def _points(figure: ir.Figure, count: int) -> list[float]:
    low, high = float(figure.low), float(figure.high)
    if "x" in figure.logarithmic:
        return [float(point) for point in np.geomspace(low, high, count)]
    return [float(point) for point in np.linspace(low, high, count)]


def _formula(laboratory: Laboratory, figure: ir.Figure, curve: ir.Curve) -> sympy.Expr | None:
    """Return a curve as a formula of the axis; None where the axis decides between formulas.

    A condition such as `if arrays > 4` chooses when the model is lowered: then there is no one
    formula.
    """
    laboratory.decided.clear()
    formula = _at(laboratory, figure, curve, figure.low)
    return None if figure.parameter in laboratory.decided else formula


def _at(laboratory: Laboratory, figure: ir.Figure, curve: ir.Curve, point: Fraction) -> sympy.Expr:
    """Return a curve in the model with its parameter at a point, which stays a symbol."""
    changes: Sequence[ir.Change] = curve.changes
    free = axis = figure.parameter
    if _sets(changes, axis):
        free = None  # the line sets the axis to a value of its own: it is level
    elif axis is not None:
        changes = (*changes, ir.SetParameter(axis, ir.Constant(point), figure.axis_span))
    base = base_configuration(laboratory.model)
    formula = laboratory.formula(curve.value.expr, base, changes, curve.span, free)
    allowed = laboratory.model.population.name if axis is None else axis
    unset = {symbol.name for symbol in formula.free_symbols} - {allowed}
    if unset:
        sink = Sink()
        name = min(unset)
        sink.report(
            codes.NO_ANSWER,
            curve.span,
            f"this line depends on {name}, which is not the axis of the figure",
            hint=f"settle it: `with {name} = …`",
        )
        raise QpsError(sink.found)
    return formula


def _sets(changes: Sequence[ir.Change], parameter: str | None) -> bool:
    """Return whether one of some changes sets a parameter; scenarios and modes give way to it."""
    return any(
        isinstance(change, ir.SetParameter) and change.name == parameter for change in changes
    )


def _value_at(laboratory: Laboratory, figure: ir.Figure, curve: ir.Curve, point: float) -> float:
    formula = _at(laboratory, figure, curve, Fraction(point).limit_denominator(10**12))
    return _values(formula, figure, laboratory.model, [point])[0]


def _values(
    formula: sympy.Expr, figure: ir.Figure, model: ir.Model, at: Sequence[float]
) -> list[float]:
    """Return a formula's values at points; not-a-number where it has none that is real."""
    name = figure.parameter or model.population.name
    symbol = next((s for s in formula.free_symbols if s.name == name), sympy.Symbol(name))
    compiled = array_function([symbol], formula)
    points = np.asarray(at, dtype=float)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(compiled(points)), points.shape)
    real = np.where(np.isreal(values), np.real(values), np.nan).astype(float)
    return [float(value) for value in real]
