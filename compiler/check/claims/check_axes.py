"""The axes of a matrix: what varies, and the values of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.claims.check_count_ranges import CountRangeChecker
from qps.compiler.check.model.changes.check_changes import OfChanges
from qps.compiler.check.names.declarations import chooses, kind_of, lookup, names_of
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import removal_hint, swapping_hint
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.syntax import ast

MOST_NUMBERS = 1_000_000
"""Values of an axis that are not evenly spaced, each of which is kept."""

_KINDS: dict[type, ir.AxisKind] = {
    ast.Option: ir.AxisKind.OPTION,
    ast.Node: ir.AxisKind.PLACE,
    ast.Link: ir.AxisKind.PLACE,
    ast.Param: ir.AxisKind.PARAMETER,
}
_LEAST_COUNT = 2


class AxisChecker(OfChanges, frozen=True):
    """Checks axes."""

    def axis(self, item: ast.Axis) -> ir.Axis | None:
        """Return an axis, or None where it was reported."""
        kind = self._kind(item)
        if kind is None:
            return None
        values = item.values
        if isinstance(values, ast.Listed) and not values.values:
            self.refuse(
                codes.MISSING_PART,
                item.values.span,
                f"axis `{item.name.text}` has no values",
                removal_hint(
                    item.span,
                    f"list values, such as `{item.name.text} in [a, b]`, or remove the axis",
                ),
            )
            return None
        if kind is ir.AxisKind.PARAMETER:
            return self._numbers(item)
        if isinstance(values, ast.Spaced):
            self.refuse(
                codes.BAD_SETTING,
                item.values.span,
                f"`{item.name.text}` takes names, not a range",
                f"list them: `{item.name.text} in [a, b]`",
            )
            return None
        return self._choices(item, kind, values.values)

    def _kind(self, item: ast.Axis) -> ir.AxisKind | None:
        """Return what an axis varies."""
        name, main = item.name, self.main
        if chooses(main, name):
            return ir.AxisKind(name.text)
        named = lookup(main, name)
        declared = None if named is None else named.declaration
        if isinstance(declared, ast.Param) and declared.is_elastic:
            self.refuse(
                codes.BAD_SETTING,
                name.span,
                f"elastic parameter `{name.text}` cannot be varied",
                "vary what limits it, or declare it as a plain `param`",
                Label(declared.name.span, "declared here"),
            )
            return None
        if type(declared) in _KINDS:
            return _KINDS[type(declared)]
        if isinstance(declared, ast.Users):
            self.refuse(
                codes.BAD_SETTING,
                name.span,
                f"the population `{name.text}` cannot be an axis",
                f"for values at one population, write `at {name.text} = 20`; to set its "
                f"range, `matrix … with {name.text} = 2..50 {{`",
            )
            return None
        if named is not None:
            self.refuse(
                codes.BAD_SETTING,
                name.span,
                f"`{name.text}` is {kind_of(named.declaration)} and cannot be varied",
                "vary a parameter, option, node, link, scenario or mode",
                Label(named.declaration.name.span, "declared here"),
            )
            return None
        if self.changes.numbers.is_named(name, main):
            return ir.AxisKind.PARAMETER
        known = names_of(main, tuple(_KINDS))
        self.refuse(
            codes.UNKNOWN_NAME,
            name.span,
            f"unknown name `{name.text}`",
            did_you_mean(name.text, known) or "declare it first, as a `param` or `option`",
        )
        return None

    # -- names ---------------------------------------------------------------------------

    def _choices(
        self, item: ast.Axis, kind: ir.AxisKind, values: Sequence[ast.Expr | ast.Range]
    ) -> ir.Axis | None:
        """Return an axis of options, machines, networks, scenarios or modes."""
        changes: list[ir.Change] = []
        labels: list[str] = []
        for value in values:
            if isinstance(value, ast.Range):
                counted = CountRangeChecker(self.expressions).changes_of(item.name, value)
                if counted is None:
                    return None
                twice = next((label for label in counted if label in labels), None)
                if twice is not None:
                    self._twice(value, twice)
                    return None
                labels += counted
                changes += counted.values()
                continue
            label = " ".join(value.span.text.split())
            if label in labels:
                self._twice(value, label)
                return None
            if kind in (ir.AxisKind.MODE, ir.AxisKind.SCENARIO) and not isinstance(
                value, ast.Reference
            ):
                self.refuse(
                    codes.BAD_SETTING, value.span, f"a {kind.value} is a name", "list names"
                )
                return None
            change = self.changes.one(ast.Change(value.span, item.name, value), self.main)
            if change is None:
                return None
            changes.append(change)
            labels.append(label)
        name = item.name.text
        if kind in (ir.AxisKind.OPTION, ir.AxisKind.PLACE):
            first = changes[0]
            assert isinstance(first, ir.SetOption | ir.SetPlace)
            name = first.name
        return ir.Axis(
            name=name,
            kind=kind,
            choices=tuple(changes),
            labels=tuple(labels),
            span=item.values.span,
        )

    def _twice(self, value: ast.Expr | ast.Range, label: str) -> None:
        self.refuse(
            codes.DUPLICATE_NAME, value.span, f"`{label}` is listed twice", "remove one of them"
        )

    # -- numbers -------------------------------------------------------------------------

    def _numbers(self, item: ast.Axis) -> ir.Axis | None:
        """Return an axis of a parameter."""
        varied = self._varied(item.name)
        if varied is None:
            return None
        name, dimension = varied
        numbers: tuple[Fraction, ...] | ir.Steps | None
        if isinstance(item.values, ast.Spaced):
            numbers, last = self._along(item.values, dimension), item.values.range.high
        else:
            values = self._single(item.values.values)
            if values is None:
                return None
            numbers, last = self._listed(values, dimension), values[-1]
        if numbers is None:
            return None
        return ir.Axis(
            name=name,
            kind=ir.AxisKind.PARAMETER,
            numbers=numbers,
            dimension=dimension,
            span=item.values.span,
            unit=self._unit(last, dimension),
        )

    def _varied(self, name: ast.Name) -> tuple[str, Dimension] | None:
        """Return what an axis of numbers varies, a parameter or a number that stands in place."""
        declared = lookup(self.main, name)
        if declared is None:
            found = self.changes.numbers.number(name, self.main)
            return None if found is None else (found.name, found.wanted)
        dimension = self.known.dimensions.get(declared.qualified)
        return None if dimension is None else (declared.qualified, dimension)

    def _unit(self, written: ast.Expr, dimension: Dimension) -> tuple[str, Fraction] | None:
        """Return the unit that a number is written with, and how much it is in base units."""
        one = ast.with_unit_of(ast.Number(written.span, Fraction(1)), written)
        if not isinstance(one, ast.Product):
            return None
        scope = Scope(self.main, AllowedNames.NOTHING)
        factor = self.expressions.number(one, scope, "a unit", dimension)
        unit = Span(written.span.source, one.factors[1][1].span.start, written.span.end)
        return None if factor is None else (" ".join(unit.text.split()), factor)

    def _single(self, values: Sequence[ast.Expr | ast.Range]) -> list[ast.Expr] | None:
        """Return values of a number, None where a range is among them: it was reported."""
        found = []
        for value in values:
            if isinstance(value, ast.Range):
                text = value.span.text
                self.refuse(
                    codes.BAD_SETTING,
                    value.span,
                    f"`{text}` is a range of numbers, which has steps",
                    f"write it without brackets, and with its step: `in {text} by 1`",
                )
                return None
            found.append(value)
        return found

    def _listed(
        self, values: Sequence[ast.Expr], dimension: Dimension
    ) -> tuple[Fraction, ...] | None:
        """Return listed values; the unit of the last one holds for plain numbers."""
        found: list[Fraction] = []
        scope = Scope(self.main, AllowedNames.NOTHING)
        # A wrong unit is reported where it is written: with the last value.
        last = self.expressions.number(values[-1], scope, "a value", dimension)
        if last is None:
            return None
        for value in values:
            written = ast.with_unit_of(value, values[-1])
            number = (
                last
                if value is values[-1]
                else self.expressions.number(written, scope, "a value", dimension)
            )
            if number is None:
                return None
            if number in found:
                self._twice(value, " ".join(value.span.text.split()))
                return None
            found.append(number)
        return tuple(found)

    def _along(
        self, item: ast.Spaced, dimension: Dimension
    ) -> tuple[Fraction, ...] | ir.Steps | None:
        """Return the values along a range."""
        changes, bounds = self.changes, item.range
        high = changes.end(bounds.high, None, dimension)
        low = None if high is None else changes.end(bounds.low, bounds.high, dimension)
        if low is None or high is None:
            return None
        if low >= high:
            self.refuse(
                codes.OUT_OF_RANGE,
                bounds.span,
                "the end of this range is below its start"
                if low > high
                else "this range has only one value",
                swapping_hint(
                    bounds.low.span,
                    bounds.high.span,
                    "write the smaller end first, or list values: `[…]`",
                ),
            )
            return None
        if low <= 0 and (item.factor is not None or item.is_logarithmic):
            self.refuse(
                codes.OUT_OF_RANGE,
                bounds.low.span,
                "a logarithmic range must start above zero",
                "start above zero, or use equal steps: `by …`",
            )
            return None
        if item.count is not None:
            return self._counted(low, high, item.count, is_logarithmic=item.is_logarithmic)
        if item.factor is not None:
            return self._multiplied(low, high, item.factor)
        if item.step is not None:
            return self._stepped(low, high, item, dimension)
        self.refuse(
            codes.MISSING_PART,
            item.span,
            "this range has no step",
            "add a step (`by 10`), a factor (`by * 2`) or a number of values "
            "(`, 25 values`, `, 25 log values`)",
        )
        return None

    def _stepped(
        self, low: Fraction, high: Fraction, item: ast.Spaced, dimension: Dimension
    ) -> ir.Steps | None:
        assert item.step is not None
        step = self.changes.end(item.step, item.range.high, dimension)
        if step is None:
            return None
        if step <= 0 or step > high - low:
            self.refuse(
                codes.OUT_OF_RANGE,
                item.step.span,
                "the step must be above zero" if step <= 0 else "the step is larger than the range",
                "use a smaller step above zero",
            )
            return None
        return ir.Steps(low, step, int((high - low) // step) + 1)

    def _multiplied(
        self, low: Fraction, high: Fraction, factor: ast.Expr
    ) -> tuple[Fraction, ...] | None:
        scope = Scope(self.main, AllowedNames.NOTHING)
        ratio = self.expressions.number(factor, scope, "a factor")
        if ratio is None:
            return None
        # Counted before any is made: exact powers of 1.000001 would fill the memory.
        if ratio <= 1 or math.log(high / low) / math.log(ratio) > _LONGEST_POWERS:
            self.refuse(
                codes.OUT_OF_RANGE,
                factor.span,
                "the factor must be above 1"
                if ratio <= 1
                else f"this range has more than {_LONGEST_POWERS:,} values",
                "use a factor such as `by * 2`, or a number of values: `, 1000 log values`",
            )
            return None
        found = [low]
        while found[-1] * ratio <= high:
            found.append(found[-1] * ratio)
        return tuple(found)

    def _counted(
        self, low: Fraction, high: Fraction, count: ast.Number, *, is_logarithmic: bool
    ) -> tuple[Fraction, ...] | ir.Steps | None:
        many = count.value
        most = MOST_NUMBERS if is_logarithmic else None
        if many.denominator != 1 or many < _LEAST_COUNT or (most is not None and many > most):
            self.refuse(
                codes.OUT_OF_RANGE,
                count.span,
                "the number of values must be a whole number of at least 2"
                + (f" and, with `log`, at most {most:,}" if most else ""),
                "write `, 25 values`",
            )
            return None
        steps = int(many) - 1
        if not is_logarithmic:
            return ir.Steps(low, (high - low) / steps, int(many))
        return (low, *_between(low, high, steps), high)


def _between(low: Fraction, high: Fraction, steps: int) -> tuple[Fraction, ...]:
    """Return the numbers between two, each as many times the one before, to 20 digits.

    So a number that has fewer is met: a tenth is 0.1, which it is not in floats.
    """
    with localcontext(prec=30):
        ends = (Decimal(end.numerator) / Decimal(end.denominator) for end in (low, high))
        start, end = (number.ln() for number in ends)
        found = ((start + (end - start) * k / steps).exp() for k in range(1, steps))
        return tuple(Fraction(f"{number:.20g}") for number in found)


_LONGEST_POWERS = 2000


def check_ranges(matrix: ir.Matrix, parameters: Iterable[ir.Parameter], sink: Sink) -> None:
    """Report axes that leave the range of their parameter.

    What rests on the parameter is looked at row by row: it may be sound for some values only.
    """
    declared = {parameter.name: parameter for parameter in parameters}
    for axis in {axis.span: axis for block in matrix.blocks for axis in block}.values():
        if axis.kind is not ir.AxisKind.PARAMETER:
            continue
        parameter = declared[axis.name]
        ends = (axis.number(0), axis.number(axis.count - 1))
        least, most = (min(ends), max(ends)) if isinstance(axis.numbers, ir.Steps) else (
            min(axis.numbers), max(axis.numbers)
        )  # fmt: skip
        low, high = parameter.low, parameter.high
        below = isinstance(low, ir.Constant) and least < low.value
        if below or (isinstance(high, ir.Constant) and most > high.value):
            sink.report(
                codes.OUT_OF_RANGE,
                axis.span,
                f"the axis goes {'below' if below else 'above'} the range of `{axis.name}`",
                secondary=[Label(parameter.span, "range declared here")],
                hint="stay within the range, or widen it in the declaration",
            )
