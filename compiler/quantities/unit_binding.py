"""How a number and the unit behind it bind: `1/60 request/s` divides by `60 request`.

A number takes its unit before anything divides, so that this is a time per request. Whoever
writes it mostly means a number of requests a second, `(1/60) request/s`. Nothing is wrong with
it by itself. Where the dimension of what was made of it does not fit, but would with the other
reading, that is the hint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Protocol

from msgspec import Struct

from qps.compiler.diagnostics.diagnostic import Label, LocatedHint
from qps.compiler.diagnostics.fixits import instead
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.dimension import Dimension

_MOST = 8
"""Divisors that are remembered of one value: a hint needs one."""


class Divisor(Struct, frozen=True):
    """A number that divides with its unit: the `60 request` of `1/60 request/s`.

    `change` is what the dimension of a value that holds it is multiplied by where the number
    alone divides.
    """

    whole: Span
    divided: Span
    number: Span
    change: Dimension

    @property
    def hint(self) -> str:
        """How to write the other reading."""
        text = self.whole.source.text
        before = _on_one_line(text[self.whole.start : self.number.end])
        behind = _on_one_line(text[self.number.end : self.whole.end])
        return instead(
            self.whole.text,
            f"({before}) {behind}",
            at=self.whole,
            words=f"write `({before}) {behind}`; a unit binds to the number before it, so this "
            f"divides by `{_on_one_line(self.divided.text)}`",
        )


class Dimensioned(Protocol):
    """What was made of some divisors and has a dimension: a value, or a quantity."""

    @property
    def dimension(self) -> Dimension:
        """The dimension as it was written."""

    @property
    def span(self) -> Span:
        """Where it stands."""

    @property
    def divisors(self) -> tuple[Divisor, ...]:
        """The numbers that divide in it with their units."""


def advice(
    value: Dimensioned, is_wanted: Callable[[Dimension], bool], otherwise: str | None = None
) -> LocatedHint:
    """Return the other reading of a number in a value, where it gives what is wanted.

    `otherwise` is the hint where it does not.
    """
    for divisor in value.divisors:
        if is_wanted(value.dimension * divisor.change):
            here, there = value.span, divisor.whole
            is_within = here.source is there.source and here.start <= there.start < here.end
            hint = f"this divides by `{_on_one_line(divisor.divided.text)}`"
            return LocatedHint(divisor.hint, () if is_within else (Label(there, hint),))
    return LocatedHint(otherwise)


def raised(divisors: Iterable[Divisor], power: Fraction) -> tuple[Divisor, ...]:
    """Return the divisors of a power."""
    return tuple(Divisor(one.whole, one.divided, one.number, one.change**power) for one in divisors)


def of_product(factors: Iterable[tuple[Divisor, ...]]) -> tuple[Divisor, ...]:
    """Return the divisors of a product: one that occurs twice changes it twice."""
    joined: dict[Span, Divisor] = {}
    for divisor in (one for factor in factors for one in factor):
        earlier = joined.get(divisor.whole)
        change = divisor.change if earlier is None else earlier.change * divisor.change
        joined[divisor.whole] = Divisor(divisor.whole, divisor.divided, divisor.number, change)
    return tuple(joined.values())[:_MOST]


def of_either(values: Iterable[Dimensioned]) -> tuple[Divisor, ...]:
    """Return the divisors of what has the dimension of each of its parts, such as a sum."""
    found = {divisor.whole: divisor for value in values for divisor in value.divisors}
    return tuple(found.values())[:_MOST]


def _on_one_line(text: str) -> str:
    return " ".join(text.split())
