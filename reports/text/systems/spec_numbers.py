"""Measured numbers as a spec writes them: with four digits and a unit."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

_DIGITS = 4
_MANY = 1000
_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def plain(value: float, digits: int = _DIGITS) -> str:
    """Return a number without an exponent.

    >>> plain(0.89166667), plain(123456.7), plain(2.0), plain(1e-7)
    ('0.8917', '123500', '2', '0.0000001')
    """
    text = f"{Decimal(f'{value:.{digits}g}'):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: float, digits: int = _DIGITS) -> str:
    """Return a share in per cent.

    >>> percent(0.89166667), percent(0.231, 2)
    ('89.17 %', '23 %')
    """
    return f"{plain(100 * share, digits)} %"


def duration(seconds: float) -> str:
    """Return a time in the unit in which it is read best.

    >>> duration(0.0036234), duration(1.5), duration(0), duration(4e-7)
    ('3.623 ms', '1.5 s', '0 ms', '400 ns')
    """
    if seconds <= 0:
        return "0 ms"
    size, unit = next((one for one in _TIMES if seconds >= one[0]), _TIMES[-1])
    return f"{plain(seconds / size)} {unit}"


def amount(value: float) -> str:
    """Return a number of requests as a reader takes it in.

    >>> amount(1234567.0), amount(12.5), amount(123456.7)
    ('1,234,567', '12.5', '123,457')
    """
    rounded = round(value)
    is_whole = abs(value - rounded) < 1e-6 * max(1, value)
    return f"{rounded:,}" if is_whole or value >= _MANY else f"{value:,.4g}"


def moment(seconds: float) -> str:
    """Return a time since 1970; nothing where it is none.

    >>> moment(1661273968.3), moment(0)
    ('2022-08-23 16:59:28 UTC', '')
    """
    try:
        at = datetime.fromtimestamp(seconds, UTC) if seconds > 0 else None
    except (OverflowError, ValueError, OSError):
        return ""
    return "" if at is None else f"{at:%Y-%m-%d %H:%M:%S} UTC"
