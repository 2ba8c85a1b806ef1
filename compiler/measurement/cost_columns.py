"""Products of columns of a table: what costs are fitted to that no column has by itself.

`per token + per token * context` needs a column with the rate of tokens, and one headed `context`
(or `context in kB`), which a product multiplies row by row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from msgspec import Struct

from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.measurement.cost_products import (
    RATE,
    SIZE,
    CostProduct,
    CurveKind,
    item_word,
)
from qps.compiler.measurement.fit_columns import (
    NAMED_COLUMN,
    RateColumn,
    UnitOf,
    numbers_below,
)
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
    INFORMATION,
    INFORMATION_BASE,
    TIME,
    Dimension,
)

_MOST_NAMED = 5
_DIGITS = 10**18
"""Parts of the largest number of a column that was divided: a share of a share is no decimal."""


class FactorColumn(Struct, frozen=True, kw_only=True):
    """A column by which a rate is multiplied: its numbers in base units."""

    name: str
    heading: str
    dimension: Dimension
    values: NumberColumn


class CostColumn(Struct, frozen=True, kw_only=True):
    """What a cost is fitted to: a column of rates, with those that multiply or divide it."""

    heading: str
    item: str
    rate: int
    factors: tuple[tuple[FactorColumn, int], ...]
    curve: CurveColumn | None = None


class CurveColumn(Struct, frozen=True):
    """Along which column a cost changes, and by what curve."""

    kind: CurveKind
    column: FactorColumn


def cost_columns(
    table: MeasuredTable, rates: Sequence[RateColumn], costs: Sequence[CostProduct], unit_of: UnitOf
) -> list[CostColumn]:
    """Return the columns of some costs; all rates where none are named. DataError if one lacks."""
    if not costs:
        return [
            CostColumn(heading=rate.heading, item=rate.item, rate=index, factors=())
            for index, rate in enumerate(rates)
        ]
    return [_column(table, rates, cost, unit_of) for cost in costs]


def _column(
    table: MeasuredTable, rates: Sequence[RateColumn], cost: CostProduct, unit_of: UnitOf
) -> CostColumn:
    own = [index for index, rate in enumerate(rates) if rate.item == cost.item]
    word = item_word(cost.item)
    if len(own) != 1:
        which = listed([f"`{rates[index].heading}`" for index in own], "and")
        raise DataError(
            f"`{table.name}` has several columns with a rate per {word}: {which}"
            if own
            else f"`{table.name}` has no column with a rate of `{word}`",
            "keep one of them" if own else f"name the column by its unit: `{word}/s`",
        )
    factors = tuple(
        (factor_column(table, name, unit_of), exponent) for name, exponent in cost.factors
    )
    curve = cost.curve
    return CostColumn(
        heading=cost.heading(rates[own[0]].heading),
        item=cost.item,
        rate=own[0],
        factors=factors,
        curve=None
        if curve is None
        else CurveColumn(curve.kind, _along(table, rates, own[0], curve.column, unit_of)),
    )


def _along(
    table: MeasuredTable, rates: Sequence[RateColumn], own: int, name: str, unit_of: UnitOf
) -> FactorColumn:
    """Return the column that a cost changes along: also the rate and the size of its item."""
    bits = [index for index, rate in enumerate(rates) if rate.item == INFORMATION_BASE]
    if name not in _named(table) and name == RATE:
        dimension = Dimension.of(rates[own].item) / TIME
        values = _rates(table, rates[own])
        return FactorColumn(
            name=name, heading=rates[own].heading, dimension=dimension, values=values
        )
    if name not in _named(table) and name == SIZE and len(bits) == 1 and bits[0] != own:
        items = _rates(table, rates[own])
        if 0 in items.whole:
            line = table.lines[items.whole.index(0)]
            message = f"`{table.name}`, line {line}: `{rates[own].heading}` is 0, so there is no"
            raise DataError(f"{message} `{name}`", "remove the row")
        return FactorColumn(
            name=name,
            heading=rates[bits[0]].heading,
            dimension=INFORMATION,
            values=_divided(_rates(table, rates[bits[0]]), items, 1),
        )
    return factor_column(table, name, unit_of)


def _rates(table: MeasuredTable, rate: RateColumn) -> NumberColumn:
    found = numbers_below(table, rate.heading, table.columns[rate.heading])
    return NumberColumn(found.whole, found.unit * rate.factor)


def _named(table: MeasuredTable) -> dict[str, tuple[str, str | None]]:
    """Return the columns that have a name, with their units."""
    return {
        match["name"]: (heading, match["unit"])
        for heading in table.headings
        if (match := re.fullmatch(NAMED_COLUMN, heading))
    }


def factor_column(table: MeasuredTable, name: str, unit_of: UnitOf) -> FactorColumn:
    """Return the column with a name, whatever its unit; DataError where there is none."""
    named = _named(table)
    if name not in named:
        columns = ", ".join(f"`{heading}`" for heading in table.headings[:_MOST_NAMED])
        raise DataError(
            f"`{table.name}` has no column `{name}`",
            did_you_mean(name, named) or f"its columns are {columns}",
        )
    heading, unit = named[name]
    known = unit_of(unit) if unit else (Fraction(1), DIMENSIONLESS)
    if known is None:
        raise DataError(
            f"`{table.name}`: `{unit}` in the heading `{heading}` is not a unit",
            "use a unit of the language, or declare it: `unit token`",
        )
    found = numbers_below(table, heading, table.columns[heading])
    values = NumberColumn(found.whole, found.unit * known[0])
    return FactorColumn(name=name, heading=heading, dimension=known[1], values=values)


def multiplied(
    table: MeasuredTable, column: CostColumn, rates: Sequence[NumberColumn]
) -> NumberColumn:
    """Return the rates of a column times its factors, row by row; DataError where one is zero."""
    found = rates[column.rate]
    for factor, exponent in column.factors:
        if exponent > 0:
            whole = zip(found.whole, factor.values.whole, strict=True)
            unit = found.unit * factor.values.unit**exponent
            found = NumberColumn(tuple(a * b**exponent for a, b in whole), unit)
            continue
        if 0 in factor.values.whole:
            line = table.lines[factor.values.whole.index(0)]
            raise DataError(
                f"`{table.name}`, line {line}: `{factor.heading}` is 0, and the fit divides by it",
                "remove the row",
            )
        found = _divided(found, factor.values, -exponent)
    return found


def _divided(column: NumberColumn, divisor: NumberColumn, exponent: int) -> NumberColumn:
    """Return numbers over others: exact, or to eighteen digits of the largest."""
    unit = column.unit / divisor.unit**exponent
    pairs = list(zip(column.whole, divisor.whole, strict=True))
    common = 1
    for _, by in pairs:
        common = lcm(common, by**exponent)
        if common > _DIGITS:
            break
    else:
        return NumberColumn(tuple(a * (common // by**exponent) for a, by in pairs), unit / common)
    largest = max(abs(a / by**exponent) for a, by in pairs) or 1.0
    parts = max(1, int(_DIGITS / largest))
    return NumberColumn(tuple(a * parts // by**exponent for a, by in pairs), unit / parts)
