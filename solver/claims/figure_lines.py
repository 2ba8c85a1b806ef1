"""Figures of a spec: what the model predicts along a population or a parameter, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.engine.formulas import Formula, population, symbol
from qps.engine.functions import array_function
from qps.solver.answers.envelope import equal_at, upper_envelope
from qps.solver.claims.claim_runner import ClaimRunner

_POINTS = 241
_POINTS_ONE_BY_ONE = 33
_BISECTIONS = 30
_COMPARED = 2


@dataclass(frozen=True)
class DrawnCurve:
    """A curve: its label, and a value for each point of the axis, not-a-number for none.

    `known` is how its values are known, by the formulas at both ends of the axis.
    """

    label: str
    values: tuple[float, ...]
    known: Certainty = EXACT


@dataclass(frozen=True)
class Lead:
    """A stretch of the axis, in base units, and the lines that are the highest on it."""

    lines: tuple[str, ...]
    from_: float
    to: float


@dataclass(frozen=True)
class Leads:
    """Which line of loads leads from where to where; `of` names the model they belong to.

    They are `exact` where the places are roots, not found by trying the axis point by point.
    """

    of: str
    leads: tuple[Lead, ...]
    exact: bool


@dataclass(frozen=True, kw_only=True)
class DrawnFigure:
    """A figure with the points of its axis and its curves, all in base units."""

    figure: ir.Figure
    dimension: Dimension
    at: tuple[float, ...]
    curves: tuple[DrawnCurve, ...]
    leads: tuple[Leads, ...]


@dataclass(frozen=True)
class _Line:
    """A curve; one of loads belongs to a `group`, the model as changed, and is told by `name`."""

    curve: ir.Curve
    group: str | None
    name: str


def draw(runner: ClaimRunner, figure: ir.Figure) -> DrawnFigure:
    """Return the curves of a figure; QpsError where one needs a population that is not set."""
    _refuse_beyond(runner.model, figure)
    lines = [*_own_lines(figure), *_load_lines(runner, figure)]
    formulas = [_formula(runner, figure, line.curve) for line in lines]
    is_smooth = None not in formulas
    at = _points(figure, _POINTS if is_smooth else _POINTS_ONE_BY_ONE)
    curves = []
    for line, formula in zip(lines, formulas, strict=True):
        if formula is None:
            values = [_value_at(runner, figure, line.curve, point) for point in at]
        else:
            values = _values(formula, figure, runner.model, at)
        known = _known(runner, figure, line.curve)
        curves.append(DrawnCurve(line.curve.label, tuple(values), known))
    return DrawnFigure(
        figure=figure,
        dimension=figure.curves[0].value.dimension if figure.curves else DIMENSIONLESS,
        at=tuple(at),
        curves=tuple(curves),
        leads=tuple(_leads(runner, figure, lines, formulas, at, curves)),
    )


# -- which lines there are -----------------------------------------------------------------


def _own_lines(figure: ir.Figure) -> list[_Line]:
    """Return the lines that a figure states; loads in the same changed model are compared."""
    lines = []
    for curve in figure.curves:
        asked = curve.value.expr
        is_load = isinstance(asked, ir.Measured) and asked.kind is ir.MeasureKind.LOAD
        group = _group_of(curve.changes) if is_load else None
        lines.append(_Line(curve, group, curve.label))
    return lines


def _group_of(changes: Sequence[ir.Change]) -> str:
    return ", ".join(" ".join(change.span.text.split()) for change in changes)


def _load_lines(runner: ClaimRunner, figure: ir.Figure) -> list[_Line]:
    """Return a line for each resource that something loads, for each `loads` of a figure."""
    lines = []
    base = base_configuration(runner.model)
    for loads in figure.loads:
        changes = _at_point(figure, loads.changes, figure.low)
        for name in runner.resources(base, changes):
            value = ir.Quantity(
                expr=ir.Measured(ir.MeasureKind.LOAD, name),
                dimension=DIMENSIONLESS,
                span=loads.span,
            )
            label = f"{loads.label}: {name}" if loads.label else name
            lines.append(
                _Line(ir.Curve(label, value, loads.changes, loads.span), loads.label, name)
            )
    return lines


# -- which load leads ----------------------------------------------------------------------


def _leads(
    runner: ClaimRunner,
    figure: ir.Figure,
    lines: Sequence[_Line],
    formulas: Sequence[Formula | None],
    at: Sequence[float],
    curves: Sequence[DrawnCurve],
) -> Iterator[Leads]:
    """Yield, for each model as changed, which of its loads is the highest and where."""
    told = [line.group for line in lines if line.group is not None]
    groups = [group for group in dict.fromkeys(told) if told.count(group) >= _COMPARED]
    labels = {loads.label for loads in figure.loads}
    for group in groups:
        # A model that is the only one here needs no name, but where the figure gives it one.
        of = group if len(groups) > 1 or group in labels else ""
        members = [i for i, line in enumerate(lines) if line.group == group]
        known = {lines[i].name: formula for i in members if (formula := formulas[i]) is not None}
        if len(known) == len(members):
            yield Leads(of, _exact_leads(runner, figure, known), exact=True)
        else:
            values = {lines[i].name: curves[i].values for i in members}
            tried = {lines[i].name: lines[i].curve for i in members}
            leads = _bisected_leads(runner, figure, at, values, tried)
            yield Leads(of, leads, exact=False)


def _exact_leads(
    runner: ClaimRunner, figure: ir.Figure, loads: dict[str, Formula]
) -> tuple[Lead, ...]:
    """Return who leads from where to where, by the formulas of the loads."""
    axis = _axis(figure, runner.model)
    first, changes = upper_envelope(loads, axis, figure.low, figure.high)
    starts = [float(figure.low), *(change.at for change in changes)]
    ends = [*starts[1:], float(figure.high)]
    return tuple(
        Lead(equal_at(loads, axis, leader, Fraction((start + end) / 2)), start, end)
        for leader, start, end in zip(
            [first, *(change.to for change in changes)], starts, ends, strict=True
        )
    )


def _bisected_leads(
    runner: ClaimRunner,
    figure: ir.Figure,
    at: Sequence[float],
    values: dict[str, tuple[float, ...]],
    curves: dict[str, ir.Curve],
) -> tuple[Lead, ...]:
    """Return who leads from where to where: on the points of the axis, bisected between two."""

    def value(name: str, point: float) -> float:
        found = _value_at(runner, figure, curves[name], point)
        return float("-inf") if isnan(found) else found

    def leader(told: dict[str, float]) -> str:
        return max(told, key=lambda name: told[name])

    order = [
        leader({n: (v[i] if v[i] == v[i] else float("-inf")) for n, v in values.items()})
        for i in range(len(at))
    ]
    leads: list[Lead] = []
    start = at[0]
    for index in range(1, len(at)):
        before, after = order[index - 1], order[index]
        if before == after:
            continue
        low, high = at[index - 1], at[index]
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            if value(before, middle) >= value(after, middle):
                low = middle
            else:
                high = middle
        leads.append(Lead((before,), start, high))
        start = high
    return (*leads, Lead((order[-1],), start, at[-1]))


# -- values --------------------------------------------------------------------------------


def _refuse_beyond(model: ir.Model, figure: ir.Figure) -> None:
    """Refuse an axis that leaves the range of its parameter."""
    declared = next((p for p in model.parameters if p.name == figure.parameter), None)
    if declared is None:
        return
    low, high = (
        b.value if isinstance(b, ir.Constant) else None for b in (declared.low, declared.high)
    )
    if (low is not None and figure.low < low) or (high is not None and figure.high > high):
        raise QpsError.single(
            codes.OUT_OF_RANGE,
            figure.axis_span,
            f"the axis leaves the range of `{figure.parameter}`",
            secondary=[Label(declared.span, "its range is stated here")],
            hint="stay inside the range, or widen it where it is declared",
        )


def _points(figure: ir.Figure, count: int) -> list[float]:
    low, high = float(figure.low), float(figure.high)
    if "x" in figure.logarithmic:
        return [float(point) for point in np.geomspace(low, high, count)]
    return [float(point) for point in np.linspace(low, high, count)]


def _formula(runner: ClaimRunner, figure: ir.Figure, curve: ir.Curve) -> Formula | None:
    """Return a curve as a formula of the axis; None where the axis decides between formulas.

    A condition such as `if arrays > 4` chooses when the model is lowered: then there is no one
    formula.
    """
    runner.decided.clear()
    formula = _at(runner, figure, curve, figure.low)
    return None if figure.parameter in runner.decided else formula


def _at(runner: ClaimRunner, figure: ir.Figure, curve: ir.Curve, point: Fraction) -> Formula:
    """Return a curve in the model with its parameter at a point, which stays a symbol."""
    free = axis = figure.parameter
    if _sets(curve.changes, axis):
        free = None  # the line sets the axis to a value of its own: it is level
    changes = _at_point(figure, curve.changes, point)
    base = base_configuration(runner.model)
    formula = runner.formula(curve.value.expr, base, changes, curve.span, free)
    allowed = runner.model.population.name if axis is None else axis
    unset = {symbol.name for symbol in formula.symbols} - {allowed}
    if unset:
        name = min(unset)
        raise QpsError.single(
            codes.NO_ANSWER,
            curve.span,
            f"this line depends on {name}, which is not the axis of the figure",
            hint=f"settle it: `with {name} = …`",
        )
    return formula


def _known(runner: ClaimRunner, figure: ir.Figure, curve: ir.Curve) -> Certainty:
    """Return how a curve is known along the whole axis, by both of its ends."""
    base = base_configuration(runner.model)
    ends = [figure.low] if figure.parameter is None else [figure.low, figure.high]
    found = [
        runner.known(curve.value.expr, base, _at_point(figure, curve.changes, end)) for end in ends
    ]
    return together(*found)


def _at_point(
    figure: ir.Figure, changes: Sequence[ir.Change], point: Fraction
) -> Sequence[ir.Change]:
    """Return changes, and with them the axis at a point, where they do not set it themselves."""
    axis = figure.parameter
    if axis is None or _sets(changes, axis):
        return changes
    return (*changes, ir.SetParameter(axis, ir.Constant(point), figure.axis_span))


def _sets(changes: Sequence[ir.Change], parameter: str | None) -> bool:
    """Return whether one of some changes sets a parameter; scenarios and modes give way to it."""
    return any(
        isinstance(change, ir.SetParameter) and change.name == parameter for change in changes
    )


def _value_at(runner: ClaimRunner, figure: ir.Figure, curve: ir.Curve, point: float) -> float:
    formula = _at(runner, figure, curve, Fraction(point).limit_denominator(10**12))
    return _values(formula, figure, runner.model, [point])[0]


def _axis(figure: ir.Figure, model: ir.Model) -> Formula:
    """Return the symbol of the axis."""
    if figure.parameter is None:
        return population(model.population.name)
    return symbol(figure.parameter)


def _values(
    formula: Formula, figure: ir.Figure, model: ir.Model, at: Sequence[float]
) -> list[float]:
    """Return a formula's values at points; not-a-number where it has none that is real."""
    (values,) = array_function(_axis(figure, model), [formula])(np.asarray(at, dtype=float))
    return [float(value) for value in values]
