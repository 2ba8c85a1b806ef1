"""Figures of a spec: what the model predicts along a population or a parameter, in numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from math import isnan

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, base_configuration
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.engine.execution.array_functions import array_function
from qps.engine.expressions.formulas import Formula, population, symbol
from qps.solver.answers.envelope import equal_at, upper_envelope
from qps.solver.claims.claim_runner import ClaimRunner

_POINTS = 241
_POINTS_ONE_BY_ONE = 33
_BISECTIONS = 30
_COMPARED = 2


class DrawnCurve(Struct, frozen=True):
    """A line: its label, and a value for each point of the axis (NaN if undefined).

    `known` is the accuracy of its values, from the formulas at both ends of the axis.
    """

    label: str
    values: tuple[float, ...]
    known: Certainty = EXACT


class Lead(Struct, frozen=True):
    """A range of the axis, in base units, and the lines with the highest values in this range.

    There are no lines if this is unknown.
    """

    lines: tuple[str, ...]
    from_: float
    to: float


class Leads(Struct, frozen=True):
    """The resource with the highest utilization in each range of the axis, for the model `of`.

    The ranges are `exact` if their bounds are roots, and not found by evaluating single points.
    """

    of: str
    leads: tuple[Lead, ...]
    exact: bool


class DrawnFigure(Struct, frozen=True, kw_only=True):
    """A figure with the points of its axis and its curves, all in base units."""

    figure: ir.Figure
    dimension: Dimension
    at: tuple[float, ...]
    curves: tuple[DrawnCurve, ...]
    leads: tuple[Leads, ...]


class _Line(Struct, frozen=True):
    """A curve; one of loads belongs to a `group`, the model as changed, and is known by `name`."""

    curve: ir.Curve
    group: str | None
    name: str


def draw(runner: ClaimRunner, figure: ir.Figure) -> DrawnFigure:
    """Return the curves of a figure; QpsError where one needs a population that is not set."""
    _refuse_beyond(runner.model, figure)
    return _Drawing(runner, figure).drawn()


class _Drawing(Struct, frozen=True, dict=True):
    """A figure, and the runner of its model."""

    runner: ClaimRunner
    figure: ir.Figure

    @cached_property
    def _base(self) -> Configuration:
        return base_configuration(self.runner.model)

    @cached_property
    def _axis(self) -> Formula:
        """The symbol of the axis."""
        if self.figure.parameter is None:
            return population(self.runner.model.population.name)
        return symbol(self.figure.parameter)

    def drawn(self) -> DrawnFigure:
        figure = self.figure
        lines = [*self._own_lines(), *self._load_lines()]
        formulas = [self._formula(line.curve) for line in lines]
        is_smooth = None not in formulas
        at = _points(figure, _POINTS if is_smooth else _POINTS_ONE_BY_ONE)
        curves = []
        for line, formula in zip(lines, formulas, strict=True):
            if formula is None:
                values = [self._value_at(line.curve, point) for point in at]
            else:
                values = self._values(formula, at)
            known = self._known(line.curve)
            curves.append(DrawnCurve(line.curve.label, tuple(values), known))
        return DrawnFigure(
            figure=figure,
            dimension=figure.curves[0].value.dimension if figure.curves else DIMENSIONLESS,
            at=tuple(at),
            curves=tuple(curves),
            leads=tuple(self._leads(lines, formulas, at, curves)),
        )

    # -- which lines there are -------------------------------------------------------------

    def _own_lines(self) -> Iterator[_Line]:
        """Yield the lines that a figure states; loads in the same changed model are compared."""
        for curve in self.figure.curves:
            expression = curve.value.expr
            is_load = isinstance(expression, ir.Measured) and expression.kind is ir.MeasureKind.LOAD
            yield _Line(curve, _group_of(curve.changes) if is_load else None, curve.label)

    def _load_lines(self) -> Iterator[_Line]:
        """Yield a line for each resource that something loads, for each `loads` of a figure."""
        for loads in self.figure.loads:
            changes = self._at_point(loads.changes, self.figure.low)
            for name in self.runner.resources(self._base, changes):
                load = ir.Measured(kind=ir.MeasureKind.LOAD, subject=name)
                value = ir.Quantity(expr=load, dimension=DIMENSIONLESS, span=loads.span)
                label = f"{loads.label}: {name}" if loads.label else name
                curve = ir.Curve(label, value, loads.changes, loads.span)
                yield _Line(curve, loads.label, name)

    # -- which load leads ------------------------------------------------------------------

    def _leads(
        self,
        lines: Sequence[_Line],
        formulas: Sequence[Formula | None],
        at: Sequence[float],
        curves: Sequence[DrawnCurve],
    ) -> Iterator[Leads]:
        """Yield, for each model as changed, which of its loads is the highest and where."""
        of_groups = [line.group for line in lines if line.group is not None]
        groups = [
            group for group in dict.fromkeys(of_groups) if of_groups.count(group) >= _COMPARED
        ]
        labels = {loads.label for loads in self.figure.loads}
        for group in groups:
            # A model that is the only one here needs no name, but where the figure gives it one.
            of = group if len(groups) > 1 or group in labels else ""
            members = [i for i, line in enumerate(lines) if line.group == group]
            known = {lines[i].name: one for i in members if (one := formulas[i]) is not None}
            if len(known) == len(members):
                yield Leads(of, self._exact_leads(known), exact=True)
            else:
                values = {lines[i].name: curves[i].values for i in members}
                tried = {lines[i].name: lines[i].curve for i in members}
                yield Leads(of, self._bisected_leads(at, values, tried), exact=False)

    def _exact_leads(self, loads: dict[str, Formula]) -> tuple[Lead, ...]:
        """Return who leads from where to where, by the formulas of the loads."""
        low, high = self.figure.low, self.figure.high
        first, changes = upper_envelope(loads, self._axis, low, high)
        starts = [float(low), *(change.at for change in changes)]
        ends = [*starts[1:], float(high)]
        leaders = [first, *(change.to for change in changes)]
        return tuple(
            Lead(self._highest(loads, leader, Fraction((start + end) / 2)), start, end)
            for leader, start, end in zip(leaders, starts, ends, strict=True)
        )

    def _highest(
        self, loads: dict[str, Formula], leader: str | None, at: Fraction
    ) -> tuple[str, ...]:
        return () if leader is None else equal_at(loads, self._axis, leader, at)

    def _bisected_leads(
        self,
        at: Sequence[float],
        values: dict[str, tuple[float, ...]],
        curves: dict[str, ir.Curve],
    ) -> tuple[Lead, ...]:
        """Return who leads from where to where: on the points of the axis, bisected between two."""

        def height(value: float) -> float:
            return float("-inf") if isnan(value) else value

        def leader(index: int) -> str:
            return max(values, key=lambda name: height(values[name][index]))

        order = [leader(index) for index in range(len(at))]
        leads: list[Lead] = []
        start = at[0]
        for index, (before, after) in enumerate(pairwise(order)):
            if before == after:
                continue
            low, high = at[index], at[index + 1]
            for _ in range(_BISECTIONS):
                middle = (low + high) / 2
                here, there = (self._value_at(curves[name], middle) for name in (before, after))
                low, high = (middle, high) if height(here) >= height(there) else (low, middle)
            leads.append(Lead((before,), start, high))
            start = high
        return (*leads, Lead((order[-1],), start, at[-1]))

    # -- values ----------------------------------------------------------------------------

    def _formula(self, curve: ir.Curve) -> Formula | None:
        """Return a curve as a formula of the axis; None where the axis decides between formulas.

        A condition such as `if arrays > 4` chooses when the model is lowered: then there is no one
        formula.
        """
        self.runner.decided.clear()
        formula = self._at(curve, self.figure.low)
        return None if self.figure.parameter in self.runner.decided else formula

    def _at(self, curve: ir.Curve, point: Fraction) -> Formula:
        """Return a curve in the model with its parameter at a point, which stays a symbol."""
        free = axis = self.figure.parameter
        if _sets(curve.changes, axis):
            free = None  # the line sets the axis to a value of its own: it is level
        changes = self._at_point(curve.changes, point)
        formula = self.runner.formula(curve.value.expr, self._base, changes, curve.span, free)
        allowed = self.runner.model.population.name if axis is None else axis
        unset = {symbol.name for symbol in formula.symbols} - {allowed}
        if unset:
            name = min(unset)
            raise QpsError.single(
                codes.NO_ANSWER,
                curve.span,
                f"this line depends on {name}, which is not the axis of the figure",
                hint=f"set it: `with {name} = …`",
            )
        return formula

    def _known(self, curve: ir.Curve) -> Certainty:
        """Return how a curve is known along the whole axis, by both of its ends."""
        figure = self.figure
        ends = [figure.low] if figure.parameter is None else [figure.low, figure.high]
        settings = [self._at_point(curve.changes, end) for end in ends]
        return together(*(self.runner.known(curve.value.expr, self._base, s) for s in settings))

    def _at_point(self, changes: Sequence[ir.Change], point: Fraction) -> Sequence[ir.Change]:
        """Return changes, and the axis at a point among them, where they do not set it."""
        axis = self.figure.parameter
        if axis is None or _sets(changes, axis):
            return changes
        return (*changes, ir.SetParameter(axis, ir.Constant(point), self.figure.axis_span))

    def _value_at(self, curve: ir.Curve, point: float) -> float:
        formula = self._at(curve, Fraction(point).limit_denominator(10**12))
        return self._values(formula, [point])[0]

    def _values(self, formula: Formula, at: Sequence[float]) -> list[float]:
        """Return a formula's values at points; not-a-number where it has none that is real."""
        (values,) = array_function(self._axis, [formula])(np.asarray(at, dtype=float))
        return [float(value) for value in values]


def _group_of(changes: Sequence[ir.Change]) -> str:
    return ", ".join(" ".join(change.span.text.split()) for change in changes)


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
            secondary=[Label(declared.span, "range declared here")],
            hint="stay within the range, or widen it in the declaration",
        )


def _points(figure: ir.Figure, count: int) -> list[float]:
    """Return so many points of the axis at most, with both ends; of users whole numbers."""
    space = np.geomspace if "x" in figure.logarithmic else np.linspace
    points = [float(point) for point in space(float(figure.low), float(figure.high), count)]
    if figure.parameter is None and figure.low.denominator == figure.high.denominator == 1:
        points = sorted({float(round(point)) for point in points})
    return points


def _sets(changes: Sequence[ir.Change], parameter: str | None) -> bool:
    """Return whether one of some changes sets a parameter; scenarios and modes give way to it."""
    return any(
        isinstance(change, ir.SetParameter) and change.name == parameter for change in changes
    )
