"""Bounds of an expression and of its slope while the population is anywhere between two ends.

So a question about every population is settled without trying each of them (Moore, Kearfott and
Cloud 2009, Introduction to Interval Analysis, chapters 5 and 6). The bounds are rounded outwards:
they may be wide, never too narrow. What is not known has no bounds; it proves nothing. The page
does the same in `reports/scripts/interval.js`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isnan

import sympy

from qps.engine.intervals import NOTHING_KNOWN, Interval, above, below
from qps.engine.operations import OPERATIONS
from qps.solver.building import WORDS

_Rule = Callable[..., Interval]


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of an expression, and what its bounds are made of: the places of its own parts."""

    part: sympy.Expr
    rule: _Rule
    parts: tuple[int, ...]


class Curve:
    """An expression in the population alone, with its bounds over a box of populations."""

    def __init__(self, expr: sympy.Expr, population: sympy.Symbol) -> None:
        self.expr = expr
        self.population = population
        self._places: dict[sympy.Expr, int] = {population: 0}
        self._steps: list[_Step] = [_Step(population, _unknown, ())]
        self._top = self._place(expr)
        self._found: list[Interval] = []

    def over(self, low: float, high: float) -> Interval:
        """Return bounds over a box; better than the plain ones where the box is small."""
        low, high = float(low), float(high)
        plain = self._run(low, high)
        if plain.is_below or plain.is_above or not plain.has_slope:
            return plain
        middle = low + (high - low) / 2
        half = above(max(high - middle, middle - low))
        known = self._found
        there = self._run(middle, middle)
        self._found = known
        reach = above(half * max(abs(plain.slow), abs(plain.steep)))
        least, most = below(there.low - reach), above(there.high + reach)
        # Not `max`, which would take one that is not-a-number.
        low_bound = max(plain.low, least)
        high_bound = min(plain.high, most)
        return Interval(low_bound, high_bound, plain.slow, plain.steep)

    def part(self, part: sympy.Expr) -> Interval:
        """Return the bounds of a part over the box that was asked for last."""
        return self._found[self._places[part]]

    def roundings(self) -> Iterator[sympy.Expr]:
        """Yield what is rounded up or down, the innermost first."""
        for step in self._steps:
            if isinstance(step.part, sympy.ceiling | sympy.floor):
                yield step.part

    def jumps(self) -> float:
        """Return how often a rounding can jump in the box that was asked for last."""
        return sum((self.part(r).high - self.part(r).low for r in self.roundings()), 0.0)

    def _run(self, low: float, high: float) -> Interval:
        found = [Interval(low, high, 1.0, 1.0)]
        for step in self._steps[1:]:
            bounds = step.rule(*(found[place] for place in step.parts))
            found.append(bounds.sound())
        self._found = found
        return found[self._top]

    def _place(self, expr: sympy.Expr) -> int:
        known = self._places.get(expr)
        if known is None:
            rule, parts = _ruled(expr)
            step = _Step(expr, rule, tuple(self._place(part) for part in parts))
            known = self._places[expr] = len(self._steps)
            self._steps.append(step)
        return known


def _unknown(*_parts: Interval) -> Interval:
    return NOTHING_KNOWN


def _ruled(expr: sympy.Expr) -> tuple[_Rule, tuple[sympy.Expr, ...]]:
    """Return how the bounds of an expression are made, and of which parts."""
    if expr.is_number:
        value = _of_number(expr)
        return (lambda: value), ()
    if isinstance(expr, sympy.LambertW):
        is_lower = len(expr.args) > 1 and expr.args[1] == -1
        return OPERATIONS["lower_w" if is_lower else "w"].interval, expr.args[:1]
    word = WORDS.get(expr.func)
    return (OPERATIONS[word].interval if word else _unknown), expr.args


def _of_number(number: sympy.Expr) -> Interval:
    """Return a number as the floats next to it on both sides, or as itself where it is one."""
    try:
        near = float(number)
    except (TypeError, OverflowError):
        return NOTHING_KNOWN
    if isnan(near):
        return NOTHING_KNOWN
    if number.is_Rational and near not in (inf, -inf) and sympy.Rational(near) == number:
        return Interval(near, near)
    return Interval(below(near), above(near))
