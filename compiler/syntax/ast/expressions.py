"""Names, numbers, expressions, conditions, changes."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span


class Name(Struct, frozen=True):
    """A name, with its parts where it has dots."""

    span: Span
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name as it is written."""
        return ".".join(self.parts)


class Number(Struct, frozen=True):
    """A number without a unit, exact."""

    span: Span
    value: Fraction


class Reference(Struct, frozen=True):
    """A name that stands for a value or a unit; `%` and `$` are names too."""

    span: Span
    name: Name


class Quantity(Struct, frozen=True):
    """A number next to a unit: `0.21 ms`."""

    span: Span
    number: Number
    unit: Expr


class Negative(Struct, frozen=True):
    """`-x`."""

    span: Span
    operand: Expr


class Sum(Struct, frozen=True):
    """Terms, each with True where it is subtracted."""

    span: Span
    terms: tuple[tuple[bool, Expr], ...]


class Product(Struct, frozen=True):
    """Factors, each with True where it divides."""

    span: Span
    factors: tuple[tuple[bool, Expr], ...]


class Power(Struct, frozen=True):
    """`base ^ exponent`."""

    span: Span
    base: Expr
    exponent: Expr


class Call(Struct, frozen=True):
    """`name(arguments)`."""

    span: Span
    name: Name
    arguments: tuple[Expr, ...]


class Comparison(Struct, frozen=True):
    """A chain of comparisons: one operator fewer than operands."""

    span: Span
    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


class Junction(Struct, frozen=True):
    """Operands joined by `and` or by `or`."""

    span: Span
    operator: str
    operands: tuple[Expr, ...]


class Not(Struct, frozen=True):
    """`not x`."""

    span: Span
    operand: Expr


class Conditional(Struct, frozen=True):
    """`if condition then value else otherwise`."""

    span: Span
    condition: Expr
    then: Expr
    otherwise: Expr


class Changed(Struct, frozen=True):
    """`(value with changes)`: the value in a changed model."""

    span: Span
    value: Expr
    changes: tuple[Change, ...]


class CaseValue(Struct, frozen=True):
    """`largest 13.3 ms/frame`: what a parameter is in one case."""

    span: Span
    case: str
    value: Expr


class Cases(Struct, frozen=True):
    """`average 12.7 ms/frame, least 7.2 ms/frame`: a parameter's value in several cases."""

    span: Span
    values: tuple[CaseValue, ...]


class KindValue(Struct, frozen=True):
    """`I average 23.3 kB/frame, largest 33 kB/frame`: the value of one kind."""

    span: Span
    name: Name
    value: Expr


class KindTable(Struct, frozen=True):
    """`by film { I …; P … }`: a parameter's value for each kind; `owner` is the parameter."""

    span: Span
    owner: Name
    kinds: Name
    entries: tuple[KindValue, ...]


Expr = (
    Number
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
)


class Range(Struct, frozen=True):
    """`low .. high`."""

    span: Span
    low: Expr
    high: Expr


class Change(Struct, frozen=True):
    """`name = value` in a scenario, after `with`, or after `--set`."""

    span: Span
    name: Name
    value: Expr | Range


class Text(Struct, frozen=True):
    """A text in quotes."""

    span: Span
    value: str
