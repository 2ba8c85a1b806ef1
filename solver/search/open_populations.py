"""Whole populations at which a percentile does not decide by itself that a limit is kept.

Boxes of several populations seldom decide it: what one of them waits is bounded by the shortest and
the longest waits of all. In arrays, each of a thousand takes less time than a box alone.
"""

from __future__ import annotations

from qps.solver.search.bounds import BoundedFunction

_MOST, _FEW = 1 << 10, 4


def cut_at_failure(
    curve: BoundedFunction, low: int, likely: int, high: int, *, strict: bool
) -> list[tuple[int, int]]:
    """Return what is open of a box, in order, where something likely fails first at a population.

    Before it, that is what percentiles leave open.
    """
    before = open_by_percentiles(curve, low, likely - 1, strict=strict)
    behind = [(likely + 1, high)] if likely < high else []
    return [*before, (likely, likely), *behind]


def open_by_percentiles(
    curve: BoundedFunction, low: int, high: int, *, strict: bool
) -> list[tuple[int, int]]:
    """Return boxes of populations in order, without those at which a function surely holds.

    It is all from `low` to `high` where percentiles do not decide, or where more than a few are
    open.
    """
    if high - low < _MOST and curve.latest_times:
        from qps.solver.search.box_arrays import BoxArrays, not_decided  # noqa: PLC0415 - needs numpy

        arrays = BoxArrays(curve.expr, curve.population, latest=curve.latest_times)
        if arrays.is_quick:
            found = not_decided(arrays, low, high, strict=strict)
            if len(found) <= _FEW:
                return [(at, at) for at in found]
    return [(low, high)]
