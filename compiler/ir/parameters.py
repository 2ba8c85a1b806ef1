"""What may vary: the population, options, parameters, groups of users."""

from __future__ import annotations

from dataclasses import dataclass, field

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Expr
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.quantities.unit_binding import Divisor


@dataclass(frozen=True, slots=True)
class Quantity:
    """An expression with its dimension and where it stands.

    `bound` tells the arguments that were put in for the names of formals: `ratio = 70 %`;
    `divisors` are the numbers in it that divide with their units.
    """

    expr: Expr
    dimension: Dimension
    span: Span
    bound: str = ""
    divisors: tuple[Divisor, ...] = field(default=(), compare=False, repr=False)

    @property
    def text(self) -> str:
        """How the spec writes it."""
        return f"{self.span.text} ({self.bound})" if self.bound else self.span.text


@dataclass(frozen=True, slots=True)
class UserRange:
    """The population: its name, its least and its greatest value."""

    name: str
    low: int
    high: int
    span: Span | None


@dataclass(frozen=True, slots=True)
class Group:
    """Into what the users are divided: groups of `size`, one of all users where they are fewer."""

    name: str
    size: Quantity
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Option:
    """A choice among names, the first in force unless changed."""

    name: str
    choices: tuple[str, ...]
    span: Span
    doc: str | None


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that may be changed; `low` and `high` bound it where a range was given.

    An elastic one takes what capacity is left between them; its `value` is the most. Of several,
    the one of the smallest `priority` takes first. `text` is how its value is told where that is
    not what stands at `value_span`. A share, that of one kind, is fixed: all of them add up to 1.
    """

    name: str
    value: Expr
    dimension: Dimension
    low: Expr | None
    high: Expr | None
    span: Span
    value_span: Span
    source: str | None
    doc: str | None
    is_elastic: bool = False
    least_text: str = ""
    text: str = ""
    priority: Quantity | None = None
    is_share: bool = False
    fitted: str | None = None
