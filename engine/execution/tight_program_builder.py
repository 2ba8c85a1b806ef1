"""Programs whose bounds are tight: what multiplies or is added goes inside maxima and minima.

The population is positive: N min(1, a/N) is min(N, a). And where elastic parameters share what is
left, x + min(a, b - x) is min(x + a, b). Written so, bounds are those of N and a, or b; those of a
product or a sum of parts that go against each other would be far wider, and say little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial, reduce
from math import prod

from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.expressions import linear_sums
from qps.engine.expressions.linear_sums import FREE, Factor, Line, TooManyProductsError
from qps.engine.leaves import INPUT, NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import EXTREMES, OPERATIONS, PRODUCT, SUM

_MOST_SPREAD = 500
"""Sums that are put into extremes: each may double what is to be computed."""
_WIDEST = 40
"""Terms of a sum beyond which nothing is looked for in it."""


@dataclass(kw_only=True)
class TightBuilder(ProgramBuilder):
    """Builds programs so; `positive` are the inputs that are above zero in all rows."""

    positive: frozenset[str] = frozenset()
    _lines: dict[int, Line | None] = field(default_factory=dict)
    _sums: dict[tuple[int, int], int] = field(default_factory=dict)
    _spread: int = 0

    # -- products ------------------------------------------------------------------------

    def multiply(self, one: int, other: int) -> int:
        """Add the product of two operations."""
        for extreme, factor in ((one, other), (other, one)):
            if self._steps[extreme].word in EXTREMES and self._varies[extreme]:
                coefficient, exponent = self._monomial(factor) or (factor, 0)
                scaled = self._scaled(extreme, exponent) if exponent else None
                if scaled is not None:
                    return super().multiply(coefficient, scaled)
        return super().multiply(one, other)

    def _monomial(self, number: int) -> tuple[int, int] | None:
        """Return an operation as c N^k: the operation that gives c, in which is no N, and k."""
        step = self._steps[number]
        if not self._varies[number]:
            return number, 0
        if step.word == POPULATION:
            return self.constant(1), 1
        if step.word == WHOLE_POWER:
            assert isinstance(step.value, int)
            base = self._monomial(step.operands[0])
            return base and (self.power(base[0], step.value), base[1] * step.value)
        if step.word == PRODUCT:
            coefficient, exponent = self.constant(1), 0
            for operand in step.operands:
                part = self._monomial(operand)
                if part is None:
                    return None
                coefficient, exponent = self.multiply(coefficient, part[0]), exponent + part[1]
            return coefficient, exponent
        return None

    def _scaled(self, number: int, exponent: int) -> int | None:
        """Return an operation times N^k, None where N would stand beside it."""
        monomial = self._monomial(number)
        if monomial is not None:
            coefficient, own = monomial
            return self.multiply(coefficient, self.power(self.emit(POPULATION), own + exponent))
        step = self._steps[number]
        row = OPERATIONS.get(step.word)
        if row is not None:
            in_proportion = row.in_proportion(len(step.operands))
            for places, power in ((row.divides, -exponent), (in_proportion, exponent)):
                parts = {place: self._scaled(step.operands[place], power) for place in places}
                known = {place: part for place, part in parts.items() if part is not None}
                if known and len(known) == len(parts):
                    return self._again(step.word, [known.get(*o) for o in enumerate(step.operands)])
        if step.word == PRODUCT and len(step.operands) == 2:  # noqa: PLR2004
            for factor, rest in (step.operands, step.operands[::-1]):
                own_part = self._monomial(factor)
                scaled = own_part and self._scaled(rest, own_part[1] + exponent)
                if own_part and scaled is not None:
                    return self.multiply(own_part[0], scaled)
        return None

    def _again(self, word: str, operands: Sequence[int]) -> int:
        """Return an operation on other operands."""
        if word == SUM:
            return reduce(self.add, operands)
        if word in EXTREMES:
            return reduce(partial(self._extreme, word), operands)
        return self.emit(word, *operands)

    # -- sums ----------------------------------------------------------------------------

    def add(self, one: int, other: int) -> int:
        """Add the sum of two operations."""
        key = min(one, other), max(one, other)
        if key not in self._sums:
            self._sums[key] = self._sum_of(one, other)
        return self._sums[key]

    def _sum_of(self, one: int, other: int) -> int:
        if self._varies[one] and self._varies[other]:
            try:
                found = self._canceled(one, other)
            except TooManyProductsError:
                found = None
            if found is not None:
                return found
        return super().add(one, other)

    def _canceled(self, one: int, other: int) -> int | None:
        """Return a sum inside an extreme that is one of its terms, if something cancels there."""
        first, second = self._line(one), self._line(other)
        if first is None or second is None:
            return None
        whole = linear_sums.together(first, second)
        for extreme, factor in whole.items():
            if extreme == FREE or self._steps[extreme].word not in EXTREMES:
                continue
            sign = self._sign_of(factor)
            if not sign or self._spread >= _MOST_SPREAD:
                continue
            rest = {operation: own for operation, own in whole.items() if operation != extreme}
            if any(self._cancels(leaf, rest, factor) for leaf in self._leaves(extreme)):
                self._spread += 1
                return self._inside(extreme, rest, factor, sign)
        return None

    def _cancels(self, leaf: int, rest: Line, factor: Factor) -> bool:
        """Return whether an operand of an extreme takes away a term of the rest."""
        line = self._line(leaf)
        if line is None:
            return False
        return any(
            operation != FREE
            and operation in rest
            and not linear_sums.plus(rest[operation], linear_sums.times(own, factor))
            for operation, own in line.items()
        )

    def _leaves(self, number: int) -> Iterator[int]:
        step = self._steps[number]
        if step.word not in EXTREMES:
            yield number
            return
        for operand in step.operands:
            yield from self._leaves(operand)

    def _inside(self, number: int, rest: Line, factor: Factor, sign: int) -> int:
        """Return an extreme times a factor, and the rest, as an extreme of sums."""
        step = self._steps[number]
        if step.word in EXTREMES:
            word = step.word if sign > 0 else EXTREMES[1 - EXTREMES.index(step.word)]
            return self._again(
                word, [self._inside(operand, rest, factor, sign) for operand in step.operands]
            )
        own = self._line(number)
        if own is None:
            own = {number: linear_sums.ONE}
        return self._of_line(linear_sums.together(rest, linear_sums.scaled(own, factor)))

    def _line(self, number: int) -> Line | None:
        """Return an operation as a line, None where it has too many terms."""
        if number not in self._lines:
            try:
                line = self._as_line(number)
            except TooManyProductsError:
                line = None
            self._lines[number] = line if line is None or len(line) <= _WIDEST else None
        return self._lines[number]

    def _as_line(self, number: int) -> Line | None:
        if not self._varies[number]:
            return {FREE: self._factor(number)}
        step = self._steps[number]
        if step.word == SUM:
            total: Line = {}
            for operand in step.operands:
                part = self._line(operand)
                if part is None:
                    return None
                total = linear_sums.together(total, part)
            return total
        if step.word == PRODUCT:
            varying = [operand for operand in step.operands if self._varies[operand]]
            part = self._line(varying[0]) if len(varying) == 1 else None
            if part is not None:
                for operand in step.operands:
                    if not self._varies[operand]:
                        part = linear_sums.scaled(part, self._factor(operand))
                return part
        row = OPERATIONS.get(step.word)
        if row is not None and row.divides and not self._varies[step.operands[row.divides[0]]]:
            # Where the divisor may vanish the quotient is infinite, and no line.
            below = self._factor(step.operands[row.divides[0]])
            part, over = self._line(step.operands[row.scales[0]]), linear_sums.inverse(below)
            if part is not None and over is not None and self._sign_of(below):
                return linear_sums.scaled(part, over)
        return {number: linear_sums.ONE}

    def _factor(self, number: int) -> Factor:
        """Return an operation in which there is no population as a factor."""
        step, value = self._steps[number], self.value_of(number)
        if value is not None:
            return linear_sums.number(value)
        if step.word == PRODUCT:
            found = linear_sums.ONE
            for operand in step.operands:
                found = linear_sums.times(found, self._factor(operand))
            return found
        if step.word == WHOLE_POWER and self._sign(step.operands[0]):
            assert isinstance(step.value, int)
            base = self._factor(step.operands[0])
            over = base if step.value > 0 else linear_sums.inverse(base)
            if over is not None and len(over) == 1:
                ((product, own),) = over.items()
                size = abs(step.value)
                return {tuple((o, e * size) for o, e in product): own**size}
        if step.word == SUM:
            total: Factor = {}
            for operand in step.operands:
                total = linear_sums.plus(total, self._factor(operand))
            return total
        return linear_sums.power_of(number, 1)

    def _of_line(self, line: Line) -> int:
        """Return the operation that gives a line."""
        total = self.constant(0)
        for operation, factor in line.items():
            own = self._of_factor(factor)
            total = self.add(total, own if operation == FREE else self.multiply(own, operation))
        return total

    def _of_factor(self, factor: Factor) -> int:
        total = self.constant(0)
        for product, value in factor.items():
            own = self.constant(value)
            for operation, exponent in product:
                own = self.multiply(own, self.power(operation, exponent))
            total = self.add(total, own)
        return total

    # -- signs ---------------------------------------------------------------------------

    def _sign_of(self, factor: Factor) -> int:
        """Return the sign that a factor has in all rows, 0 where it is not known."""
        signs = set()
        for product, value in factor.items():
            sign = 1 if value > 0 else -1
            for operation, exponent in product:
                sign *= self._sign(operation) ** abs(exponent)
            signs.add(sign)
        return signs.pop() if len(signs) == 1 else 0

    def _sign(self, number: int) -> int:
        """Return the sign that an operation without the population has in all rows, else 0."""
        step = self._steps[number]
        if step.word == NUMBER:
            value = self.value_of(number)
            return 0 if not value else (1 if value > 0 else -1)
        if step.word == INPUT:
            return int(step.value in self.positive)
        own = [self._sign(operand) for operand in step.operands]
        odd = isinstance(step.value, int) and step.value % 2
        if step.word == WHOLE_POWER:
            return own[0] if odd else abs(own[0])
        if step.word == PRODUCT:
            return prod(own)
        row = OPERATIONS[step.word]
        scaling = row.in_proportion(len(own))
        if len(scaling) + len(row.divides) < len(own):
            return 0
        sign = own[scaling[0]] if len({own[place] for place in scaling}) == 1 else 0
        sign *= prod(own[place] for place in row.divides)
        return abs(sign) if row.lies[0] == 0 else sign
