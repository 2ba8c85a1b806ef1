"""Numbers with the unit that suits their size, and as many digits as are significant."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor, isfinite, log10

from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION,
    MONEY,
    TIME,
    Dimension,
)

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

_LEAST_WRITTEN_OUT, _LONGEST_WRITTEN_OUT = -6, 15
"""Magnitudes between which numbers are written out: beyond them, powers of ten read better."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

_BY_TEXT = {str(dimension): scales for dimension, scales in _SCALES.items()}


def number(value: float, digits: int = 4) -> str:
    """Return a number with so many significant digits, thousands apart.

    >>> number(184.82352), number(1234567.0), number(0.000012345), number(24.0)
    ('184.8', '1,235,000', '0.00001234', '24')
    >>> number(1.5e-9), number(1e18)
    ('1.5 × 10⁻⁹', '10¹⁸')
    """
    if not isfinite(value):
        return "∞" if value > 0 else ("-∞" if value < 0 else "no value")
    if value == 0:
        return "0"
    magnitude = floor(log10(abs(value)))
    if not _LEAST_WRITTEN_OUT <= magnitude < _LONGEST_WRITTEN_OUT:
        return _as_power(value, digits)
    decimals = max(0, digits - 1 - magnitude)
    text = f"{round(value, digits - 1 - magnitude):,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _as_power(value: float, digits: int) -> str:
    """Return a number with a power of ten, as people write it."""
    amount, _, power = f"{value:.{digits - 1}e}".partition("e")
    amount = amount.rstrip("0").rstrip(".") if "." in amount else amount
    ten = f"10{str(int(power)).translate(_RAISED)}"
    return ten if amount == "1" else f"{amount} × {ten}"


def population_text(people: int) -> str:
    """Return a population with all its digits, beyond 10^15 as a power of ten.

    >>> population_text(1_234_567), population_text(10**300)
    ('1,234,567', '10³⁰⁰')
    """
    return f"{people:,}" if people < 10**_LONGEST_WRITTEN_OUT else number(float(people))


def whole_population(at: float) -> str:
    """Return up to how many people something is so: whole, rounded down, with all digits.

    >>> whole_population(14925.37), whole_population(0.4)
    ('14,925', '0')
    """
    return population_text(floor(at))


def percent(value: float, digits: int = 3) -> str:
    """Return a share in per cent.

    >>> percent(0.96288), percent(0.0), percent(float("inf"))
    ('96.3 %', '0 %', '∞')
    """
    return f"{number(value * 100, digits)} %" if isfinite(value) else number(value)


def quantity(
    value: float,
    dimension: Dimension,
    digits: int = 4,
    *,
    share: bool = False,
    other: float | None = None,
) -> str:
    """Return a value in base units with the unit that suits its size, or that of an `other` one.

    The unit is that of the other where the value there is from 0.1 to 10,000.

    >>> quantity(0.2298, TIME), quantity(1e7, DATA_RATE), quantity(0.06, DIMENSIONLESS, share=True)
    ('229.8 ms', '10 Mbit/s', '6 %')
    >>> quantity(0.00064, TIME, other=0.002), quantity(1.0, TIME, other=1e-6)
    ('0.64 ms', '1 s')
    """
    if not isfinite(value):
        return number(value)
    if dimension == DIMENSIONLESS:
        return percent(value, digits) if share else number(value, digits)
    factor, unit = scale_of(value, dimension)
    if other is not None and isfinite(other):
        shared = scale_of(other, dimension)
        least, most = _COMPARABLE_RATIO
        factor, unit = shared if least <= abs(value) / shared[0] <= most else (factor, unit)
    return with_unit(amount_in(value / factor, unit, digits), unit)


def amount_in(value: float, unit: str, digits: int = 4) -> str:
    """Return a number in a unit, without the unit: money has two decimals where it would have one.

    >>> amount_in(204.54, "$/month"), amount_in(0.5, "$"), amount_in(1118.2, "$")
    ('204.54', '0.50', '1,118')
    >>> amount_in(0.5, "s")
    '0.5'
    """
    text = number(value, digits)
    if not (unit.startswith(_MONEY) and re.search(_ONE_DECIMAL, text)):
        return text
    return re.sub(_ONE_DECIMAL, r"\g<0>0", number(value, digits + 1))


_ONE_DECIMAL = r"\.\d$"
"""The end of an amount with one decimal."""

_COMPARABLE_RATIO = (0.1, 10_000)
"""Values that are read at once in the unit of another, not in that of their own size."""


def with_unit(text: str, unit: str) -> str:
    """Return a number with its unit behind it, money with its sign before it.

    A unit that begins with a word has a plural; one that begins with a symbol stays as it is.

    >>> with_unit("40", "us"), with_unit("1,118", "$/month"), with_unit("-5", "$")
    ('40 µs', '$1,118/month', '-$5')
    >>> with_unit("6.94", "hour"), with_unit("1", "core"), with_unit("8", "query/s")
    ('6.94 hours', '1 core', '8 queries/s')
    """
    if unit.startswith(_MONEY):
        sign = "-" if text.startswith("-") else ""
        return f"{sign}{_MONEY}{text.removeprefix('-')}{unit.removeprefix(_MONEY)}"
    shown = unit if text.removeprefix("-") == "1" else plural(unit)
    return f"{text} {unit_symbols(shown)}".rstrip()


def unit_symbols(text: str) -> str:
    """Return a unit, or a text with units, as it is printed: specs and settings have `us` in ASCII.

    >>> unit_symbols("us/packet"), unit_symbols("20 us + 5 ns"), unit_symbols("bus/s")
    ('µs/packet', '20 µs + 5 ns', 'bus/s')
    """
    return re.sub(_MICROSECONDS, "µs", text)


_MICROSECONDS = r"(?<![^\W\d])us(?!\w)"
"""Microseconds, also directly behind a digit; no part of another word."""


_MONEY = "$"


def plural(unit: str) -> str:
    """Return the plural of a unit that begins with a word, any other unit as it is.

    >>> plural("core"), plural("batch"), plural("reply"), plural("day"), plural("ms"), plural("us")
    ('cores', 'batches', 'replies', 'days', 'ms', 'us')
    >>> plural("request/s"), plural("byte/packet"), plural("kbit/s"), plural("ms/request")
    ('requests/s', 'bytes/packet', 'kbit/s', 'ms/request')
    >>> plural("Mbit"), plural("GPU"), plural("")
    ('Mbit', 'GPU', '')
    """
    match = re.fullmatch(_COUNTED, unit)
    if match is None or (match[1].endswith("s") and not match[1].endswith("ss")):
        return unit
    word, per = match.groups()
    if re.search("[^aeiou]y$", word):
        return f"{word[:-1]}ies{per}"
    return f"{word}es{per}" if word.endswith(("s", "x", "z", "ch", "sh")) else f"{word}s{per}"


_COUNTED = r"(?!percent|k?bit/s)([a-z][a-z_]{2,})((?: ?/.*)?)"
"""A unit that counts what a word names: `core`, `request/s`, not `ms`, `kB`, `Mbit` or `bit/s`.

The page has the same in `format.js`.
"""


def quantity_in(value: float, unit: str, digits: int = 4) -> str:
    """Return a value in base units of a `unit` as it is written, with the one that suits its size.

    >>> quantity_in(0.2298, "s"), quantity_in(3.0, str(DIMENSIONLESS)), quantity_in(2.5e7, "bit/s")
    ('229.8 ms', '3', '25 Mbit/s')
    """
    if not isfinite(value) or unit in ("", str(DIMENSIONLESS)):
        return number(value, digits)
    factor, name = _scale_among(value, scales_of_unit(unit))
    return with_unit(amount_in(value / factor, name, digits), name)


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
