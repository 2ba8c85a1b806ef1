"""The capacity as it is printed: rounded down, to as many digits as can be relied on."""

from __future__ import annotations

_DIGITS_OF_SAMPLES, _DIGITS_TO_PLAN = 3, 2


def printed_capacity(count: int, *, high: int, is_sampled: bool) -> int:
    """Return a capacity as it is printed; the end of a range is printed as it is.

    >>> printed_capacity(7462, high=100_000, is_sampled=False)
    7400
    >>> printed_capacity(1887, high=100_000, is_sampled=True)
    1880
    """
    if count == high:
        return count
    return sampled_number(count) if is_sampled else planning_number(count)


def planning_number(people: int) -> int:
    """Return a number of people to plan for where no spread is stated: two digits, rounded down.

    Below 100 people are counted one by one.

    >>> planning_number(7462), planning_number(100), planning_number(45)
    (7400, 100, 45)
    """
    return _rounded_down(people, _DIGITS_TO_PLAN)


def sampled_number(people: int) -> int:
    """Return a number of people of which samples tell: three digits, not more than that.

    >>> sampled_number(4263310), sampled_number(162)
    (4260000, 162)
    """
    return _rounded_down(people, _DIGITS_OF_SAMPLES)


def _rounded_down(people: int, digits: int) -> int:
    step = int(10 ** max(0, len(str(abs(people))) - digits))
    return people // step * step
