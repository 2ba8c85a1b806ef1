"""What is fitted: a number for each cost, and between which rates, sizes and factors it holds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import log

from msgspec import Struct

from qps.compiler.measurement.cost_columns import CostColumn
from qps.compiler.measurement.cost_products import CostCurve, CostProduct, CurveKind, item_word
from qps.compiler.measurement.fit_columns import RateColumn
from qps.compiler.measurement.measured_tables import NumberColumn
from qps.compiler.quantities.dimension import INFORMATION_BASE, Dimension


class Factor(Struct, frozen=True, kw_only=True):
    """By what a rate is multiplied, to a power: it was between two values, in base units."""

    name: str
    exponent: int
    dimension: Dimension
    low: Fraction
    high: Fraction


class FittedCurve(Struct, frozen=True, kw_only=True):
    """A curve that was fitted: along a column, which was between two values, in base units.

    With u, the value of the column over `reference`, it is u to the power of `value`, or
    1 / (1 + `value` u).
    """

    kind: CurveKind
    name: str
    dimension: Dimension
    low: Fraction
    high: Fraction
    reference: Fraction
    value: Fraction

    def at(self, along: float) -> float:
        """Return by what a cost is multiplied there."""
        share, value = along / float(self.reference), float(self.value)
        if self.kind is CurveKind.WAKEUPS:
            return 1 / (1 + value * share)
        return share**value if share > 0 else 0.0

    def slope(self, along: float) -> float:
        """Return how that changes with the number of the curve."""
        share, found = along / float(self.reference), self.at(along)
        if self.kind is CurveKind.WAKEUPS:
            return -share * found * found
        return found * log(share) if share > 0 else 0.0

    @property
    def word(self) -> str:
        """What its number is called behind the name of its cost."""
        return "wakeup" if self.kind is CurveKind.WAKEUPS else "exponent"


class FitTerm(Struct, frozen=True, kw_only=True):
    """A coefficient: seconds of one processor for each of an item (a bit for information).

    It was measured between the rates `low` and `high` of the whole machine, in base units. Where it
    has `factors`, it is for each of an item and one of them; `column` is that of the rate alone.
    With a `curve` it is for where that is one.
    """

    heading: str
    column: str
    item: str
    value: Fraction
    low: Fraction
    high: Fraction
    factors: tuple[Factor, ...] = ()
    curve: FittedCurve | None = None

    @property
    def name(self) -> str:
        """What it is called behind the name of its component: `token`, `token.context`."""
        curve = [] if self.curve is None else [f"by_{self.curve.name}"]
        return ".".join([item_word(self.item), *map(_called, self.factors), *curve])

    @property
    def counted(self) -> str:
        """What it is for each of: an item, or what a spec writes behind `per`."""
        return self.cost.written if self.factors else self.item

    @property
    def cost(self) -> CostProduct:
        """Which cost of a spec it is."""
        return CostProduct(
            self.item,
            tuple((one.name, one.exponent) for one in self.factors),
            None if self.curve is None else CostCurve(self.curve.kind, self.curve.name),
        )


def _called(factor: Factor) -> str:
    """Return a word for a factor: `context`, `context_2`, `per_batch`."""
    power = abs(factor.exponent)
    word = factor.name if factor.exponent > 0 else f"per_{factor.name}"
    return word if power == 1 else f"{word}_{power}"


class Size(Struct, frozen=True):
    """Between which sizes, in bits, an item was measured."""

    item: str
    low: Fraction
    high: Fraction


def picked(column: NumberColumn, used: Sequence[int]) -> tuple[int, ...]:
    """Return the whole numbers of a column in the rows that are used."""
    if len(used) == len(column):
        return column.whole
    return tuple(column.whole[row] for row in used)


def ends(column: NumberColumn, used: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return the least and the greatest number of a column in the rows that are used."""
    values = picked(column, used)
    return min(values) * column.unit, max(values) * column.unit


def measured_factors(column: CostColumn, used: Sequence[int]) -> tuple[Factor, ...]:
    """Return the factors of a cost, with the values between which they were measured."""
    found = []
    for factor, exponent in column.factors:
        low, high = ends(factor.values, used)
        found.append(
            Factor(
                name=factor.name,
                exponent=exponent,
                dimension=factor.dimension,
                low=low,
                high=high,
            )
        )
    return tuple(found)


def measured_sizes(
    rates: Sequence[RateColumn], items: Sequence[NumberColumn], used: Sequence[int]
) -> tuple[Size, ...]:
    """Return between which sizes each item was measured, where there is one column with bits."""
    bits = [n for c, n in zip(rates, items, strict=True) if c.item == INFORMATION_BASE]
    if len(bits) != 1:
        return ()
    found = []
    for column, counted in zip(rates, items, strict=True):
        if column.item == INFORMATION_BASE:
            continue
        both = zip(picked(bits[0], used), picked(counted, used), strict=True)
        ratios = [(b / i, b, i) for b, i in both if i]
        if ratios:
            unit = bits[0].unit / counted.unit
            (_, *low), (_, *high) = min(ratios), max(ratios)
            found.append(Size(column.item, Fraction(*low) * unit, Fraction(*high) * unit))
    return tuple(found)
