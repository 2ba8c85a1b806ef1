"""Expressions as programs (`qps.engine.programs`): a list of steps, each done once.

What an expression shares with another, or with itself, is one operation. Whatever is made of
powers of the population is brought to the form c0 + c1 N + c2 N^2 + …, so that all that does not
depend on the population is computed once for a row, and little is left to do for each
population that is tried. Constants are folded exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

import sympy

from qps.compiler.lower.efficiency import Effective
from qps.compiler.lower.extremes import Maximum, Mean, Minimum, Ratio
from qps.compiler.lower.queue_functions import QUEUE_FUNCTIONS, Waiting
from qps.compiler.quantities.cores_together import effective_cores
from qps.engine.programs import INPUT, NUMBER, POPULATION, POWER, Program, Step, StepValue

_LARGEST_POWER = 8
"""Powers of the population beyond which a product is not multiplied out."""


_Key: TypeAlias = tuple[str, tuple[int, ...], StepValue]


class UnsupportedError(Exception):
    """Raised for an expression that arrays cannot compute; rows are then solved one by one."""


WORDS: dict[type[sympy.Expr], str] = {
    sympy.Add: "+",
    sympy.Mul: "*",
    sympy.Pow: "pow",
    Maximum: "max",
    Minimum: "min",
    Effective: "effective",
    sympy.exp: "exp",
    sympy.log: "ln",
    sympy.Abs: "abs",
    sympy.floor: "floor",
    sympy.ceiling: "ceil",
    sympy.cos: "cos",
    sympy.acos: "acos",
    sympy.harmonic: "harmonic",
    Ratio: "ratio",
    Mean: "mean",
    Waiting: "waiting",
    **{function: function.word for function in QUEUE_FUNCTIONS},
}
"""Operations of the table, by what they are in sympy."""

Powers = dict[int, int]
"""Powers of the population, each with the operation that gives its coefficient."""


@dataclass
class Builder:
    """Builds a program; `values` are the numbers of symbols, all others are inputs."""

    population: sympy.Symbol
    values: Mapping[sympy.Symbol, sympy.Expr]
    inputs: Mapping[sympy.Symbol, str]
    _steps: list[Step] = field(default_factory=list)
    _inputs: list[frozenset[str]] = field(default_factory=list)
    _varies: list[bool] = field(default_factory=list)
    _known: dict[_Key, int] = field(default_factory=dict)
    _built: dict[sympy.Expr, int] = field(default_factory=dict)
    _powers: dict[sympy.Expr, Powers | None] = field(default_factory=dict)
    _rests: dict[sympy.Expr, bool] = field(default_factory=dict)

    def program(self) -> Program:
        """Return what was built so far."""
        return Program(tuple(self._steps), tuple(self._inputs), tuple(self._varies))

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
        self._steps.append(Step(word, operands, value))
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
        return self.emit("+", min(one, other), max(one, other))

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
        return self.emit("*", min(one, other), max(one, other))

    def power(self, base: int, exponent: int) -> int:
        """Add an integer power of an operation."""
        value = self.value_of(base)
        if value is not None and (value != 0 or exponent > 0):
            return self.constant(value**exponent)
        if exponent == 1:
            return base
        if exponent == 0:
            return self.constant(1)
        return self.emit(POWER, base, value=exponent)

    def less(self, one: int, other: int) -> int:
        """Add the difference of two operations."""
        return self.add(one, self.multiply(self.constant(-1), other))

    # -- expressions ---------------------------------------------------------------------

    def build(self, expr: sympy.Expr) -> int:
        """Return the operation that gives an expression; UnsupportedError where none can."""
        known = self._built.get(expr)
        if known is None:
            powers = self.powers(expr)
            known = self._other(expr) if powers is None else self.horner(powers)
            self._built[expr] = known
        return known

    def powers(self, expr: sympy.Expr) -> Powers | None:
        """Return an expression by the powers of the population; None where it is not made so."""
        if expr not in self._powers:
            self._powers[expr] = self._as_powers(expr)
        return self._powers[expr]

    def _as_powers(self, expr: sympy.Expr) -> Powers | None:
        if expr == self.population:
            return {1: self.constant(1)}
        if not self._has_population(expr):
            return {0: self._free(expr)}
        if expr.is_Add:
            parts = [self.powers(argument) for argument in expr.args]
            known = [part for part in parts if part is not None]
            return self._sum(known) if len(known) == len(parts) else None
        if expr.is_Mul:
            parts = [self.powers(argument) for argument in expr.args]
            known = [part for part in parts if part is not None]
            return self._product(known) if len(known) == len(parts) else None
        if expr.is_Pow and expr.exp.is_Integer:
            base, exponent = self.powers(expr.base), int(expr.exp)
            if base is None or abs(exponent) > _LARGEST_POWER:
                return None
            if len(base) == 1:
                ((power, coefficient),) = base.items()
                return {power * exponent: self.power(coefficient, exponent)}
            return self._product([base] * exponent) if exponent > 0 else None
        return None

    def _has_population(self, expr: sympy.Expr) -> bool:
        known = self._rests.get(expr)
        if known is None:
            known = expr == self.population or any(map(self._has_population, expr.args))
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

    def _free(self, expr: sympy.Expr) -> int:
        """Return an expression in which there is no population."""
        known = self._built.get(expr)
        if known is None:
            known = self._built[expr] = self._other(expr)
        return known

    def _other(self, expr: sympy.Expr) -> int:
        """Return an expression by what it is at its top."""
        if expr.is_Rational:
            return self.constant(Fraction(expr.p, expr.q))
        if expr.is_Float:
            return self.constant(Fraction(float(expr)))
        if expr.is_Symbol:
            if expr in self.values:
                return self.build(self.values[expr])
            if expr in self.inputs:
                return self.emit(INPUT, value=self.inputs[expr])
            raise UnsupportedError(str(expr))
        if expr.is_Add:
            return self._joined(expr, is_sum=True)
        if expr.is_Mul:
            return self._joined(expr, is_sum=False)
        if expr.is_Pow:
            return self._pow(expr)
        return self._function(expr)

    def _joined(self, expr: sympy.Expr, *, is_sum: bool) -> int:
        """Return a sum or product: what is made of powers of the population joined first."""
        join = self.add if is_sum else self.multiply
        parts = [(argument, self.powers(argument)) for argument in expr.args]
        plain = [powers for _, powers in parts if powers is not None]
        others = [self.build(argument) for argument, powers in parts if powers is None]
        total: int | None = None
        if plain:
            powers = self._sum(plain) if is_sum else self._product(plain)
            if powers is None:
                others = [self.build(argument) for argument in expr.args]
            else:
                total = self.horner(powers)
        for other in sorted(others, key=lambda number: (self._varies[number], number)):
            total = other if total is None else join(total, other)
        assert total is not None
        return total

    def _pow(self, expr: sympy.Expr) -> int:
        base = self.build(expr.base)
        exponent = expr.exp
        if exponent.is_Integer:
            return self.power(base, int(exponent))
        if exponent == sympy.Rational(1, 2):
            return self.emit("sqrt", base)
        if exponent == -sympy.Rational(1, 2):
            return self.power(self.emit("sqrt", base), -1)
        return self.emit("pow", base, self.build(exponent))

    def _function(self, expr: sympy.Expr) -> int:
        if expr is sympy.E:
            return self.emit("exp", self.constant(1))
        arguments = [self.build(argument) for argument in expr.args]
        # By the very function: one that is derived from another may mean something else.
        if expr.func in (Maximum, Minimum):
            choose = max if expr.func is Maximum else min
            total = arguments[0]
            for argument in arguments[1:]:
                total = self._extreme(choose, total, argument)
            return total
        if isinstance(expr, Effective):
            cores, efficiency = (self.value_of(number) for number in arguments)
            if cores is None or efficiency is None:
                return self.emit("effective", *arguments)
            return self.constant(effective_cores(cores, efficiency))
        if isinstance(expr, sympy.LambertW):
            is_lower = len(expr.args) > 1 and expr.args[1] == -1
            if len(expr.args) > 1 and not is_lower:
                raise UnsupportedError(str(expr))
            return self.emit("lower_w" if is_lower else "w", arguments[0])
        if expr.func not in WORDS:
            raise UnsupportedError(str(expr.func))
        return self.emit(WORDS[expr.func], *arguments)

    def _extreme(self, choose: Callable[..., Fraction], one: int, other: int) -> int:
        first, second = self.value_of(one), self.value_of(other)
        if first is not None and second is not None:
            return self.constant(choose(first, second))
        return one if one == other else self.emit(choose.__name__, one, other)
