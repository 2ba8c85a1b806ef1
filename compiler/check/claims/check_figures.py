"""Figures: curves of what a model predicts, over its population or over a parameter."""

from __future__ import annotations

from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import (
    lookup,
    lookup_class,
)
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.definitions import EVERYTHING
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import swapping_hint
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.quantities.unit_binding import advice
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import remark

_AXES = ("x", "y")


class FigureChecker(OfChanges, frozen=True):
    """Checks `figure` blocks."""

    def figure(self, item: ast.Figure) -> ir.Figure | None:
        """Return a figure, or None where it was reported."""
        curves = self._curves(item)
        logarithmic = self._logarithmic(item)
        if item.abscissa is None:
            self._missing(item, "x axis", "over N in 2..100")
            return None
        axis = self._axis(item.abscissa)
        loads = self._loads(item, curves)
        if not item.curves and not item.loads:
            self._missing(item, "line to draw", 'line "utilization" station.cpu.utilization')
        if axis is None or not (curves or loads):
            return None
        parameter, dimension, low, high = axis
        if low <= 0 and "x" in logarithmic:
            self.sink.report(
                codes.OUT_OF_RANGE,
                item.abscissa.range.low.span,
                "a logarithmic axis must start above zero",
                hint="start above zero, or remove `log x`",
            )
            return None
        return ir.Figure(
            name=item.name.text,
            title=item.title.value if item.title else None,
            parameter=parameter,
            low=low,
            high=high,
            dimension=dimension,
            curves=tuple(curves),
            loads=tuple(loads),
            logarithmic=logarithmic,
            source=item.source.value if item.source else None,
            note=remark(item.remarks, "note"),
            span=item.name.span,
            axis_span=item.abscissa.range.span,
        )

    def _missing(self, item: ast.Figure, what: str, example: str) -> None:
        self.sink.report(
            codes.MISSING_PART,
            item.name.span,
            f"figure `{item.name.text}` has no {what}",
            hint=f"add `{example}`",
        )

    def _axis(self, item: ast.Abscissa) -> tuple[str | None, Dimension, Fraction, Fraction] | None:
        """Return the parameter (None for the population), its dimension, and both ends."""
        checker, main = self.changes, self.main
        declared = lookup(main, item.name)
        divided = lookup_class(main, item.name)
        if divided is not None and isinstance(divided.declaration, ast.Param):
            declared, name = divided, f"{divided.qualified}.{item.name.parts[-1]}"
        else:
            name = declared.qualified if declared is not None else ""
        if declared is not None and isinstance(declared.declaration, ast.Users):
            bounds = checker.user_bounds(item.range)
            if bounds is None:
                return None
            return None, DIMENSIONLESS, Fraction(bounds[0]), Fraction(bounds[1])
        dimension = self.known.dimensions.get(name)
        if declared is None and checker.numbers.is_named(item.name, main):
            found = checker.numbers.number(item.name, main)
            if found is None:
                return None
            name, dimension = found.name, found.wanted
        elif declared is None or not isinstance(declared.declaration, ast.Param):
            report_name(
                self.sink, main, item.name, "parameter or population", (ast.Param, ast.Users)
            )
            return None
        if dimension is None:
            self.expressions.quantity(ast.Reference(item.name.span, item.name), Scope(main))
            return None
        high = checker.end(item.range.high, None, dimension)
        low = None if high is None else checker.end(item.range.low, item.range.high, dimension)
        if low is None or high is None:
            return None
        if low >= high:
            self.sink.report(
                codes.OUT_OF_RANGE,
                item.range.span,
                "the end of this range is below its start",
                hint=swapping_hint(
                    item.range.low.span, item.range.high.span, "write the smaller end first"
                ),
            )
            return None
        return name, dimension, low, high

    def _curves(self, item: ast.Figure) -> list[ir.Curve]:
        """Return the curves that are sound; all of them have one dimension."""
        built: list[ir.Curve] = []
        for curve in item.curves:
            scope = Scope(self.main, EVERYTHING & ~AllowedNames.ANSWERS)
            inside = Scope(self.main, EVERYTHING)
            changes = self.changes.all_of(curve.changes, inside)
            wanted = built[0].value.dimension if built else None
            value = self.expressions.quantity(curve.value, scope, wanted, "this line")
            if value is None or len(changes) < len(curve.changes):
                continue
            label = curve.label.value if curve.label else " ".join(curve.value.span.text.split())
            built.append(ir.Curve(label, value, changes, curve.span))
        return built

    def _loads(self, item: ast.Figure, curves: list[ir.Curve]) -> list[ir.LoadCurves]:
        """Return the `loads` that are sound; loads are shares, and so are all lines beside them."""
        built: list[ir.LoadCurves] = []
        for loads in item.loads:
            if curves and curves[0].value.dimension != DIMENSIONLESS:
                usual = "move utilization to a separate figure"
                advised = advice(curves[0].value, lambda other: other == DIMENSIONLESS, usual)
                self.sink.report(
                    codes.WRONG_DIMENSION,
                    loads.span,
                    "utilization is a plain number, but the lines of this figure are "
                    f"{curves[0].value.dimension.in_words}",
                    secondary=[Label(curves[0].value.span, "this line is")],
                    hint=advised,
                )
                continue
            changes = self.changes.all_of(loads.changes, Scope(self.main, EVERYTHING))
            if len(changes) == len(loads.changes):
                label = loads.label.value if loads.label else _changes_text(loads)
                if loads.label is None and len(item.loads) == 1:
                    label = ""
                built.append(ir.LoadCurves(label, changes, loads.span))
        return built

    def _logarithmic(self, item: ast.Figure) -> frozenset[str]:
        for name in item.logarithmic:
            if name.text not in _AXES:
                self.sink.report(
                    codes.UNKNOWN_NAME,
                    name.span,
                    f"unknown axis `{name.text}`",
                    hint="write `log x` or `log y`",
                )
        return frozenset(name.text for name in item.logarithmic)


def _changes_text(loads: ast.Loads) -> str:
    """Return what distinguishes the lines of one `loads` from those of another: its changes."""
    return ", ".join(" ".join(change.span.text.split()) for change in loads.changes)
