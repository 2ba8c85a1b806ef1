"""The load graph as a program that the page runs: a list of small steps, each a plain value.

Every step is an operation on earlier steps: `["*", 3, 7]` multiplies the third by the seventh.
Equal expressions are one step, however often used, so that all variants of a model share one
program. It is data: a page with a strict content policy runs it without compiling any text.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import reduce

from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import HALF, Formula, power
from qps.engine.expressions.point_values import in_floats
from qps.engine.expressions.quotients import above_and_below
from qps.engine.numerics.sloped_intervals import ROUNDED_OFF
from qps.engine.operation_rows import Operation
from qps.engine.operations import (
    OPERATIONS,
    POWER,
    PRODUCT,
    ROOT,
)

Step = tuple[object, ...]
"""An operation and what it works on: numbers of earlier steps, or the parts of a constant.

Programs of pages have "-", "/" and "^", for whole powers; all others are rows of the table.
"""

_SAFE_INTEGER = 2**53 - 1


def law_of(row: Operation) -> dict[str, tuple[int, ...] | float]:
    """Return what the table says of an operation that grows or falls with its operands."""
    law: dict[str, tuple[int, ...] | float] = {"grows": row.grows, "whole": row.whole}
    if row.repeats:
        law["repeats"] = row.repeats
    if row.gammas:
        law["gammas"] = row.gammas
    if row.waits is not None:
        law["waits"] = row.waits
    if row.part > ROUNDED_OFF:
        law["part"] = row.part
    return law


class PageProgram:
    """Steps that several expressions share; `step` adds what an expression needs.

    >>> from qps.engine.expressions.formulas import population
    >>> n = population("N")
    >>> program = PageProgram(n)
    >>> program.step(2 * n + 3), program.step(2 * n), len(program.steps)
    (4, 2, 5)
    """

    def __init__(self, population: Formula) -> None:
        self.population = population.name
        self.steps: list[Step] = [("n",)]
        self._known: dict[Step, int] = {("n",): 0}
        self._steps_of: dict[Formula, int] = {}

    def step(self, formula: Formula) -> int:
        """Return the number of the step that computes a formula."""
        for part in parts_first(formula, known=self._steps_of):  # so that none is too deep
            self._steps_of[part] = self._added(part)
        return self._steps_of[formula]

    def join(self, operation: str, *steps: int) -> int:
        """Return the step that applies an operation to other steps."""
        return self._add((operation, *steps))

    @property
    def laws(self) -> dict[str, dict[str, tuple[int, ...] | float]]:
        """With which of its operands each operation grows, where the table says it; which count.

        And how many of the last may repeat.
        """
        words = {str(word) for word, *_ in self.steps}
        rows = [row for word, row in OPERATIONS.items() if row.by_ends and word in words]
        return {row.word: law_of(row) for row in rows}

    def _add(self, step: Step) -> int:
        known = self._known.get(step)
        if known is None:
            known = self._known[step] = len(self.steps)
            self.steps.append(step)
        return known

    def _added(self, part: Formula) -> int:
        if part.is_symbol:
            return 0 if part.name == self.population else self._add(("value", part.name))
        value = part.exact
        if value is not None:
            return self.constant(value)
        if part.is_constant:
            return self._add(("float", in_floats(part)))
        if part.word == PRODUCT:
            return self._product(part)
        if part.word == POWER:
            return self._power(*part.operands)
        steps = [self._steps_of[operand] for operand in part.operands]
        if OPERATIONS[part.word].takes_more:
            return self._folded(part.word, steps)
        return self._add((part.word, *steps))

    def constant(self, value: Fraction) -> int:
        """Return the step of an exact number; what JSON's numbers cannot hold is a text."""
        parts = (value.numerator, value.denominator)
        return self._add(("number", *(p if abs(p) <= _SAFE_INTEGER else str(p) for p in parts)))

    def _folded(self, word: str, steps: list[int]) -> int:
        join: Callable[[int, int], int] = lambda one, other: self._add((word, one, other))  # noqa: E731
        return reduce(join, steps)

    def _product(self, product: Formula) -> int:
        """Return a quotient of two products: fewer roundings than by reciprocals."""
        above, below = (list(map(self.step, factors)) for factors in above_and_below(product))
        dividend = self._folded(PRODUCT, above) if above else self.constant(Fraction(1))
        return self._add(("/", dividend, self._folded(PRODUCT, below))) if below else dividend

    def _power(self, base: Formula, exponent: Formula) -> int:
        if exponent is HALF:
            return self._add((ROOT, self.step(base)))
        value = exponent.exact
        if value is not None and value < 0:
            return self._add(("/", self.constant(Fraction(1)), self.step(power(base, -exponent))))
        if value is not None and value.denominator == 1 and value <= _SAFE_INTEGER:
            return self._add(("^", self.step(base), self.constant(value)))
        return self._add((POWER, self.step(base), self.step(exponent)))
