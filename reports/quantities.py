"""Numbers as people read them: with a unit, three or four digits, no false precision."""

from __future__ import annotations

from math import floor, isfinite, log10

from qps.compiler.dimension import (
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
    INFORMATION: ((8e12, "TB"), (8e9, "GB"), (8e6, "MB"), (8e3, "kB"), (8.0, "byte"), (1.0, "bit")),
    MONEY: ((1.0, "$"),),
}  # fmt: skip


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
    for factor, unit in _SCALES.get(dimension, ()):
        if abs(value) >= factor * (1 - 1e-12):
            return f"{number(value / factor, digits)} {unit}"
    if value != 0 and dimension in _SCALES:
        factor, unit = _SCALES[dimension][-1]
        return f"{number(value / factor, digits)} {unit}"
    return f"{number(value, digits)} {dimension}"


def is_share(name: str) -> bool:
    """True for measures that are read in per cent: loads, losses, shares."""
    return name.rsplit(".", 1)[-1] in ("load", "loss") or name.startswith("share(")
