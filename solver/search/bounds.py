"""Bounds of an expression and of its slope while the population is anywhere between two ends.

So a question about every population is decided without trying each of them (Moore, Kearfott and
Cloud 2009, Introduction to Interval Analysis, chapters 5 and 6). The bounds are rounded outwards:
they may be wide, never too narrow. What is not known has no bounds; it proves nothing. Of what is
an approximation itself nothing is proved: it is followed (`approximation_bounds.py`). The page does
the rest of it in `reports/scripts/engine/box_bounds.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import inf
from types import MappingProxyType

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import in_floats
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, above, around, below
from qps.engine.operations import OPERATIONS, ROUNDINGS
from qps.solver.search.approximation_bounds import Followed, Point, followed, narrowed
from qps.solver.search.percentile_bounds import deciding_rules, latest_times

_Rule = Callable[..., SlopedInterval]


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of a formula, and what its bounds are made of: the places of its own parts.

    `followed` is its place among what approximations stand in; None for all else, and where a value
    jumps.
    """

    part: Formula
    rule: _Rule
    parts: tuple[int, ...]
    followed: int | None = None


class BoundedFunction:
    """An expression in the population alone, with its bounds over a box of populations.

    Those of `others` are computed with it: they are available as a `part`. Symbols that are
    `held` are anywhere between their ends, whatever the population is.
    """

    def __init__(
        self,
        expr: Formula,
        population: Formula,
        others: Iterable[Formula] = (),
        intervals: Mapping[Formula, SlopedInterval] = MappingProxyType({}),
    ) -> None:
        self.expr = expr
        self.population = population
        self._intervals = dict(intervals)
        self._places: dict[Formula, int] = {population: 0}
        self._steps: list[_Step] = [_Step(population, _unknown, ())]
        self._pending: list[_Step] = []
        self._followed: list[int] = []
        self._jumping: set[int] = set()
        self._points: dict[float, tuple[Point, bool]] = {}
        self._top = self._place(expr)
        for other in others:
            self._place(other)
        self._found: list[SlopedInterval] = []

    def hold(self, intervals: Mapping[Formula, SlopedInterval]) -> None:
        """Let symbols that are held be anywhere between other ends."""
        self._intervals.update(intervals)
        self._points.clear()

    def over(self, low: float, high: float, *, sign_only: bool = False) -> SlopedInterval:
        """Return bounds over a box; better than the plain ones where the box is small.

        With `sign_only` they need no more than prove that all of it is below zero: percentiles are
        not found for that, it is decided whether they are within their limits.
        """
        low, high = float(low), float(high)
        if sign_only and self._decides and not self.is_followed:
            return self._run(low, high, self._deciding)
        plain = self._run(low, high)
        if plain.is_below or plain.is_above or not plain.has_slope:
            return plain
        middle = low + (high - low) / 2
        half = above(max(high - middle, middle - low))
        known = self._found
        there = self.at(middle)
        self._found = known
        reach = above(half * max(abs(plain.slow), abs(plain.steep)))
        least, most = below(there.low - reach), above(there.high + reach)
        # Not `max`, which would take one that is not-a-number.
        low_bound = max(plain.low, least)
        high_bound = min(plain.high, most)
        return SlopedInterval(low_bound, high_bound, plain.slow, plain.steep)

    def across_jumps(self, low: float, high: float) -> tuple[float, float]:
        """Return bounds over a box in which roundings jump.

        What is rounded is its argument and a part of one: whichever part that is, the function has
        no jumps, and its slope bounds it.
        """
        low, high = float(low), float(high)
        middle = low + (high - low) / 2
        half = above(max(high - middle, middle - low))
        known = self._found
        over = self._run(low, high, self._without_jumps)
        there = self._at(middle, self._without_jumps)
        self._found = known
        reach = above(half * max(abs(over.slow), abs(over.steep)))
        return max(over.low, below(there.low - reach)), min(over.high, above(there.high + reach))

    @cached_property
    def _without_jumps(self) -> list[_Step]:
        return [
            replace(step, rule=_between_jumps(step.part.word))
            if step.part.word in ROUNDINGS and step.parts
            else step
            for step in self._steps
        ]

    @cached_property
    def _decides(self) -> bool:
        return any(a is not b for a, b in zip(self._deciding, self._steps, strict=True))

    @cached_property
    def _deciding(self) -> list[_Step]:
        rules = deciding_rules(self._steps, self._top)
        return [
            replace(step, rule=rules[at]) if at in rules else step
            for at, step in enumerate(self._steps)
        ]

    @cached_property
    def latest_times(self) -> Mapping[Formula, float]:
        """Up to which time (s) percentiles leave all below zero: nothing of what is followed."""
        if self.is_followed:
            return {}
        latest = latest_times(self._steps, self._top)
        return {self._steps[place].part: time for place, time in latest.items()}

    def at(self, point: float) -> SlopedInterval:
        """Return bounds at one point, where nothing moves: without slopes."""
        return self._at(point, self._steps)

    def _at(self, point: float, steps: list[_Step]) -> SlopedInterval:
        self._found = self._filled(SlopedInterval(point, point), steps)
        return self._found[self._top]

    @property
    def steps(self) -> int:
        """How many steps bounds take."""
        return len(self._steps)

    @property
    def is_followed(self) -> bool:
        """Whether something in it may be an approximation, which is followed by its values."""
        return bool(self._pending)

    @property
    def has_value(self) -> bool:
        """Whether there is a finite value throughout the box of the last request.

        What may have none has no bounds; beyond all floats lies no bound either of what has one.
        """
        return all(
            (-inf < one.low and one.high < inf) or is_total
            for one, is_total in zip(self._found, self._are_total, strict=True)
        )

    @cached_property
    def _are_total(self) -> list[bool]:
        return [_is_total(step.part) for step in self._steps]

    def part(self, part: Formula) -> SlopedInterval:
        """Return the bounds of a part over the box of the last request."""
        return self._found[self._places[part]]

    def roundings(self) -> Iterator[Formula]:
        """Yield what is rounded up or down, the innermost first."""
        for step in self._steps:
            if step.part.word in ROUNDINGS:
                yield step.part

    def jumps(self) -> float:
        """Return how often a rounding can jump in the box of the last request."""
        return sum((self.part(r).high - self.part(r).low for r in self.roundings()), 0.0)

    def _run(self, low: float, high: float, steps: list[_Step] | None = None) -> SlopedInterval:
        about = self._about(low, high) if self._pending else None
        self._found = self._filled(SlopedInterval(low, high, 1.0, 1.0), steps or self._steps, about)
        return self._found[self._top]

    def _filled(
        self, population: SlopedInterval, steps: list[_Step], about: Followed | None = None
    ) -> list[SlopedInterval]:
        found = [population]
        for step in steps[1:]:
            bounds = step.rule(*(found[place] for place in step.parts)).sound()
            if about is not None and step.followed is not None:
                bounds = narrowed(bounds, about.bounds(step.followed))
            found.append(bounds)
        return found

    def _about(self, low: float, high: float) -> Followed | None:
        """Return what is followed over a box, None where nothing in it is an approximation."""
        if not low < high or not self._known_at(high)[1]:
            return None
        return followed(low, high, lambda point: self._known_at(point)[0])

    def _known_at(self, point: float) -> tuple[Point, bool]:
        """Return values at a point of what is followed, and whether these are approximations."""
        if point not in self._points:
            found = self._filled(SlopedInterval(point, point), self._steps)
            values = tuple(
                (one.low + (one.high - one.low) / 2, (one.high - one.low) / 2)
                for one in (found[place] for place in self._followed)
            )
            self._points[point] = (
                values,
                any(
                    _is_approximate(step, [found[place].low for place in step.parts])
                    for step in self._pending
                ),
            )
        return self._points[point]

    def _place(self, expr: Formula) -> int:
        for part in parts_first(expr):
            if part not in self._places:
                self._places[part] = len(self._steps)
                rule, operands = self._ruled(part)
                places = tuple(self._places[operand] for operand in operands)
                self._steps.append(_Step(part, rule, places, self._place_followed(part, places)))
                if self._steps[-1].followed is not None and _may_be_approximate(part):
                    self._pending.append(self._steps[-1])
        return self._places[expr]

    def _ruled(self, part: Formula) -> tuple[_Rule, tuple[Formula, ...]]:
        """Return how the bounds of a formula are made, and of which parts."""
        if part in self._intervals:
            return (lambda: self._intervals[part]), ()
        if part.is_constant:
            value = _of_number(part)
            return (lambda: value), ()
        return (_unknown if part.is_symbol else OPERATIONS[part.word].interval), part.operands

    def _place_followed(self, part: Formula, places: tuple[int, ...]) -> int | None:
        """Note a step that is to come; return its place among what is followed."""
        here = len(self._steps)
        if not self._jumping.isdisjoint(places) or (places and _jumps(part)):
            self._jumping.add(here)
            return None
        known = any(self._steps[place].followed is not None for place in places)
        if not (known or (places and _may_be_approximate(part))):
            return None
        self._followed.append(here)
        return len(self._followed) - 1


def _unknown(*_parts: SlopedInterval) -> SlopedInterval:
    return NOTHING_KNOWN


def _between_jumps(word: str) -> _Rule:
    """Return how the bounds of a rounding are made of its argument and any part of one."""
    up = OPERATIONS[word].number(0.5)

    def bounds(one: SlopedInterval) -> SlopedInterval:
        return SlopedInterval(below(one.low + up - 1), above(one.high + up), one.slow, one.steep)

    return bounds


def _jumps(part: Formula) -> bool:
    """Return whether something jumps, or counts an operand whole."""
    row = OPERATIONS[part.word]
    return bool(row.rounds or row.whole)


def _may_be_approximate(part: Formula) -> bool:
    return bool(part.operands) and OPERATIONS[part.word].approximate is not None


def _is_approximate(step: _Step, operands: list[float]) -> bool:
    approximate = OPERATIONS[step.part.word].approximate
    return approximate is not None and approximate(*operands)


def _is_total(part: Formula) -> bool:
    """Return whether something has a finite value wherever its operands have one."""
    if not part.operands:
        return False
    row = OPERATIONS[part.word]
    return row.divisor is None and row.domain(*part.operands) == ()


def _of_number(number: Formula) -> SlopedInterval:
    """Return a number as itself where it is a float, else as the floats next to it."""
    exact = number.exact
    if isinstance(exact, Fraction):
        return around(exact)
    near = in_floats(number)
    if near != near:  # noqa: PLR0124 - not-a-number is the only one that is not itself
        return NOTHING_KNOWN
    return SlopedInterval(below(near), above(near))
