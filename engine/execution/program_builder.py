"""Formulas as programs (`qps.engine.execution.programs`): a list of steps, each done once.

What a formula shares with another, or with itself, is one operation. Whatever is made of
powers of the population is brought to the form c0 + c1 N + c2 N^2 + …, so that all that does not
depend on the population is computed once for a row, and little is left to do for each
population that is tried. Constants are folded exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial, reduce
from itertools import pairwise
from typing import TypeAlias

from qps.engine.execution.programs import ProgramStep, StepValue, StraightLineProgram
from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import Formula
from qps.engine.leaves import INPUT, NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import EXTREMES, OPERATIONS, POWER, PRODUCT, ROOT, SUM

_HALF = Fraction(1, 2)
_LARGEST_POWER = 8
"""Powers of the population beyond which a product is not multiplied out."""


_Key: TypeAlias = tuple[str, tuple[int, ...], StepValue]


class UnsupportedError(Exception):
    """Raised for a symbol that has neither a value nor an input."""


Powers = dict[int, int]
"""Powers of the population, each with the operation that gives its coefficient."""


@dataclass
class ProgramBuilder:
    """Builds a program; `values` are the numbers of symbols, all others are inputs."""

    population: Formula
    values: Mapping[Formula, Formula]
    inputs: Mapping[Formula, str]
    _steps: list[ProgramStep] = field(init=False, default_factory=list)
    _inputs: list[frozenset[str]] = field(init=False, default_factory=list)
    _varies: list[bool] = field(init=False, default_factory=list)
    _known: dict[_Key, int] = field(init=False, default_factory=dict)
    _built: dict[Formula, int] = field(init=False, default_factory=dict)
    _visited: set[Formula] = field(init=False, default_factory=set)
    _powers: dict[Formula, Powers | None] = field(init=False, default_factory=dict)
    _rests: dict[Formula, bool] = field(init=False, default_factory=dict)

    def plain_builder(self) -> ProgramBuilder:
        """Return a builder that adds to the same program, and writes formulas as they are."""
        other = ProgramBuilder(self.population, self.values, self.inputs)
        other._steps, other._inputs, other._varies = self._steps, self._inputs, self._varies
        other._known = self._known
        return other

    def program(self) -> StraightLineProgram:
        """Return what was built so far."""
        return StraightLineProgram(tuple(self._steps), tuple(self._inputs), tuple(self._varies))

    # -- operations ----------------------------------------------------------------------

    def emit(self, word: str, *operands: int, value: StepValue = None) -> int:
        """Add an operation, once."""
        # By a plain tuple: most are known, and few operations need be made.
        known = self._known.get((word, operands, value))
        if known is not None:
            return known
        inputs = frozenset({str(value)} if word == INPUT else ())
        for operand in operands:
            inputs |= self._inputs[operand]
        varies = word == POPULATION or any(self._varies[operand] for operand in operands)
        number = len(self._steps)
        self._steps.append(ProgramStep(word, operands, value))
        self._inputs.append(inputs)
        self._varies.append(varies)
        self._known[word, operands, value] = number
        return number

    def constant(self, value: Fraction | int) -> int:
        """Return a constant."""
        return self.emit(NUMBER, value=value if type(value) is Fraction else Fraction(value))

    def value_of(self, number: int) -> Fraction | None:
        """Return the value of an operation that is a constant, None for another."""
        value = self._steps[number].value
        return value if isinstance(value, Fraction) else None

    def add(self, one: int, other: int) -> int:
        """Add the sum of two operations."""
        first, second = self.value_of(one), self.value_of(other)
        if first is not None and second is not None:
            return self.constant(first + second)
        if first == 0:
            return other
        if second == 0:
            return one
        return self.emit(SUM, min(one, other), max(one, other))

    def multiply(self, one: int, other: int) -> int:
        """Add the product of two operations."""
        first, second = self.value_of(one), self.value_of(other)
        if first is not None and second is not None:
            return self.constant(first * second)
        if first == 1:
            return other
        if second == 1:
            return one
        if first == 0 or second == 0:
            return self.constant(0)
        return self.emit(PRODUCT, min(one, other), max(one, other))

    def power(self, base: int, exponent: int) -> int:
        """Add an integer power of an operation."""
        value = self.value_of(base)
        if value is not None and (value != 0 or exponent > 0):
            return self.constant(value**exponent)
        if exponent == 1:
            return base
        if exponent == 0:
            return self.constant(1)
        return self.emit(WHOLE_POWER, base, value=exponent)

    def less(self, one: int, other: int) -> int:
        """Add the difference of two operations."""
        return self.add(one, self.multiply(self.constant(-1), other))

    # -- expressions ---------------------------------------------------------------------

    def build(self, expr: Formula) -> int:
        """Return the operation that gives a formula; UnsupportedError for an unknown symbol."""
        if expr not in self._built:
            # Each part behind its own, so that no formula is too deep.
            for part in parts_first(expr, known=self._visited):
                if self.powers(part) is None and part not in self._built:
                    self._built[part] = self._other(part)
                self._visited.add(part)
            powers = self.powers(expr)
            if powers is not None:
                self._built[expr] = self.horner(powers)
        return self._built[expr]

    def powers(self, expr: Formula) -> Powers | None:
        """Return an expression by the powers of the population; None where it is not made so."""
        if expr not in self._powers:
            self._powers[expr] = self._as_powers(expr)
        return self._powers[expr]

    def _as_powers(self, expr: Formula) -> Powers | None:
        if expr is self.population:
            return {1: self.constant(1)}
        if not self._has_population(expr):
            return {0: self._free(expr)}
        if expr.word in (SUM, PRODUCT):
            parts = [self.powers(operand) for operand in expr.operands]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts):
                return None
            return self._sum(known) if expr.word == SUM else self._product(known)
        exponent = whole_exponent(expr)
        if exponent is not None:
            base = self.powers(expr.operands[0])
            if base is None or abs(exponent) > _LARGEST_POWER:
                return None
            if len(base) == 1:
                ((power, coefficient),) = base.items()
                return {power * exponent: self.power(coefficient, exponent)}
            return self._product([base] * exponent) if exponent > 0 else None
        return None

    def _has_population(self, expr: Formula) -> bool:
        known = self._rests.get(expr)
        if known is None:
            known = expr is self.population or any(map(self._has_population, expr.operands))
            self._rests[expr] = known
        return known

    def _sum(self, parts: list[Powers]) -> Powers:
        total: Powers = {}
        for part in parts:
            for power, coefficient in part.items():
                known = total.get(power)
                total[power] = coefficient if known is None else self.add(known, coefficient)
        return {power: c for power, c in total.items() if self.value_of(c) != 0}

    def _product(self, parts: list[Powers]) -> Powers | None:
        total: Powers = {0: self.constant(1)}
        # Few terms first: what they share is computed once.
        for part in sorted(parts, key=len):
            products = [
                {one + other: self.multiply(c, d)}
                for one, c in total.items()
                for other, d in part.items()
            ]
            total = self._sum(products)
        if total and max(map(abs, total)) > _LARGEST_POWER:
            return None
        return total

    def horner(self, powers: Powers) -> int:
        """Return the operation that gives a sum of powers of the population."""
        population = self.emit(POPULATION)
        above = self._horner({p: c for p, c in powers.items() if p >= 0}, population)
        below = {-p: c for p, c in powers.items() if p < 0}
        if not below:
            return above
        return self.add(above, self._horner(below, self.power(population, -1)))

    def _horner(self, powers: Powers, base: int) -> int:
        if not powers:
            return self.constant(0)
        descending = sorted(powers, reverse=True)
        total = powers[descending[0]]
        for power, following in pairwise([*descending, 0]):
            total = self.multiply(total, self.power(base, power - following))
            if following in powers and following != power:
                total = self.add(total, powers[following])
        return total

    def _free(self, expr: Formula) -> int:
        """Return an expression in which there is no population."""
        known = self._built.get(expr)
        if known is None:
            known = self._built[expr] = self._other(expr)
        return known

    def _other(self, expr: Formula) -> int:
        """Return a formula by what it is at its top."""
        if expr.word == NUMBER:
            assert isinstance(expr.value, Fraction | float)
            return self.emit(NUMBER, value=expr.value)
        if expr.is_symbol:
            if expr in self.values:
                return self.build(self.values[expr])
            if expr in self.inputs:
                return self.emit(INPUT, value=self.inputs[expr])
            raise UnsupportedError(expr.name)
        if expr.word in (SUM, PRODUCT):
            return self._joined(expr, is_sum=expr.word == SUM)
        operands = [self.build(operand) for operand in expr.operands]
        if expr.word == POWER:
            return self._raised(operands[0], operands[1])
        if expr.word in EXTREMES:
            return reduce(partial(self._extreme, expr.word), operands)
        return self.emit(expr.word, *operands)

    def _joined(self, expr: Formula, *, is_sum: bool) -> int:
        """Return a sum or product: what is made of powers of the population joined first."""
        join = self.add if is_sum else self.multiply
        parts = [(operand, self.powers(operand)) for operand in expr.operands]
        plain = [powers for _, powers in parts if powers is not None]
        others = [self.build(operand) for operand, powers in parts if powers is None]
        total: int | None = None
        if plain:
            powers = self._sum(plain) if is_sum else self._product(plain)
            if powers is None:
                others = [self.build(operand) for operand in expr.operands]
            else:
                total = self.horner(powers)
        for other in sorted(others, key=lambda step: (self._varies[step], step)):
            total = other if total is None else join(total, other)
        assert total is not None
        return total

    def _raised(self, base: int, exponent: int) -> int:
        value = self.value_of(exponent)
        if value is not None and value.denominator == 1:
            return self.power(base, int(value))
        if value is not None and abs(value) == _HALF:
            root = self.emit(ROOT, base)
            return root if value > 0 else self.power(root, -1)
        return self.emit(POWER, base, exponent)

    def _extreme(self, word: str, one: int, other: int) -> int:
        first, second = self.value_of(one), self.value_of(other)
        if first is not None and second is not None:
            return self.constant(Fraction(OPERATIONS[word].exact(first, second)))
        return one if one == other else self.emit(word, one, other)
