"""Numbers, expressions, conditions, changes, texts."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import dropwhile

from msgspec.structs import replace

from qps.compiler.syntax.ast.base_node import Name, Written


class Number(Written, frozen=True):
    """A number without a unit, exact."""

    value: Fraction


class Date(Written, frozen=True):
    """A month or a day, `2027-03`; as a number, the months since the start of the calendar."""

    text: str


class Reference(Written, frozen=True):
    """A name that stands for a value or a unit; `%` and `$` are names too.

    One behind a number `is_unit` where there is such a unit, as those are that divide it:
    `3 ms/call`.
    """

    name: Name
    is_unit: bool = False


class Quantity(Written, frozen=True):
    """A number next to a unit: `0.21 ms`."""

    number: Number
    unit: Expr


class Negative(Written, frozen=True):
    """`-x`."""

    operand: Expr


class Sum(Written, frozen=True):
    """Terms, each with True where it is subtracted."""

    terms: tuple[tuple[bool, Expr], ...]


class Product(Written, frozen=True):
    """Factors, each with True where it divides."""

    factors: tuple[tuple[bool, Expr], ...]

    @property
    def quotients(self) -> Iterator[tuple[Expr, Number, Expr]]:
        """Yield each two numbers and the unit of their quotient: `1/20 s`."""
        three = zip(self.factors, self.factors[1:], self.factors[2:], strict=False)
        for (_, number), (divides, other), (unit_divides, unit) in three:
            is_unit = divides and not unit_divides and _is_unit(unit)
            if is_unit and _is_number(number) and isinstance(other, Number):
                yield number, other, unit


class Every(Product, frozen=True):
    """`1 message every 20 s`: the first factor by the second, which is a time."""


class Power(Written, frozen=True):
    """`base ^ exponent`."""

    base: Expr
    exponent: Expr


class Call(Written, frozen=True):
    """`name(arguments)`."""

    name: Name
    arguments: tuple[Expr, ...]


class Comparison(Written, frozen=True):
    """A chain of comparisons: one operator fewer than operands."""

    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


class Junction(Written, frozen=True):
    """Operands joined by `and` or by `or`."""

    operator: str
    operands: tuple[Expr, ...]


class Not(Written, frozen=True):
    """`not x`."""

    operand: Expr


class Conditional(Written, frozen=True):
    """`if condition then value else otherwise`."""

    condition: Expr
    then: Expr
    otherwise: Expr


class Changed(Written, frozen=True):
    """`(value with changes)`: the value in a changed model."""

    value: Expr
    changes: tuple[Change, ...]


class CaseValue(Written, frozen=True):
    """`largest 13.3 ms/frame`: what a parameter is in one case."""

    case: str
    value: Expr


class Cases(Written, frozen=True):
    """`{ average 12.7 ms/frame; least 7.2 ms/frame }`: a parameter's value in several cases."""

    values: tuple[CaseValue, ...]


class KindValue(Written, frozen=True):
    """`I average 23.3 kB/frame, largest 33 kB/frame`: the value of one kind."""

    name: Name
    value: Expr


class KindTable(Written, frozen=True):
    """`by film { I …; P … }`: a parameter's value for each kind; `owner` is the parameter."""

    owner: Name
    kinds: Name
    entries: tuple[KindValue, ...]


class PairValue(Written, frozen=True):
    """`us eu 40 ms`: the value between two kinds."""

    one: Name
    other: Name
    value: Expr


class PairTable(Written, frozen=True):
    """`by region, region { us eu 40 ms }`: a parameter's value between any two kinds."""

    kinds: Name
    others: Name
    entries: tuple[PairValue, ...]


class Around(Written, frozen=True):
    """`8 ms +- 1 ms`: a number, and how far off it may be; where that is in %, of the number."""

    middle: Expr
    half_width: Expr


class Between(Written, frozen=True):
    """`between 6 ms and 12 ms`: a number that is estimated to lie there."""

    low: Expr
    high: Expr


class Weighed(Written, frozen=True):
    """`2 ms weight 3`: a value, and how likely it is beside others."""

    value: Expr
    weight: Expr | None


class OneOf(Written, frozen=True):
    """`one of [2 ms weight 3, 4 ms]`: one number of several, nobody knows which."""

    choices: tuple[Weighed, ...]


class Samples(Written, frozen=True):
    """`samples "runs.csv" latency`: a number of which a column of a table has samples."""

    file: Text
    column: Name | Text


Uncertain = Around | Between | OneOf | Samples

Expr = (
    Number
    | Date
    | Reference
    | Quantity
    | Negative
    | Sum
    | Product
    | Power
    | Call
    | Comparison
    | Junction
    | Not
    | Conditional
    | Changed
    | Cases
    | KindTable
    | PairTable
    | Around
    | Between
    | OneOf
    | Samples
)


class Range(Written, frozen=True):
    """`low .. high`."""

    low: Expr
    high: Expr


class Listed(Written, frozen=True):
    """Values one by one; of an axis of a matrix also ranges."""

    values: tuple[Expr | Range, ...]


class Change(Written, frozen=True):
    """`name = value` in a scenario, after `with`, or after `--set`.

    Several values, `scenario = [peak, cheap]`, are scenarios that are made together.
    """

    name: Name
    value: Expr | Range | Listed

    @property
    def chosen(self) -> tuple[Expr | Range, ...]:
        """The value, or each of several."""
        return self.value.values if isinstance(self.value, Listed) else (self.value,)


class Text(Written, frozen=True):
    """A text in quotes."""

    value: str


class OwnSource(Text, frozen=True):
    """`source model "…"`: a claim is our own, and by what reckoning or promise."""


class ArithmeticSource(Text, frozen=True):
    """`source arithmetic "…"`: a document's number that follows from other numbers of it."""


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return what an expression is directly made of; in a changed model, nothing."""
    match expr:
        case Call(arguments=parts) | Comparison(operands=parts) | Junction(operands=parts):
            return parts
        case Negative(operand=part) | Not(operand=part) | Quantity(unit=part):
            return (part,)
        case Sum(terms=pairs) | Product(factors=pairs):
            return tuple(part for _, part in pairs)
        case Power(base=base, exponent=exponent):
            return (base, exponent)
        case Conditional(condition=condition, then=then, otherwise=otherwise):
            return (condition, then, otherwise)
        case Around(middle=one, half_width=other) | Between(low=one, high=other):
            return (one, other)
        case OneOf(choices=choices):
            weighed = ((choice.value, choice.weight) for choice in choices)
            return tuple(part for pair in weighed for part in pair if part is not None)
    return ()


def as_unit(expr: Expr) -> Expr:
    """Return an expression as what is written behind a number: its names are units."""
    match expr:
        case Reference():
            return replace(expr, is_unit=True)
        case Power(base=Reference() as base):
            return replace(expr, base=replace(base, is_unit=True))
        case Product(factors=((False, first), *rest)):
            found, follows = [(False, as_unit(first))], True
            for divides, factor in rest:
                follows = follows and divides and _is_word(factor)
                found.append((divides, as_unit(factor) if follows else factor))
            return replace(expr, factors=tuple(found))
    return expr


def _is_number(expr: Expr) -> bool:
    """Whether an expression is a number as it is written, such as `-1` and `10^3`."""
    match expr:
        case Negative(operand=part):
            return _is_number(part)
        case Power(base=base, exponent=exponent):
            return _is_number(base) and _is_number(exponent)
    return isinstance(expr, Number)


def _is_unit(expr: Expr) -> bool:
    word = expr.base if isinstance(expr, Power) else expr
    return isinstance(word, Reference) and word.is_unit


def _is_word(expr: Expr) -> bool:
    return isinstance(expr.base if isinstance(expr, Power) else expr, Reference)


def with_unit_of(bound: Expr, other: Expr | None) -> Expr:
    """Return a plain number with the unit of the other end of its range, all else as it is."""
    unit = _unit_of(other) if is_plain(bound) and other is not None else None
    factors = bound.factors if isinstance(bound, Product) else ((False, bound),)
    return bound if unit is None else Product(bound.span, (*factors, *unit))


def is_plain(bound: Expr) -> bool:
    """Whether an end of a range is a number, or a quotient of numbers: `1/20`."""
    factors = bound.factors if isinstance(bound, Product) else ((False, bound),)
    return all(_is_number(factor) for _, factor in factors)


def _unit_of(expr: Expr) -> tuple[tuple[bool, Expr], ...] | None:
    """Return the factors of a quantity without its number: the `frame/s` of `30 frame/s`."""
    match expr:
        case Quantity(unit=unit):
            return ((False, unit),)
        case Product(factors=((False, Quantity(unit=unit)), *rest)):
            return ((False, unit), *rest)
        case Product(factors=factors):
            behind = tuple(dropwhile(lambda factor: _is_number(factor[1]), factors))
            return behind if behind and not behind[0][0] and _is_unit(behind[0][1]) else None
    return None
