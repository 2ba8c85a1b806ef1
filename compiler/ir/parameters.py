"""What may vary: the population, options, parameters, groups of users."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Expr
from qps.compiler.quantities.dimension import Dimension
from qps.compiler.quantities.unit_binding import Divisor


class Quantity(Struct, frozen=True, eq=False, kw_only=True):
    """An expression with its dimension and where it stands.

    `bound` has the arguments that were put in for the names of formals: `ratio = 70 %`;
    `divisors` are the numbers in it that divide with their units; `source` is what is cited for it.
    """

    expr: Expr
    dimension: Dimension
    span: Span
    bound: str = ""
    divisors: tuple[Divisor, ...] = ()
    source: str | None = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self._description == other._description

    def __hash__(self) -> int:
        return hash(self._description)

    def __repr__(self) -> str:
        return f"Quantity{self._description}"

    @property
    def _description(self) -> tuple[Expr, Dimension, Span, str]:
        """All but the divisors: they follow from it."""
        return self.expr, self.dimension, self.span, self.bound

    @property
    def text(self) -> str:
        """How the spec writes it."""
        return f"{self.span.text} ({self.bound})" if self.bound else self.span.text


class UserRange(Struct, frozen=True, kw_only=True):
    """The population: its name, its least and its greatest value, and what is cited for them."""

    name: str
    low: int
    high: int
    span: Span | None
    source: str | None = None


class Group(Struct, frozen=True, kw_only=True):
    """Into what the users are divided: groups of `size`, one of all users where they are fewer.

    Those of an instance divide its `users`, all others (None) those of the spec.
    """

    name: str
    size: Quantity
    span: Span
    doc: str | None
    users: Expr | None = None


class Instance(Struct, frozen=True):
    """A file with everything of its own in a spec; `users` is how many it has, if it has any."""

    name: str
    file: str
    users: Quantity | None
    span: Span


class Option(Struct, frozen=True, kw_only=True):
    """A choice among names, the first in force unless changed."""

    name: str
    choices: tuple[str, ...]
    span: Span
    doc: str | None
    source: str | None = None


class Parameter(Struct, frozen=True, kw_only=True):
    """A number that may be changed; `low` and `high` bound it where a range was given.

    An elastic one takes what capacity is left between them; its `value` is the most. Of several,
    the one of the smallest `priority` takes first. `text` is how its value is shown where that is
    not what stands at `value_span`. A share, that of one kind, is fixed: all of them add up to 1.
    One that `is_own` is stated by the spec or an instance, none by a module that others use. One
    with a `place` is a number of what stands there, where it is set.
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
    is_own: bool = False
    place: str | None = None

    @property
    def has_own_name(self) -> bool:
        """False for one that was made of a number in another place: no change can name it."""
        return self.span != self.value_span


def parameter_of(
    stated: Quantity, *, name: str, source: str | None, place: str | None = None
) -> Parameter:
    """Return the parameter of a name that stands for a number which is stated in place."""
    return Parameter(
        name=name,
        value=stated.expr,
        dimension=stated.dimension,
        low=None,
        high=None,
        span=stated.span,
        value_span=stated.span,
        source=source,
        doc=None,
        text=stated.text if stated.bound else "",
        place=place,
    )
