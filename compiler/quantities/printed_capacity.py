"""The capacity as it is printed: rounded down, to as many digits as can be relied on."""

from __future__ import annotations

_DIGITS = 3


def printed_capacity(count: int, *, high: int) -> int:
    """Return a capacity as it is printed; the end of a range is printed as it is.

    >>> printed_capacity(7462, high=100_000), printed_capacity(7462, high=7462)
    (7460, 7462)
    """
    return count if count == high else reliable_number(count)


def reliable_number(people: int) -> int:
    """Return a number of people to plan for: three digits, rounded down.

    Inputs are seldom known to more digits, and samples do not say more.

    >>> reliable_number(4263310), reliable_number(162)
    (4260000, 162)
    """
    step = int(10 ** max(0, len(str(abs(people))) - _DIGITS))
    return people // step * step
