"""Exact values of expressions in a configuration, at one population.

What is not rational, or is a measure, has no value here; `nearly` gives a number close to the
first. What would take more digits than
anybody computes with, or needs itself, is an error of its own: nothing later meets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from math import isfinite

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.cases import Unstated, mixed
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parted, parts_of
from qps.engine.exact_algebra.exact_powers import MOST_BITS, PowerTooLongError
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError
from qps.engine.operation_rows import NEVER_NEGATIVE, Operation
from qps.engine.operations import OPERATIONS, POWER

TOLERANCE = Fraction(1, 10**9)
"""How far a number may be from the value that it stands for, as a part of it."""


class ValueTooLargeError(Exception):
    """Raised where a value would have more than `MOST_BITS` bits."""


class CircleError(Exception):
    """Raised where a parameter is set to something that depends on it."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


class UnstatedCaseError(Exception):
    """Raised where a case is requested that a parameter does not state."""

    def __init__(self, unstated: Unstated) -> None:
        self.unstated = unstated
        super().__init__(unstated.name)


_COMPARISONS: dict[str, Callable[[Fraction, Fraction], bool]] = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
}


class Folder(Struct, kw_only=True):
    """Folds expressions; each parameter once in each case.

    `requested_at` is where `case` was requested, None where it is the one in force. `classes` says
    of which classes of users, by the name of these (`kinds` in a spec).
    """

    configuration: Configuration
    population: Fraction
    case: ir.Case | None = None
    requested_at: Span | None = None
    classes: Mapping[str, str] = field(default_factory=dict)
    is_approximate: bool = False
    _parameters: dict[tuple[str, ir.Case], Fraction | None] = field(default_factory=dict)
    _open: list[str] = field(default_factory=list)

    def in_case(self, case: ir.Case, requested_at: Span | None = None) -> Folder:
        """Return this folder with another case in force; what it knows is shared."""
        return replace(self, case=case, requested_at=requested_at)

    def nearly(self, expr: ir.Expr) -> Fraction | None:
        """Return a number within `TOLERANCE` of an irrational value, None where there is none."""
        near = replace(self, is_approximate=True, _parameters={}, _open=[])
        try:
            return near.fold(expr)
        except (ValueTooLargeError, NoValueError):
            return None

    def fold(self, expr: ir.Expr) -> Fraction | None:  # noqa: C901, PLR0911, PLR0912 - a case a node
        """Return the value of an expression, None where it is not rational or not to be had."""
        match expr:
            case ir.Constant(value):
                return value
            case ir.Recorded(value=value):
                return value
            case ir.Lookup(table, argument):
                return self._lookup(table, self.fold(argument))
            case ir.Population():
                return self.population
            case ir.ParameterValue(name):
                return self._parameter(name)
            case ir.NodeCount(name):
                return self._count(name)
            case ir.Members(name):
                group = self.configuration.groups.get(name)
                size = None if group is None else self.fold(group.size.expr)
                users = None if group is None else self.users_of(group)
                return None if size is None or users is None else min(size, users)
            case ir.GroupCount(name):
                return self._groups(name)
            case ir.Sum(terms):
                return self._joined(terms, lambda a, b: a + b)
            case ir.Product(factors):
                return self._joined(factors, lambda a, b: a * b)
            case ir.Power(base, exponent):
                return self._applied(POWER, (base, exponent))
            case ir.Apply(word, arguments):
                return self._applied(word, arguments)
            case ir.Choice(condition, then, otherwise):
                holds = self.holds(condition)
                return None if holds is None else self.fold(then if holds else otherwise)
            case ir.InCase(case, value, span):
                return self.in_case(case, span).fold(value)
            case ir.Mixture(classes=classes):
                of_one = [k.parameter for k in classes if k.name == self.classes.get(expr.of)]
                return self._parameter(of_one[0]) if of_one else self._mixed(classes)
            case ir.ByCase():
                return self.fold(self._stated(expr))
            case ir.Measured() | ir.Changed():
                return None

    def holds(self, condition: ir.Condition) -> bool | None:
        """Return whether a condition is true, None where that is not to be had."""
        match condition:
            case ir.OptionIs(option, choice):
                return self.configuration.options[option] == choice
            case ir.RowIs():
                return None
            case ir.Negated(inner):
                held = self.holds(inner)
                return None if held is None else not held
            case ir.AllOf(conditions) | ir.AnyOf(conditions):
                parts = [self.holds(part) for part in conditions]
                if None in parts:
                    return None
                return all(parts) if isinstance(condition, ir.AllOf) else any(parts)
            case ir.Compare(operator, left, right):
                sides = self.fold(left), self.fold(right)
                if sides[0] is None or sides[1] is None:
                    return None
                if self.is_approximate and abs(sides[0] - sides[1]) <= TOLERANCE * abs(sides[0]):
                    return None  # which of them is larger cannot be determined
                return _COMPARISONS[operator](sides[0], sides[1])

    def _parameter(self, name: str) -> Fraction | None:
        if name in self._open:
            raise CircleError(name)
        key = (name, self.case or self.configuration.case)
        if key not in self._parameters:
            self._open.append(name)
            # What rests on a value that failed has none either, and says nothing more.
            self._parameters[key] = None
            try:
                self._parameters[key] = self.fold(self.configuration.parameters[name])
            except UnstatedCaseError:
                del self._parameters[key]  # the request for that case reports it
                raise
            finally:
                self._open.pop()
        return self._parameters[key]

    def _stated(self, value: ir.ByCase) -> ir.Expr:
        """Return what the parameter that is being folded is in the case in force."""
        case = self.case or self.configuration.case
        stated = value.stated(case)
        if stated is None:
            requested_at = self.requested_at or self.configuration.case_from
            raise UnstatedCaseError(Unstated(self._open[-1], case, requested_at))
        return stated.value

    def _mixed(self, classes: tuple[ir.Class, ...]) -> Fraction | None:
        values = [self._parameter(kind.parameter) for kind in classes]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        return mixed(classes, known, self.case or self.configuration.case)

    def _lookup(self, table: ir.RecordedTable, argument: Fraction | None) -> Fraction | None:
        if argument is None:
            return None
        found = table.at(argument)
        if found is None:
            raise NoValueError(f"rests on `{table.name}` for {table.fault}")
        return found.value

    def rests_on_kinds(self, expr: ir.Expr) -> bool:
        """Return whether an expression rests on kinds of users that are not yet chosen from."""
        return self._classes_of_users(expr, set()) is not None

    def each_class(self, expr: ir.Expr) -> list[tuple[Fraction, Folder]]:
        """Return this folder for each kind of users that an expression rests on, by its share."""
        found = self._classes_of_users(expr, set())
        if found is None:
            return [(Fraction(1), self)]
        chosen = []
        for kind in found.classes:
            classes = dict(self.classes) | {found.of: kind.name}
            of_class = replace(self, classes=classes, _parameters={}, _open=[])
            chosen += [(kind.share * share, one) for share, one in of_class.each_class(expr)]
        return chosen

    def _classes_of_users(self, expr: ir.Expr, seen: set[str]) -> ir.Mixture | None:
        """Return a mixture of users that an expression rests on and that is not yet chosen from."""
        for part in parts_of(expr):
            if isinstance(part, ir.Mixture) and part.of_users and part.of not in self.classes:
                return part
            if isinstance(part, ir.ParameterValue) and part.name not in seen:
                seen.add(part.name)
                beyond = self.configuration.parameters[part.name]
            elif isinstance(part, ir.Members) and part.group in self.configuration.groups:
                beyond = parted(self.configuration.groups[part.group])
            else:
                continue
            found = self._classes_of_users(beyond, seen)
            if found is not None:
                return found
        return None

    def _groups(self, name: str) -> Fraction | None:
        total = Fraction(0)
        for share, folder in self.each_class(ir.Members(name)):
            members = folder.fold(ir.Members(name))
            users = folder.users_of(self.configuration.groups[name])
            if not members or users is None:
                return None
            total += share * users / members
        return total

    def users_of(self, group: ir.Group) -> Fraction | None:
        """Return how many users a group divides: those of the spec, or of its instance."""
        return self.population if group.users is None else self.fold(group.users)

    def _count(self, name: str) -> Fraction | None:
        place = self.configuration.nodes.get(name) or self.configuration.links.get(name)
        return None if place is None else self.fold(place.count)

    def _joined(
        self, parts: Iterable[ir.Expr], join: Callable[[Fraction, Fraction], Fraction]
    ) -> Fraction | None:
        total: Fraction | None = None
        is_known = True
        for part in parts:
            value = self.fold(part)
            is_known = is_known and value is not None
            if value is not None and is_known:
                total = _bounded(value if total is None else join(total, value))
        return total if is_known else None

    def _applied(self, word: str, operands: Iterable[ir.Expr]) -> Fraction | None:
        """Return the value of an operation of the table."""
        row, values = OPERATIONS[word], []
        for value in map(self.fold, operands):
            if value is None:
                return None
            values.append(value)
        if self.is_approximate and row.rounds and _is_at_jump(*values):
            return None
        for name, value in zip(row.arguments, values, strict=False):
            if value < 0 and name in NEVER_NEGATIVE:
                raise NoValueError(f"has no value: `{name}` is below zero")
        try:
            found = row.exact(*values)
        except PowerTooLongError:
            raise ValueTooLargeError from None
        except InexactError:
            if row.is_steep and abs(values[0]) > MOST_BITS:
                raise ValueTooLargeError from None
            return _approximate(row, values) if self.is_approximate else None
        if isinstance(found, float):  # of what the language has, waits alone have no end
            raise NoValueError("is infinite: the load is 1 or more")
        return found


def _approximate(row: Operation, values: Iterable[Fraction]) -> Fraction | None:
    """Return about what an operation is that is not rational, None beyond all floats."""
    try:
        found = row.number(*map(float, values))
    except OverflowError:
        return None
    return Fraction(found) if isfinite(found) else None


def _is_at_jump(value: Fraction) -> bool:
    """Return whether a number is so close to a whole one that it may be rounded either way."""
    return abs(value - round(value)) <= TOLERANCE * abs(value)


def _bits(value: Fraction) -> int:
    return max(value.numerator.bit_length(), value.denominator.bit_length())


def _bounded(value: Fraction) -> Fraction:
    if _bits(value) > MOST_BITS:
        raise ValueTooLargeError
    return value
