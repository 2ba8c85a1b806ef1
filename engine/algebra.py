"""Algebra on demand: formulas as sympy's expressions, for what is read and solved in symbols.

Nothing that a plain answer needs comes here: sympy takes longer to import than most specs to solve.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from itertools import islice
from typing import Any

import sympy
from sympy.printing.str import StrPrinter

from qps.engine.formulas import (
    MAXIMUM,
    MINIMUM,
    POWER,
    PRODUCT,
    SUM,
    UNDEFINED,
    Formula,
    parts_first,
)
from qps.engine.substitution import substituted


class _Operation(sympy.Function):  # type: ignore[misc] # sympy is untyped
    """An operation that sympy lacks: it stays as it stands, of numbers in digits where asked."""

    @classmethod
    def _should_evalf(cls, _argument: sympy.Expr) -> int:
        return -1  # of digits it stays as it stands, too: sympy would ask again without end

    def _eval_evalf(self, prec: int) -> sympy.Expr:
        return self.func(*(argument._evalf(prec) for argument in self.args))  # noqa: SLF001 - sympy's protocol


class Waiting(_Operation):
    """work/(1 - load), infinite from load 1 on: no quotient, which is negative there."""

    def _sympystr(self, printer: Any) -> str:
        work, load = self.args
        above = printer.parenthesize(work, 50)
        return f"{above}/(1 - {printer.parenthesize(load, 45)})"


class Effective(_Operation):
    """c · e^(log2 c) of a number of cores and their efficiency, as it stands."""

    def _sympystr(self, printer: Any) -> str:
        cores, efficiency = (printer._print(argument) for argument in self.args)  # noqa: SLF001
        return f"({cores}*{efficiency}^log2({cores}))"


@cache
def _operation(word: str) -> type[_Operation]:
    """Return the operation of a word as a function of sympy."""
    return type(word, (_Operation,), {})


def _largest(word: str) -> Callable[..., sympy.Expr]:
    """Return what makes a maximum or minimum; one of its kind inside it is put in its place."""
    function = _operation(word)

    def flat(*operands: sympy.Expr) -> sympy.Expr:
        parts = (o.args if o.func is function else (o,) for o in operands)
        return function(*(part for inner in parts for part in inner))

    return flat


_MADE: dict[str, Callable[..., sympy.Expr]] = {
    SUM: sympy.Add,
    PRODUCT: sympy.Mul,
    POWER: lambda base, exponent: sympy.Pow(base, exponent, evaluate=not base.is_Add),
    MAXIMUM: _largest(MAXIMUM),
    MINIMUM: _largest(MINIMUM),
    "ratio": lambda above, below: above / below,
    "mean": lambda above, below: above / below,
    "waiting": Waiting,
    "effective": Effective,
    "exp": sympy.exp,
    "ln": sympy.log,
    "abs": sympy.Abs,
    "floor": sympy.floor,
    "ceil": sympy.ceiling,
    "cos": sympy.cos,
    "acos": sympy.acos,
    "harmonic": sympy.harmonic,
    "w": sympy.LambertW,
    "lower_w": lambda operand: sympy.LambertW(operand, -1),
}
"""By word; all other operations are functions of that name."""


def to_sympy(formula: Formula) -> sympy.Expr:
    """Return a formula as sympy's: of real symbols, and a population that is a whole number."""
    known: dict[Formula, sympy.Expr] = {}
    for part in parts_first(formula):
        known[part] = (
            _MADE.get(part.word, _operation(part.word))(*(known[o] for o in part.operands))
            if part.operands
            else _leaf(part)
        )
    return known[formula]


def _leaf(leaf: Formula) -> sympy.Expr:
    if leaf.is_symbol:
        if leaf.is_population:
            return sympy.Symbol(leaf.name, integer=True, positive=True)
        return sympy.Symbol(leaf.name, real=True)
    value = leaf.exact
    if value is not None:
        return sympy.Rational(value.numerator, value.denominator)
    if leaf is UNDEFINED:
        return sympy.nan
    return sympy.oo if leaf.value == float("inf") else -sympy.oo


def root_of_linear(gap: Formula, population: Formula) -> sympy.Expr | None:
    """Return the population at which a formula is zero, in symbols; None where it is not linear.

    What cores do together is taken for one symbol, named as it is written.
    """
    expr, unknown = to_sympy(gap), to_sympy(population)
    whole = expr.xreplace({part: sympy.Symbol(str(part)) for part in expr.atoms(Effective)})
    if not whole.is_rational_function(*whole.free_symbols):
        return None
    above, _ = sympy.fraction(sympy.together(whole))
    polynomial = sympy.Poly(sympy.expand(above), unknown)
    if polynomial.degree() != 1:
        return None
    slope, offset = polynomial.all_coeffs()
    return sympy.factor(-offset / slope)


_MOST_PARTS = 64
_HIGHEST_POWER = 8
_MOST_ALGEBRAIC = 16
"""Parts, and powers, beyond which a number is not written in another form to find its sign."""


def is_zero(constant: Formula) -> bool:
    """Return whether a formula without symbols is zero; False where that is not told."""
    number = to_sympy(constant)
    parts = list(islice(sympy.preorder_traversal(number), _MOST_PARTS + 1))
    powers = (part.exp for part in parts if part.is_Pow and part.exp.is_Integer)
    if len(parts) > _MOST_PARTS or any(abs(power) > _HIGHEST_POWER for power in powers):
        return False
    written_out = number.expand(factor=True)
    if written_out.is_zero:
        return True
    parts = list(islice(sympy.preorder_traversal(written_out), _MOST_ALGEBRAIC + 1))
    if len(parts) > _MOST_ALGEBRAIC or not written_out.is_algebraic:
        return False
    return bool(sympy.minimal_polynomial(written_out).is_Symbol)


_DIGITS = 6


class _Notation(StrPrinter):  # type: ignore[misc] # sympy's printers are untyped
    """The notation of the language."""

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:  # noqa: N802, FBT001, FBT002
        return str(super()._print_Pow(expr, rational)).replace("**", "^")


def as_text(expr: sympy.Expr) -> str:
    """Return what algebra has made of a formula, in the notation of the language."""
    return str(_Notation().doprint(expr))


def multiplied_out(formula: Formula, values: Mapping[Formula, Formula]) -> str:
    """Return a formula with values put in and products of sums written out, to six digits."""
    plain = to_sympy(substituted(formula, values))
    put_in = sympy.expand(plain.replace(Waiting, lambda work, load: work / (1 - load)))
    return as_text(sympy.N(put_in, _DIGITS))
