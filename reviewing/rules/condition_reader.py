"""Reads conditions of a model as constraints: what is linear in measures, by its coefficients."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import base_configuration, changed, in_force
from qps.compiler.configure.fold import CircleError, Folder, UnstatedCaseError, ValueTooLargeError
from qps.compiler.ir.changes import flattened
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import Dimension
from qps.engine.exact_algebra.exact_values import NoValueError
from qps.engine.operations import MAXIMUM, MINIMUM
from qps.reviewing.rules.constraints import Atom, Constraint, Context, End, normal
from qps.reviewing.rules.parameter_names import modeled_names
from qps.reviewing.rules.plain_values import new_name, plain

_NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIDDLE = Fraction(1, 2)
_LEVELED = {
    ir.MeasureKind.LATENCY: ir.MeasureKind.QUANTILE,
    ir.MeasureKind.WAIT: ir.MeasureKind.WAIT_QUANTILE,
}
"""A mean is compared with a quantile of the same as if it were the median."""


class ConditionReader(Struct, frozen=True, kw_only=True, dict=True):
    """Reads conditions of a model; names of it are `renamed` as the new version has them."""

    model: ir.Model
    renamed: Mapping[str, str] = {}

    def constraints(
        self, condition: ir.Condition, changes: Sequence[ir.Change] = (), *, holds: bool = True
    ) -> tuple[Constraint, ...]:
        """Return what a condition says, or its opposite: all of these must hold."""
        match condition:
            case ir.Negated(inner):
                return self.constraints(inner, changes, holds=not holds)
            case ir.AllOf(parts) | ir.AnyOf(parts):
                read = [self.constraints(part, changes, holds=holds) for part in parts]
                if isinstance(condition, ir.AllOf) is holds:
                    return tuple(one for part in read for one in part)
                return (Constraint(terms=(), tag="any", alternatives=tuple(read)),)
            case ir.Compare(operator, left, right, dimension):
                sign = operator if holds else _NEGATED[operator]
                return self._each(sign, left, right, dimension, changes)
        context = self._context(changes)
        return (Constraint(terms=(), tag=(plain(condition, self.renamed), context, holds)),)

    def within(
        self,
        value: ir.Quantity,
        claimed: ir.Quantity,
        tolerance: ir.Tolerance,
        changes: Sequence[ir.Change],
    ) -> Constraint:
        """Return that a value lies within a tolerance of another one."""
        other = self.number(claimed.expr, changes)
        amount = tolerance.amount
        if other is not None:
            off = abs(other) * amount if tolerance.relative else amount
            left, right = other - off, other + off
            near = self._scaled(value.expr, left, right, None, value.dimension, changes)
            return replace(near, tolerance=tolerance)
        difference = ir.Sum((value.expr, ir.Product((ir.Constant(Fraction(-1)), claimed.expr))))
        tag = ("relative to", plain(claimed.expr, self.renamed)) if tolerance.relative else None
        return self._scaled(difference, -amount, amount, tag, value.dimension, changes)

    def simulated(
        self, measure: ir.Quantity, tolerance: ir.Tolerance, changes: Sequence[ir.Change]
    ) -> Constraint:
        """Return that a measure lies within a tolerance of what is simulated."""
        tag = ("simulated", tolerance.relative)
        amount = tolerance.amount
        return self._scaled(measure.expr, -amount, amount, tag, measure.dimension, changes)

    def observed(self, column: ir.MeasuredColumn, tag: Hashable) -> Constraint:
        """Return that a measure is near what was measured, or anything without a tolerance."""
        tolerance = column.tolerance
        if tolerance is None:
            return self._scaled(column.value.expr, None, None, tag, column.value.dimension, ())
        own = (tag, tolerance.relative)
        amount = tolerance.amount
        return self._scaled(column.value.expr, -amount, amount, own, column.value.dimension, ())

    def limited(self, one: ir.Requirement, changes: Sequence[ir.Change]) -> Constraint:
        """Return the limit of a requirement."""
        sign = ("<" if one.at_most else ">") + ("" if one.strict else "=")
        return self._compared(
            sign, one.measure.expr, one.limit.expr, one.measure.dimension, changes
        )

    def _scaled(
        self,
        value: ir.Expr,
        low: Fraction | None,
        high: Fraction | None,
        tag: Hashable,
        dimension: Dimension,
        changes: Sequence[ir.Change],
    ) -> Constraint:
        form = _Form(self, is_symbolic=not _names_measure(value))
        constant = form.add(value, Fraction(1), changes)
        ends = [None if end is None else End(end - constant) for end in (low, high)]
        return normal(form.terms, ends[0], ends[1], tag, dimension)

    def _each(
        self,
        sign: str,
        left: ir.Expr,
        right: ir.Expr,
        dimension: Dimension,
        changes: Sequence[ir.Change],
    ) -> tuple[Constraint, ...]:
        """Return what a comparison says of each part of the largest or smallest of several."""
        found = []
        for a, b in _sides(left, right, sign, is_each=True):
            ways = _sides(a, b, sign, is_each=False)
            if len(ways) == 1:
                found.append(self._compared(sign, a, b, dimension, changes))
            else:
                read = tuple(self._each(sign, *way, dimension, changes) for way in ways)
                found.append(Constraint(terms=(), tag="any", alternatives=read))
        return tuple(found)

    def _compared(
        self,
        operator: str,
        left: ir.Expr,
        right: ir.Expr,
        dimension: Dimension,
        changes: Sequence[ir.Change],
    ) -> Constraint:
        form = _Form(self, is_symbolic=not (_names_measure(left) or _names_measure(right)))
        constant = form.add(left, Fraction(1), changes) + form.add(right, Fraction(-1), changes)
        end = End(-constant, operator in ("<", ">"))
        if operator == "!=":
            return normal(form.terms, end, end, "other than", dimension)
        low = end if operator in (">", ">=", "==") else None
        high = end if operator in ("<", "<=", "==") else None
        return normal(form.terms, low, high, None, dimension)

    def number(self, expr: ir.Expr, changes: Sequence[ir.Change] = ()) -> Fraction | None:
        """Return the value of what names no measure, None where that is no number."""
        if _names_measure(expr):
            return None
        folder = self._folder(changes)
        try:
            found = folder.fold(expr)
            return folder.nearly(expr) if found is None else found
        except (CircleError, NoValueError, ValueTooLargeError, UnstatedCaseError):
            return None

    def value(self, name: str) -> Fraction | None:
        """Return the value of a parameter as the spec states it."""
        cache: dict[str, Fraction | None] = self.__dict__.setdefault("_values", {})
        if name not in cache:
            cache[name] = self.number(ir.ParameterValue(name))
        return cache[name]

    def holds(self, condition: ir.Condition, changes: Sequence[ir.Change]) -> bool | None:
        """Return whether what a value is chosen by is true."""
        try:
            return self._folder(changes).holds(condition)
        except (CircleError, NoValueError, ValueTooLargeError, UnstatedCaseError):
            return None

    def _folder(self, changes: Sequence[ir.Change]) -> Folder:
        active = in_force(changed(base_configuration(self.model), changes))
        return Folder(configuration=active, population=Fraction(active.high))

    def context(self, changes: Sequence[ir.Change]) -> Context:
        """Return what changes a model, scenarios by what they change."""
        return self._context(changes)

    def _context(self, changes: Sequence[ir.Change]) -> Context:
        found: dict[Hashable, Hashable] = {}
        for change in flattened(tuple(changes)):
            found |= self._set_by(change)
        return frozenset(found.items())

    def _set_by(self, change: ir.Change) -> dict[Hashable, Hashable]:
        match change:
            case ir.SetPopulation(low, high):
                return {"population": (low, high)}
            case ir.SetParameter(name, value):
                number = self.number(value)
                set_to = plain(value, self.renamed) if number is None else number
                return {("parameter", new_name(name, self.renamed)): set_to}
            case ir.SetOption(name, choice):
                return {("option", new_name(name, self.renamed)): choice}
            case ir.SetPlace(name, kind, count):
                many = None if count is None else self.number(count)
                other = None if count is None or many is not None else plain(count, self.renamed)
                placed = (new_name(kind, self.renamed), many, other)
                return {("place", new_name(name, self.renamed)): placed}
            case ir.LoseMachines():
                lost = (change.number, change.zones)
                return {("lost", new_name(change.name, self.renamed)): lost}
            case ir.SetMode(name):
                return {"mode": new_name(name, self.renamed)}
            case ir.SetCase(case):
                return {"case": case.value}
            case ir.SetScenario():
                raise AssertionError("scenarios are flattened")

    @property
    def modeled(self) -> frozenset[str]:
        """The parameters that the model itself rests on, beside what is claimed of it."""
        cached: frozenset[str] | None = self.__dict__.get("_modeled")
        if cached is None:
            cached = self.__dict__["_modeled"] = frozenset(modeled_names(self.model))
        return cached


class _Form(Struct, frozen=True, kw_only=False):
    """A linear form in the making; `is_symbolic` where parameters are atoms: none is a measure."""

    reader: ConditionReader
    is_symbolic: bool
    terms: dict[Atom, Fraction] = {}

    def add(self, expr: ir.Expr, factor: Fraction, changes: Sequence[ir.Change]) -> Fraction:
        """Add so many times an expression; return what of it is a plain number."""
        if not self._has_atoms(expr):
            number = self.reader.number(expr, changes)
            if number is not None:
                return factor * number
        match expr:
            case ir.Sum(terms):
                return sum((self.add(one, factor, changes) for one in terms), Fraction(0))
            case ir.Product(factors):
                plain_ones = [one for one in factors if not self._has_atoms(one)]
                others = [one for one in factors if self._has_atoms(one)]
                numbers = [self._coefficient(one, changes) for one in plain_ones]
                if len(others) == 1 and None not in numbers:
                    for number in numbers:
                        factor *= number or 0
                    return self.add(others[0], factor, changes)
            case ir.Changed() if not isinstance(expr, ir.Chance):
                return self.add(expr.value, factor, (*changes, *expr.changes))
            case ir.Choice(condition, then, otherwise):
                holds = self.reader.holds(condition, changes)
                if holds is not None:
                    return self.add(then if holds else otherwise, factor, changes)
        atom = self._atom(expr, changes)
        self.terms[atom] = self.terms.get(atom, Fraction(0)) + factor
        return Fraction(0)

    def _coefficient(self, expr: ir.Expr, changes: Sequence[ir.Change]) -> Fraction | None:
        """Return a number that measures are multiplied by: none that the model itself rests on."""
        names = {part.name for part in parts_of(expr) if isinstance(part, ir.ParameterValue)}
        return None if names & self.reader.modeled else self.reader.number(expr, changes)

    def _has_atoms(self, expr: ir.Expr) -> bool:
        if _names_measure(expr):
            return True
        return self.is_symbolic and any(isinstance(part, _NAMED) for part in parts_of(expr))

    def _atom(self, expr: ir.Expr, changes: Sequence[ir.Change]) -> Atom:
        reader = self.reader
        context = reader.context(changes)
        match expr:
            case ir.Measured(
                kind=kind, subject=subject, component=component, level=level, times=times
            ):
                own = _LEVELED.get(kind, kind)
                is_leveled = own in _LEVELED.values() or kind is ir.MeasureKind.LARGEST
                named = new_name(subject, reader.renamed)
                part = None if component is None else new_name(component, reader.renamed)
                return Atom(
                    key=("measure", own.value, named, part, times),
                    level=(_MIDDLE if level is None else level) if is_leveled else None,
                    context=context,
                    kind=kind,
                )
            case ir.Chance(changes=own_changes, condition=condition):
                inner = reader.constraints(condition, (*changes, *own_changes))
                return Atom(key=("probability",), context=context, inner=inner)
            case ir.Sum(parts) | ir.Product(parts) | ir.Apply(arguments=parts):
                word = expr.operation if isinstance(expr, ir.Apply) else type(expr).__name__
                return Atom(key=(word, tuple(self._frozen(one, changes) for one in parts)))
            case ir.Power(base, exponent):
                return Atom(key=("power", *(self._frozen(o, changes) for o in (base, exponent))))
        return Atom(key=plain(expr, reader.renamed), context=context)

    def _frozen(self, expr: ir.Expr, changes: Sequence[ir.Change]) -> Hashable:
        """Return a part of what is not linear."""
        if not self._has_atoms(expr):
            names = {part.name for part in parts_of(expr) if isinstance(part, ir.ParameterValue)}
            number = None if names & self.reader.modeled else self.reader.number(expr, changes)
            return plain(expr, self.reader.renamed) if number is None else number
        form = _Form(self.reader, self.is_symbolic, {})
        constant = form.add(expr, Fraction(1), changes)
        terms = ((a.key, a.level, a.context, c) for a, c in form.terms.items() if c)
        return (constant, frozenset(terms))


_NAMED = (ir.ParameterValue, ir.NodeCount, ir.Members, ir.GroupCount, ir.Mixture, ir.Population)


def _sides(
    left: ir.Expr, right: ir.Expr, sign: str, *, is_each: bool
) -> tuple[tuple[ir.Expr, ir.Expr], ...]:
    """Return the pairs of which each must compare so, or else of which one must.

    The largest of several is below a bound where each of them is, the smallest where one is.
    """
    if sign in ("==", "!="):
        return ((left, right),)
    words = (MAXIMUM, MINIMUM) if (sign in ("<", "<=")) is is_each else (MINIMUM, MAXIMUM)
    return tuple(product(_parts(left, words[0]), _parts(right, words[1])))


def _parts(expr: ir.Expr, word: str) -> tuple[ir.Expr, ...]:
    """Return what an extremum of measures is of; a number is one as it is."""
    if not isinstance(expr, ir.Apply) or expr.operation != word or not _names_measure(expr):
        return (expr,)
    return tuple(one for part in expr.arguments for one in _parts(part, word))


def _names_measure(expr: ir.Expr) -> bool:
    """Return whether an expression names a measure."""
    return any(isinstance(part, ir.Measured | ir.Changed) for part in parts_of(expr))
