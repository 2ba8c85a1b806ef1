"""Whether fewer users are carried wherever so many are: proved for all values of a number.

A criterion that does not fall as users are added holds for fewer where it holds for more: bounds of
its slope decide, over boxes of users and values, which are halved until they do. Boxes in which the
operands of a quantile have no bounds are halved before any quantile is computed: where there are
too many of them alone, it is undecided.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, span
from qps.engine.operand_groups import repeated
from qps.engine.operations import OF_QUEUES, OPERATIONS
from qps.solver.search.bounds import BoundedFunction

_MOST_BOXES = 200
"""Boxes after which a criterion is left undecided."""

_ENDLESS = SlopedInterval(inf, inf, -inf, inf)

Ends = tuple[float, float]


@dataclass(frozen=True)
class _Box:
    """Users and values between two ends; with `holds_above` fewer users follow from those above."""

    users: Ends
    values: Ends
    holds_above: bool

    def halves(self) -> tuple[_Box, _Box]:
        """Return the wider side halved; the last is looked at first: what is above."""
        (few, many), (low, high) = self.users, self.values
        if _width(few, many) >= _width(low, high):
            middle = few + (many - few) / 2
            return (
                _Box((few, middle), self.values, holds_above=True),
                _Box((middle, many), self.values, self.holds_above),
            )
        middle = low + (high - low) / 2
        return (
            _Box(self.users, (low, middle), self.holds_above),
            _Box(self.users, (middle, high), self.holds_above),
        )


@dataclass
class _Criterion:
    """A function of users and of a number that is above zero where it fails."""

    over: Formula
    population: Formula
    number: Formula
    strict: bool

    def holds(self, box: _Box) -> bool:
        """Return whether bounds prove that it holds in a box, or as it does above."""
        self._curve.hold({self.number: SlopedInterval(*box.values)})
        return self._is_proven(self._curve, box)

    def is_provably_open(self, box: _Box) -> bool:
        """Return whether no bounds of it say anything in a box, without a quantile computed."""
        if not self._quantiles:
            return False
        curve = self._endless
        curve.hold({self.number: SlopedInterval(*box.values)})
        return not self._is_proven(curve, box) and all(
            _is_endless(one, curve) for one in self._quantiles
        )

    def _is_proven(self, curve: BoundedFunction, box: _Box) -> bool:
        bounds = curve.over(*box.users)
        if bounds.high < 0 or (bounds.high == 0 and not self.strict):
            return True
        return box.holds_above and bounds.slow >= 0

    @cached_property
    def _curve(self) -> BoundedFunction:
        return BoundedFunction(self.over, self.population, intervals={self.number: NOTHING_KNOWN})

    @cached_property
    def _quantiles(self) -> tuple[Formula, ...]:
        """Its quantiles, and what else is computed from many stages."""
        symbols = self.population, self.number
        return tuple(
            part
            for part in parts_first(self.over)
            if part.word in OF_QUEUES
            and OPERATIONS[part.word].never_negative
            and not part.symbols.isdisjoint(symbols)
        )

    @cached_property
    def _endless(self) -> BoundedFunction:
        """The same with quantiles without end, as they are where an operand has none."""
        operands = [operand for part in self._quantiles for operand in part.operands]
        held = {self.number: NOTHING_KNOWN, **dict.fromkeys(self._quantiles, _ENDLESS)}
        return BoundedFunction(self.over, self.population, operands, held)


def _is_endless(part: Formula, curve: BoundedFunction) -> bool:
    """Return whether what grows and falls with its operands has no bounds, and none of its slope.

    In the box of the last request.
    """
    row, bounds = OPERATIONS[part.word], [curve.part(operand) for operand in part.operands]
    grows = repeated(row.grows, row.repeats, len(bounds))
    if not any(g > 0 and one.high == inf for g, one in zip(grows, bounds, strict=True)):
        return False
    rates = [(-inf if g <= 0 else 0.0, inf if g >= 0 else 0.0) for g in grows]
    slopes = [
        span(one.slow, one.steep, *rate)
        for one, rate in zip(bounds, rates, strict=True)
        if not one.is_fixed
    ]
    return any(slow == -inf for slow, _ in slopes) and any(steep == inf for _, steep in slopes)


def passes_for_fewer(
    over: Formula, symbols: tuple[Formula, Formula], users: Ends, values: Ends, *, strict: bool
) -> bool:
    """Return whether it is proved that a criterion holds for all numbers of users up to the most.

    `over` is above zero where it fails; of its two `symbols` the first is the population, the
    second the number. It holds for the most users at every value between two ends. False where
    bounds do not decide.
    """
    population, number = symbols
    if population not in over.symbols:
        return True
    criterion = _Criterion(over, population, number, strict)
    waiting, later = [_Box(users, values, holds_above=True)], list[_Box]()
    boxes = 1
    while waiting or later:
        if waiting:
            box = waiting.pop()
            if not criterion.is_provably_open(box):
                later.append(box)
                continue
        else:
            box = later.pop()
            if criterion.holds(box):
                continue
        boxes += 2
        if boxes > _MOST_BOXES:
            return False
        waiting += box.halves()
    return True


def _width(low: float, high: float) -> float:
    """Return how wide a range is, as a part of what is in it."""
    return (high - low) / (max(abs(low), abs(high)) or 1.0)
