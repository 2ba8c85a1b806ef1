"""Numbers as people read them: with a unit, three or four digits, no false precision."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING, TypeAlias

from qps.compiler.ir.measure_names import UTILIZATION
from qps.compiler.quantities.dimension import DIMENSIONLESS, MONEY, TIME, Dimension
from qps.compiler.quantities.printed_capacity import reliable_number
from qps.compiler.quantities.scales import (
    amount_in,
    number,
    percent,
    plural,
    population_text,
    quantity,
    quantity_in,
    scale_of,
    scales,
    scales_of_unit,
    unit_symbols,
    whole_population,
    with_unit,
)
from qps.reports.text.words.phrases import phrase

if TYPE_CHECKING:
    from qps.compiler.lower.load_graph import Criterion
    from qps.solver.answers.answer_parts import RequirementAnswer

__all__ = [
    "amount_in",
    "number",
    "percent",
    "plural",
    "population_text",
    "quantity",
    "quantity_in",
    "reliable_number",
    "scale_of",
    "scales",
    "scales_of_unit",
    "unit_symbols",
    "whole_population",
    "with_unit",
]


Limited: TypeAlias = "Criterion | RequirementAnswer"
"""What has a limit."""

_SIGNIFICANT_DIGITS = 2
"""Digits of an interval: more of them say nothing."""


def with_interval(
    mean: float, half: float, dimension: Dimension, *, share: bool = False
) -> tuple[str, str]:
    """Return a mean and half its interval, in the same unit.

    >>> from qps.compiler.quantities.dimension import TIME
    >>> with_interval(0.01338, 0.00013, TIME), with_interval(0.4, 0.0036, DIMENSIONLESS, share=True)
    (('13.38 ms', '0.13 ms'), ('40 %', '0.36 %'))
    """
    shown = quantity(mean, dimension, share=share)
    if not isfinite(half):
        return shown, "?"
    if dimension == DIMENSIONLESS:
        return shown, percent(half, _SIGNIFICANT_DIGITS) if share else number(
            half, _SIGNIFICANT_DIGITS
        )
    factor, unit = scale_of(mean, dimension)
    return shown, with_unit(number(half / factor, _SIGNIFICANT_DIGITS), unit)


_NOISE = 1e-9
"""A part of the last digit shown, within which a value is that digit but for rounding errors."""


def rounded_in(value: float, factor: float, digits: int, *, is_up: bool) -> float:
    """Return a value with so many digits in a unit of `factor`, rounded to one side only.

    >>> rounded_in(1.5001e9, 1e9, 4, is_up=True), rounded_in(1.9999, 1, 2, is_up=False)
    (1501000000.0, 1.9)
    """
    scaled = value / factor
    decimals = digits - 1 - floor(log10(abs(scaled)))
    shown = scaled * 10.0**decimals
    nearest = round(shown)
    if abs(shown - nearest) > _NOISE * abs(shown):
        nearest = ceil(shown) if is_up else floor(shown)
    return nearest / 10.0**decimals * factor


def money(value: float, dimension: Dimension) -> str:
    """Return a cost as it is printed, also one that is no money.

    >>> from qps.compiler.quantities.dimension import MONEY
    >>> money(986.17, MONEY), money(6.845e-6, Dimension.of("kg") / TIME)
    ('$986.17', '18 kg/month')
    """
    factor, unit = cost_scale(value, dimension)
    if not isfinite(value) or not unit:
        return quantity(value, dimension, 4)
    return with_unit(amount_in(value / factor, unit, 4), unit)


def cost_scale(value: float, dimension: Dimension) -> tuple[float, str]:
    """Return the unit of a cost: in units that a spec declares, it is one of a month, as money is.

    Of what has units of its own, such as a data rate, it is the unit that suits the value.
    """
    text = str(dimension)
    if scales(dimension) == ((1.0, text),) and text.endswith("/s") and text != "1/s":
        ((month, _),) = scales(MONEY / TIME)
        return month, f"{text.removesuffix('/s')}/month"
    return scale_of(value, dimension)


def planning_money(value: float, dimension: Dimension) -> str:
    """Return a cost as a reader plans with it: cents below $10, whole dollars from there on.

    >>> from qps.compiler.quantities.dimension import MONEY
    >>> [planning_money(value, MONEY) for value in (0.9326, 986.17, 4857.6, 0.00214, 9.999)]
    ['$0.93', '$986', '$4,858', '$0.0021', '$10']
    """
    factor, unit = scale_of(value, dimension)
    amount = value / factor
    if not isfinite(amount) or abs(amount) < _TENTH:
        return with_unit(amount_in(amount, unit, _SIGNIFICANT_DIGITS), unit)
    cents = round(amount, 2)
    text = f"{cents:.2f}" if abs(cents) < _WHOLE_DOLLARS else number(float(round(amount)))
    return with_unit(text.removesuffix(".00"), unit)


_WHOLE_DOLLARS = 10


def utilization_text(share: float) -> str:
    """Return a utilization as it stands beside its bar: one decimal.

    >>> utilization_text(0.7463), utilization_text(0.00493), utilization_text(0.000064)
    ('74.6 %', '0.5 %', '<0.1 %')
    """
    if 0 < share < _LEAST_UTILIZATION:
        return f"<{percent(_LEAST_UTILIZATION)}"
    return percent(round(share, 3) if share < _TENTH else share, 3)


_TENTH = 0.1
_LEAST_UTILIZATION = 0.001
"""What is below it is printed as that: nobody plans by it."""


def rounded_down(people: int) -> str:
    """Return a number of people from samples: whole, three digits, not more than that.

    >>> rounded_down(4263310), rounded_down(162), rounded_up(1681)
    ('4,260,000', '162', '1,690')
    """
    return f"{reliable_number(people):,}"


def rounded_up(people: int) -> str:
    """Return the same, and not less than that."""
    return f"{-reliable_number(-people):,}"


def quantity_at_limit(
    value: float,
    limit: float,
    dimension: Dimension = DIMENSIONLESS,
    *,
    share: bool = False,
    digits: int = 3,
) -> str:
    """Return a quantity in few digits; `just over` a limit where it takes more to distinguish them.

    >>> from qps.compiler.quantities.dimension import TIME
    >>> quantity_at_limit(0.75003, 0.75, share=True), quantity_at_limit(0.2272, 0.23, TIME)
    ('just over 75 %', '227 ms')
    """
    value_text, most = (
        quantity(one, dimension, digits, share=share, other=limit) for one in (value, limit)
    )
    if value_text != most or value == limit:
        return value_text
    return f"just {'under' if value < limit else 'over'} {most}"


def quantity_beyond_limit(
    value: float,
    limit: float,
    dimension: Dimension = DIMENSIONLESS,
    *,
    share: bool = False,
    gap: float = 0.0,
    digits: int = 4,
) -> str:
    """Return a quantity with as many digits as it takes to distinguish it from a limit.

    Where floats do not, `gap` is how far it lies beyond.

    >>> from qps.compiler.quantities.dimension import TIME
    >>> quantity_beyond_limit(0.75003, 0.75, share=True), quantity_beyond_limit(0.3, 0.25, TIME)
    ('75.003 %', '300 ms')
    >>> quantity_beyond_limit(1.0, 1.0, gap=-3.25e-19), quantity_beyond_limit(2.0, 2.0, TIME)
    ('1 - 3.25 × 10⁻¹⁹', '2 s')
    """
    for more in range(digits, 16):
        text = quantity(value, dimension, more, share=share, other=limit)
        if text != quantity(limit, dimension, more, share=share):
            return text
    text = quantity(value, dimension, digits, share=share, other=limit)
    beyond = quantity(abs(gap), dimension, digits, share=share)
    return f"{text} {'+' if gap > 0 else '-'} {beyond}" if gap else text


def side_of(criterion: Limited) -> str:
    """Return what stands before the limit of a measure: `limit`, or what it must stay above."""
    if criterion.strict:
        return phrase("side.below" if criterion.at_most else "side.above")
    return phrase("side.most" if criterion.at_most else "side.least")


def in_percent(criterion: Limited) -> bool:
    """True for requirements in per cent: of a share, or with a limit written so."""
    written = criterion.span is not None and "%" in criterion.span.text
    if criterion.confidence is not None:
        return False
    return criterion.dimension == DIMENSIONLESS and (written or is_share(criterion.name))


def is_share(name: str) -> bool:
    """True for measures that are read in per cent: loads, losses, shares."""
    return name.endswith((UTILIZATION, "loss")) or name.startswith("share(")


def availability_percent(share: float) -> str:
    """Return a part of the time with two digits of what is missing.

    >>> availability_percent(0.99951), availability_percent(0.999991), availability_percent(0.5)
    ('99.951 %', '99.9991 %', '50 %')
    """
    missing = 100 * (1 - share)
    digits = 2 if missing <= 0 else max(2, 1 - floor(log10(missing)))
    text = f"{100 * share:.{min(digits, _MOST_DIGITS)}f}"
    return f"{text.rstrip('0').rstrip('.')} %"


_MOST_DIGITS = 12


def undecided_point(at: float | None, not_below: int) -> str:
    """Return bounds of an undecided saturation point of a resource: not below, and up to."""
    if at is None:
        return phrase("table.not_below", low=population_text(not_below))
    last = max(not_below, ceil(at))
    if last == not_below:
        return population_text(last)
    return phrase("table.between", low=population_text(not_below), high=population_text(last))


def joined_words(parts: Sequence[str]) -> str:
    """Return parts as a sentence lists them: `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def first_words(parts: Sequence[str], most: int) -> str:
    """Return the first of many parts, and how many more there are: `a, b and 3 more`."""
    more = len(parts) - most
    return joined_words([*parts[:most], *([f"{more} more"] if more > 0 else [])])
