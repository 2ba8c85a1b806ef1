"""Values put in for symbols, in each part of an expression once, however often it occurs.

A load stands in every latency, loss and axis that rests on it: written out, a quality of a few
hundred different parts has some hundred thousand. sympy's own `xreplace` visits them all.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from qps.compiler.lower.powers import power


class Substitution:
    """Puts values in for symbols; what it was asked for it remembers."""

    def __init__(self, values: Mapping[sympy.Symbol, sympy.Expr]) -> None:
        self._known: dict[sympy.Expr, sympy.Expr] = dict(values)

    def __call__(self, expr: sympy.Expr) -> sympy.Expr:
        """Return an expression with the values put in, evaluated as sympy does."""
        found = self._known.get(expr)
        if found is None:
            arguments = [self(argument) for argument in expr.args]
            same = all(new is old for new, old in zip(arguments, expr.args, strict=True))
            made = power if expr.is_Pow else expr.func
            found = expr if same else made(*arguments)
            self._known[expr] = found
        return found
