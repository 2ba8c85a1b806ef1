"""The load graph as a program that the page runs: a list of small steps, each a plain value.

Every step is an operation on earlier steps: `["*", 3, 7]` multiplies the third by the seventh.
Equal expressions are one step, whoever asks for them, so that all variants of a model share one
program. It is data: a page with a strict content policy runs it without compiling any text.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

import sympy

from qps.compiler.lower.efficiency import Effective
from qps.compiler.lower.extremes import Maximum, Mean, Minimum, Ratio
from qps.compiler.lower.queue_functions import QUEUE_FUNCTIONS, Waiting
from qps.engine.operations import OPERATIONS

Step = tuple[object, ...]
"""An operation and what it works on: numbers of earlier steps, or the parts of a constant."""

_FUNCTIONS: dict[type[sympy.Expr], str] = {
    sympy.exp: "exp",
    sympy.log: "ln",
    sympy.Abs: "abs",
    sympy.ceiling: "ceil",
    sympy.floor: "floor",
    sympy.cos: "cos",
    sympy.acos: "acos",
    Effective: "effective",
    Ratio: "ratio",
    Mean: "mean",
    Waiting: "waiting",
    sympy.harmonic: "harmonic",
    **{function: function.word for function in QUEUE_FUNCTIONS},
}
OWN_WORDS = ("-", "/", "^")
"""Operations that only programs of pages have; all others are rows of the table of operations."""

_SAFE_INTEGER = 2**53 - 1


class UnknownOperationError(Exception):
    """An expression holds a function that the page's program lacks; `name` is what it is called."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`{name}` has no step in the page's program")
        self.name = name


class Program:
    """Steps that several expressions share; `step` adds what an expression needs.

    >>> n = sympy.Symbol("N")
    >>> program = Program(n)
    >>> program.step(2 * n + 2 * n * n), program.steps
    (5, [('n',), ('number', 2, 1), ('*', 1, 0), ('^', 0, 1), ('*', 1, 3), ('+', 2, 4)])
    """

    def __init__(self, population: sympy.Symbol) -> None:
        self.population = population.name
        self.steps: list[Step] = [("n",)]
        self._known: dict[Step, int] = {("n",): 0}
        self._steps_of: dict[sympy.Expr, int] = {}

    def step(self, expr: sympy.Expr) -> int:
        """Return the number of the step that computes an expression."""
        known = self._steps_of.get(expr)
        if known is None:
            known = self._steps_of[expr] = self._added(expr)
        return known

    def join(self, operation: str, *steps: int) -> int:
        """Return the step that applies an operation to other steps."""
        return self._keep((operation, *steps))

    @property
    def laws(self) -> dict[str, dict[str, tuple[int, ...]]]:
        """With which of its operands each operation grows, where the table says it; which count."""
        words = {str(word) for word, *_ in self.steps}
        rows = [row for word, row in OPERATIONS.items() if row.by_ends and word in words]
        return {row.word: {"grows": row.grows, "whole": row.whole} for row in rows}

    def _keep(self, step: Step) -> int:
        known = self._known.get(step)
        if known is None:
            known = self._known[step] = len(self.steps)
            self.steps.append(step)
        return known

    def _added(self, expr: sympy.Expr) -> int:
        if expr.is_Symbol:
            is_population = expr.name == self.population
            return 0 if is_population else self._keep(("value", expr.name))
        if expr.is_Rational:
            return self.constant(expr)
        if expr.is_Add or isinstance(expr, Maximum | Minimum):
            word = "+" if expr.is_Add else ("max" if isinstance(expr, Maximum) else "min")
            return self._folded(word, [self.step(argument) for argument in expr.args])
        if expr.is_Mul:
            return self._product(expr)
        if expr.is_Pow:
            return self._power(expr)
        if isinstance(expr, sympy.LambertW):
            lower = len(expr.args) > 1 and expr.args[1] == -1
            return self._keep(("lower_w" if lower else "w", self.step(expr.args[0])))
        word = _FUNCTIONS.get(expr.func, "")
        if word:
            return self._keep((word, *(self.step(argument) for argument in expr.args)))
        if expr.is_number and expr.is_extended_real:
            return self._keep(("float", float(expr)))
        raise UnknownOperationError(getattr(expr.func, "word", expr.func.__name__))

    def constant(self, value: sympy.Rational) -> int:
        """Return the step of an exact number; what JSON's numbers cannot hold is a text."""
        parts = (int(value.p), int(value.q))
        return self._keep(("number", *(p if abs(p) <= _SAFE_INTEGER else str(p) for p in parts)))

    def _folded(self, word: str, steps: list[int]) -> int:
        join: Callable[[int, int], int] = lambda one, other: self._keep((word, one, other))  # noqa: E731
        return reduce(join, steps)

    def _product(self, expr: sympy.Mul) -> int:
        """Return a quotient of two products: fewer roundings than by reciprocals."""
        above, below = [], []
        for factor in expr.args:
            if factor.is_Pow and factor.exp.is_Rational and factor.exp < 0:
                below.append(self.step(factor.base**-factor.exp))
            else:
                above.append(self.step(factor))
        dividend = self._folded("*", above) if above else self.constant(sympy.S.One)
        return self._keep(("/", dividend, self._folded("*", below))) if below else dividend

    def _power(self, expr: sympy.Pow) -> int:
        base, exponent = expr.args
        if exponent == sympy.S.Half:
            return self._keep(("sqrt", self.step(base)))
        if exponent.is_Rational and exponent < 0:
            one = self.constant(sympy.S.One)
            return self._keep(("/", one, self.step(base**-exponent)))
        if exponent.is_Integer and abs(exponent) <= _SAFE_INTEGER:
            return self._keep(("^", self.step(base), self.constant(exponent)))
        return self._keep(("pow", self.step(base), self.step(exponent)))
