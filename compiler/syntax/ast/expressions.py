"""Names, numbers, expressions, conditions, changes."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from qps.compiler.diagnostics.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name, with its parts where it has dots."""

    span: Span
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The name as it is written."""
        return ".".join(self.parts)


@dataclass(frozen=True, slots=True)
class Number:
    """A number without a unit, exact."""

    span: Span
    value: Fraction


@dataclass(frozen=True, slots=True)
class Reference:
    """A name that stands for a value or a unit; `%` and `$` are names too."""

    span: Span
    name: Name


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number next to a unit: `0.21 ms`."""

    span: Span
    number: Number
    unit: Expr


@dataclass(frozen=True, slots=True)
class Negative:
    """`-x`."""

    span: Span
    operand: Expr


@dataclass(frozen=True, slots=True)
class Sum:
    """Terms, each with True where it is subtracted."""

    span: Span
    terms: tuple[tuple[bool, Expr], ...]


@dataclass(frozen=True, slots=True)
class Product:
    """Factors, each with True where it divides."""

    span: Span
    factors: tuple[tuple[bool, Expr], ...]


@dataclass(frozen=True, slots=True)
class Power:
    """`base ^ exponent`."""

    span: Span
    base: Expr
    exponent: Expr


@dataclass(frozen=True, slots=True)
class Call:
    """`name(arguments)`."""

    span: Span
    name: Name
    arguments: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain of comparisons: one operator fewer than operands."""

    span: Span
    operands: tuple[Expr, ...]
    operators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Junction:
    """Operands joined by `and` or by `or`."""

    span: Span
    operator: str
    operands: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not x`."""

    span: Span
    operand: Expr


@dataclass(frozen=True, slots=True)
class Conditional:
    """`if condition then value else otherwise`."""

    span: Span
    condition: Expr
    then: Expr
    otherwise: Expr


@dataclass(frozen=True, slots=True)
class Changed:
    """`(value with changes)`: the value in a changed model."""

    span: Span
    value: Expr
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class CaseValue:
    """`largest 13.3 ms/frame`: what a parameter is in one case."""

    span: Span
    case: str
    value: Expr


@dataclass(frozen=True, slots=True)
class Cases:
    """`average 12.7 ms/frame, least 7.2 ms/frame`: a parameter's value in several cases."""

    span: Span
    values: tuple[CaseValue, ...]


@dataclass(frozen=True, slots=True)
class KindValue:
    """`I average 23.3 kB/frame, largest 33 kB/frame`: the value of one kind."""

    span: Span
    name: Name
    value: Expr


@dataclass(frozen=True, slots=True)
class KindTable:
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


@dataclass(frozen=True, slots=True)
class Range:
    """`low .. high`."""

    span: Span
    low: Expr
    high: Expr


@dataclass(frozen=True, slots=True)
class Change:
    """`name = value` in a scenario, after `with`, or after `--set`."""

    span: Span
    name: Name
    value: Expr | Range


@dataclass(frozen=True, slots=True)
class Text:
    """A text in quotes."""

    span: Span
    value: str
