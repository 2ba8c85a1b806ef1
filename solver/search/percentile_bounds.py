"""Upper ends of percentiles that say no more than whether something is below zero.

A search asks of a box whether a percentile exceeds its limit there. To find the percentile takes
an inversion of its law at each step towards it; whether it is later than the limit takes one, since
P(T > t) falls: a share p of all is within t exactly where P(T > t) <= 1 - p. So its upper end is
the latest time that leaves the whole below zero, or unknown. These bounds hold as all others do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import TYPE_CHECKING, Protocol

from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval
from qps.engine.operations import OPERATIONS

if TYPE_CHECKING:
    from qps.engine.evaluators.row_bounds import Bound, Bounds

_CLEAR = 1e-6
"""A share that is nearer to its limit than this part of it is not decided."""
_HALVINGS = 60
_SHORTEST, _LONGEST = 1e-12, 1e12


class BoundedStep(Protocol):
    """A part of a formula, and how its bounds are made of those at the places of its parts."""

    @property
    def part(self) -> Formula:
        """The part."""

    @property
    def rule(self) -> Callable[..., SlopedInterval]:
        """How its bounds are made."""

    @property
    def parts(self) -> tuple[int, ...]:
        """The places of its own parts."""


def deciding_rules(
    steps: Sequence[BoundedStep], top: int
) -> dict[int, Callable[..., SlopedInterval]]:
    """Return rules for percentiles, by place, that suffice for whether the top is below zero."""
    return {
        place: _within(steps[place].part.word, latest)
        for place, latest in latest_times(steps, top).items()
    }


def latest_times(steps: Sequence[BoundedStep], top: int) -> dict[int, float]:
    """Return up to which time (s) each percentile, by place, leaves the top below zero."""
    found = {}
    for place, step in enumerate(steps):
        row = OPERATIONS.get(step.part.word) if step.parts else None
        if row is not None and row.decided_by:
            latest = _latest_below_zero(steps, place, top)
            if latest is not None:
                found[place] = latest
    return found


def _latest_below_zero(steps: Sequence[BoundedStep], place: int, top: int) -> float | None:
    """Return the latest time, nearly, up to which the top is below zero, all else being unknown.

    None where there is no such time, or where it does not matter.
    """
    path: set[int] = {place}
    for at in range(place + 1, top + 1):
        if not path.isdisjoint(steps[at].parts):
            path.add(at)
    order = sorted(path)[1:]

    def is_below(time: float) -> bool:
        known = {place: SlopedInterval(0.0, time)}
        for at in order:
            known[at] = steps[at].rule(*(_known(steps, known, one) for one in steps[at].parts))
        return top in known and known[top].sound().high < 0

    low, high = _SHORTEST, _LONGEST
    if not is_below(low) or is_below(high):
        return None
    for _ in range(_HALVINGS):
        middle = (low * high) ** 0.5
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return low


def _known(
    steps: Sequence[BoundedStep], known: dict[int, SlopedInterval], at: int
) -> SlopedInterval:
    if at in known:
        return known[at]
    return steps[at].rule() if steps[at].part.is_constant else NOTHING_KNOWN


def _within(word: str, latest: float) -> Callable[..., SlopedInterval]:
    """Return bounds of a percentile: up to a time, less what it is off, or unknown."""
    row, tail = OPERATIONS[word], OPERATIONS[OPERATIONS[word].decided_by]
    time = latest * (1 - 4 * row.part)

    def highest(level: float, *others: float) -> float:
        late = 1 - level
        return time if tail.highest(time, *others) <= late * (1 - _CLEAR) - tail.error else inf

    return row.interval_between(lambda *_: 0.0, highest)


def within_in_arrays(word: str, latest: float, part: float) -> Callable[..., Bounds]:
    """Return the same of many boxes at once, of which such a `part` is rounded off later."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine.evaluators.on_bounds import monotone  # noqa: PLC0415 - needs numpy

    row, tail = OPERATIONS[word], OPERATIONS[OPERATIONS[word].decided_by]
    time = latest * (1 - 4 * max(row.part, part))

    def highest(level: Bound, *others: Bound) -> Bound:
        is_within = tail.array(time, *others) <= (1 - level) * (1 - _CLEAR) - tail.error
        return np.where(is_within, time, inf)

    return monotone(lambda *_: 0.0, row.grows, row.repeats, row.gammas, row.waits, highest=highest)
