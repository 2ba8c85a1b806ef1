"""Numbers as people read them: with a unit, three or four digits, no false precision."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite, log10
from typing import TYPE_CHECKING

from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)

if TYPE_CHECKING:  # its algebra is slow to import, and nothing is computed here
    from qps.compiler.lower.load_graph import Criterion, LoadGraph
    from qps.engine.formulas import Formula

_SCALES: dict[Dimension, tuple[tuple[float, str], ...]] = {
    TIME: ((86_400.0, "day"), (3600.0, "hour"), (1.0, "s"), (1e-3, "ms"), (1e-6, "us")),
    DATA_RATE: (
        (1e12, "Tbit/s"), (1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s"),
    ),
    INFORMATION: (
        (8e15, "PB"), (8e12, "TB"), (8e9, "GB"), (8e6, "MB"), (8e3, "kB"), (8.0, "byte"),
        (1.0, "bit"),
    ),
    MONEY: ((1.0, "$"),),
    MONEY / TIME: ((12 / (365.25 * 86_400), "$/month"),),
    TIME * TIME: ((1.0, "s^2"), (1e-6, "ms^2"), (1e-12, "us^2")),
}  # fmt: skip

_BY_TEXT = {str(dimension): scales for dimension, scales in _SCALES.items()}


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, thousands apart.

    >>> number(184.82352), number(1234567.0), number(0.000012345), number(24.0)
    ('184.8', '1,235,000', '1.234e-05', '24')
    """
    if not isfinite(value):
        return "∞" if value > 0 else ("-∞" if value < 0 else "undefined")
    if value == 0:
        return "0"
    magnitude = floor(log10(abs(value)))
    if not -4 <= magnitude < 15:  # noqa: PLR2004 - beyond these, powers of ten read better
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - magnitude)
    text = f"{round(value, digits - 1 - magnitude):,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(value: float, digits: int = 3) -> str:
    """Return a share in per cent.

    >>> percent(0.96288), percent(0.0)
    ('96.3 %', '0 %')
    """
    return f"{number(value * 100, digits)} %"


def quantity(value: float, dimension: Dimension, digits: int = 4, *, share: bool = False) -> str:
    """Return a value in base units with the unit that suits its size.

    >>> quantity(0.2298, TIME), quantity(1e7, DATA_RATE), quantity(0.06, DIMENSIONLESS, share=True)
    ('229.8 ms', '10 Mbit/s', '6 %')
    """
    if not isfinite(value):
        return number(value)
    if dimension == DIMENSIONLESS:
        return percent(value, digits) if share else number(value, digits)
    factor, unit = scale_of(value, dimension)
    return f"{number(value / factor, digits)} {unit}"


def quantity_in(value: float, unit: str, digits: int = 4) -> str:
    """Return a value in base units of a `unit` as it is written, with the one that suits its size.

    >>> quantity_in(0.2298, "s"), quantity_in(3.0, str(DIMENSIONLESS)), quantity_in(2.5e7, "bit/s")
    ('229.8 ms', '3', '25 Mbit/s')
    """
    if not isfinite(value) or unit in ("", str(DIMENSIONLESS)):
        return number(value, digits)
    factor, name = _scale_among(value, scales_of_unit(unit))
    return f"{number(value / factor, digits)} {name}"


_TELLING = 2
"""Digits of an interval: more of them say nothing."""


def with_interval(
    mean: float, half: float, dimension: Dimension, *, share: bool = False
) -> tuple[str, str]:
    """Return a mean and half its interval, in the same unit.

    >>> with_interval(0.01338, 0.00013, TIME), with_interval(0.4, 0.0036, DIMENSIONLESS, share=True)
    (('13.38 ms', '0.13 ms'), ('40 %', '0.36 %'))
    """
    shown = quantity(mean, dimension, share=share)
    if not isfinite(half):
        return shown, "?"
    if dimension == DIMENSIONLESS:
        return shown, percent(half, _TELLING) if share else number(half, _TELLING)
    factor, unit = scale_of(mean, dimension)
    return shown, f"{number(half / factor, _TELLING)} {unit}"


_NOISE = 1e-9
"""A part of the last digit shown, within which a value is that digit but for rounding errors."""


def rounded_in(value: float, factor: float, digits: int, *, is_up: bool) -> float:
    """Return a value with so many digits in a unit of `factor`, rounded to one side only.

    >>> rounded_in(1.00001e9, 1e9, 4, is_up=True), rounded_in(1.9999, 1, 2, is_up=False)
    (1001000000.0, 1.9)
    """
    scaled = value / factor
    decimals = digits - 1 - floor(log10(abs(scaled)))
    shown = scaled * 10.0**decimals
    nearest = round(shown)
    if abs(shown - nearest) > _NOISE * abs(shown):
        nearest = ceil(shown) if is_up else floor(shown)
    return nearest / 10.0**decimals * factor


def scale_of(value: float, dimension: Dimension) -> tuple[float, str]:
    """Return the unit that suits a value: how much it is in base units, and its name.

    >>> scale_of(2.5e7, DATA_RATE), scale_of(3.0, DIMENSIONLESS)
    ((1000000.0, 'Mbit/s'), (1.0, ''))
    """
    return (1.0, "") if dimension == DIMENSIONLESS else _scale_among(value, scales(dimension))


def _scale_among(value: float, known: Sequence[tuple[float, str]]) -> tuple[float, str]:
    fitting = [(factor, unit) for factor, unit in known if abs(value) >= factor * (1 - 1e-12)]
    if value == 0:
        fitting = [(factor, unit) for factor, unit in known if factor == 1.0]
    return fitting[0] if fitting else known[-1]


def scales(dimension: Dimension) -> tuple[tuple[float, str], ...]:
    """Return the units of a dimension, the largest first: byte/packet as byte is, ms/packet."""
    return scales_of_unit(str(dimension))


def scales_of_unit(text: str) -> tuple[tuple[float, str], ...]:
    """Return the same for a dimension as it is written in base units: `bit/packet`, `s^2`."""
    if text in _BY_TEXT:
        return _BY_TEXT[text]
    for base, short in ((INFORMATION, "bit"), (TIME, "s")):
        if text.startswith(f"{short}/"):
            rest = text.removeprefix(short)
            return tuple((f, f"{u}{rest}") for f, u in _SCALES[base] if u not in _TOO_LONG)
    return ((1.0, text),)


_TOO_LONG = ("day", "hour", "bit")


def told_beyond(
    value: float,
    limit: float,
    dimension: Dimension = DIMENSIONLESS,
    *,
    share: bool = False,
    gap: float = 0.0,
    digits: int = 4,
) -> str:
    """Return a quantity with as many digits as it takes to tell it from a limit.

    Where floats do not, `gap` is how far it lies beyond.

    >>> told_beyond(0.75003, 0.75, share=True), told_beyond(0.3, 0.25, TIME)
    ('75.003 %', '300 ms')
    >>> told_beyond(1.0, 1.0, gap=-3.25e-19), told_beyond(2.0, 2.0, TIME)
    ('1 - 3.25e-19', '2 s')
    """
    for more in range(digits, 16):
        told = quantity(value, dimension, more, share=share)
        if told != quantity(limit, dimension, more, share=share):
            return told
    told = quantity(value, dimension, digits, share=share)
    beyond = quantity(abs(gap), dimension, digits, share=share)
    return f"{told} {'+' if gap > 0 else '-'} {beyond}" if gap else told


def beyond_limit(
    graph: LoadGraph,
    measure: Formula,
    limit: Formula,
    at: int,
    dimension: Dimension = DIMENSIONLESS,
    *,
    share: bool = False,
    digits: int = 4,
) -> str:
    """Return what a measure is at a population, told apart from its limit."""
    point = graph.at(at)
    value, end, gap = point.number(measure), graph.number(limit), point.number(measure - limit)
    return told_beyond(value, end, dimension, share=share, gap=gap, digits=digits)


def side_of(criterion: Criterion) -> str:
    """Return on which side of its limit a measure must stay, in words."""
    if criterion.strict:
        return "less than" if criterion.at_most else "more than"
    return "at most" if criterion.at_most else "at least"


def in_percent(criterion: Criterion) -> bool:
    """True for requirements that are told in per cent: of a share, or with a limit written so."""
    written = criterion.span is not None and "%" in criterion.span.text
    if criterion.promised_with is not None:
        return False
    return criterion.dimension == DIMENSIONLESS and (written or is_share(criterion.name))


def is_share(name: str) -> bool:
    """True for measures that are read in per cent: loads, losses, shares."""
    return name.endswith(("load", "loss")) or name.startswith("share(")


def undecided_point(at: float | None, not_below: int) -> str:
    """Return where a resource saturates of which that cannot be told: not below, and up to."""
    if at is None:
        return f"not below {not_below:,}"
    last = max(not_below, ceil(at))
    return f"{not_below:,} to {last:,}" if last > not_below else f"{last:,}"


def users_text(count: int) -> str:
    """Return a number of users in words: `1 user`, `2,000 users`."""
    return f"{count:,} user{'s' * (count != 1)}"


def joined_words(parts: Sequence[str]) -> str:
    """Return parts as a sentence lists them: `a, b and c`."""
    return f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def first_words(parts: Sequence[str], most: int) -> str:
    """Return the first of many parts, and how many more there are: `a, b and 3 more`."""
    more = len(parts) - most
    return joined_words([*parts[:most], *([f"{more} more"] if more > 0 else [])])
