"""Formulas as text: in symbols, and with the numbers of the spec put in."""

from __future__ import annotations

from collections.abc import Mapping

import sympy
from sympy.printing.str import StrPrinter

from qps.compiler.lower.load_graph import Assumption
from qps.engine.algebra import Waiting, to_sympy
from qps.engine.formulas import Formula
from qps.engine.substitution import substituted


class _Formula(StrPrinter):  # type: ignore[misc] # sympy's printers are untyped
    """Prints symbols by their names, or by what a mapping says instead."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        super().__init__()
        self._texts = texts

    def _print_Symbol(self, symbol: sympy.Symbol) -> str:  # noqa: N802 - sympy's name
        return self._texts.get(symbol.name, symbol.name)

    def _print_Pow(self, expr: sympy.Pow, rational: bool = False) -> str:  # noqa: N802, FBT001, FBT002
        return str(super()._print_Pow(expr, rational)).replace("**", "^")


def formula(expr: Formula) -> str:
    """Return a formula in symbols, in the notation of the language."""
    return as_text(to_sympy(expr))


def as_text(expr: sympy.Expr) -> str:
    """Return what algebra has made of a formula, in the notation of the language."""
    return str(_Formula({}).doprint(expr))


def with_numbers(expr: Formula, assumptions: Mapping[str, Assumption]) -> str:
    """Return an expression with each number as the spec writes it, unit and all."""
    texts = {
        name: a.text if a.text.replace(".", "").isdigit() else f"({a.text})"
        for name, a in assumptions.items()
    }
    return str(_Formula(texts).doprint(to_sympy(expr)))


def in_population(expr: Formula, values: Mapping[Formula, Formula]) -> str:
    """Return a formula with all numbers multiplied out: what is left is the population."""
    plain = to_sympy(substituted(expr, values))
    put_in = sympy.expand(plain.replace(Waiting, lambda work, load: work / (1 - load)))
    return as_text(sympy.N(put_in, 6))
