"""From how many whole things on nothing fails: a function has how many times there are as many.

Only whole numbers are looked at: between them a function may be dear, and does not matter.
"""

from __future__ import annotations

from fractions import Fraction

from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.substitution import substituted
from qps.solver.search.boxes import UndecidedBoxesError, first_failure_in_boxes
from qps.solver.search.certain_signs import UndecidedLimitError
from qps.solver.search.whole_populations import fails


def least_whole(
    over: Formula, times: Formula, now: Fraction, most: int, *, strict: bool
) -> int | None:
    """Return the least number, of `most`, from which on a function is nowhere above zero.

    It is a function of how many `times` as many as `now` there are. With `strict`, zero is above,
    too. None where there is none: it fails for the most. UndecidedError where it is undecided, or
    fails again beyond the first that do.
    """
    if now <= 0 or most < 1:
        raise UndecidedBoxesError(0)
    count = times
    counted = substituted(over, {times: count / number(now)})
    low, high = 0, 1
    try:
        while fails(counted, count, high, strict=strict):
            if high == most:
                return None
            low, high = high, min(2 * high, most)
        while high - low > 1:
            middle = (low + high) // 2
            if fails(counted, count, middle, strict=strict):
                low = middle
            else:
                high = middle
        again = first_failure_in_boxes(counted, count, high, most, strict=strict)
        if again is not None and fails(counted, count, most, strict=strict):
            return None
    except (UndecidedLimitError, PowerTooLongError):
        raise UndecidedBoxesError(high) from None
    if again is not None:
        raise UndecidedBoxesError(again)
    return high
