"""Formulas typeset: presentation MathML, which browsers draw without any script."""

from __future__ import annotations

from html import escape
from xml.dom.minidom import Element

import sympy
from sympy.printing.mathml import MathMLPresentationPrinter

from qps.compiler.diagnostics.render import printable
from qps.engine.algebra import Effective, to_sympy
from qps.engine.formulas import Formula

_MOST_OPERATIONS = 120
"""Beyond these a typeset formula is wider than any screen; a text that wraps reads better."""


class _Typeset(MathMLPresentationPrinter):  # type: ignore[misc] # sympy's printers are untyped
    """Prints names as they are: `cpu_1` is no index, `beta` no Greek letter."""

    def _print_Symbol(self, symbol: sympy.Symbol, style: str = "plain") -> Element:  # noqa: ARG002, N802
        return self._word("mi", symbol.name)

    def _print_max(self, expr: sympy.Expr) -> Element:
        return self._applied("max", expr)

    def _print_min(self, expr: sympy.Expr) -> Element:
        return self._applied("min", expr)

    def _print_Effective(self, expr: Effective) -> Element:  # noqa: N802
        cores, efficiency = expr.args
        # As a product: it stands in divisors, which a fraction holds together by itself.
        product: Element = self._print(cores * efficiency ** sympy.Function("log2")(cores))
        return product

    def _print_LambertW(self, expr: sympy.LambertW) -> Element:  # noqa: N802
        is_lower = len(expr.args) > 1 and expr.args[1] == -1
        return self._applied("lower_lambert_w" if is_lower else "lambert_w", expr, 1)

    def _print_exp(self, expr: sympy.exp) -> Element:
        return self._applied("exp", expr)

    def _applied(self, name: str, expr: sympy.Expr, count: int | None = None) -> Element:
        row: Element = self.dom.createElement("mrow")
        row.appendChild(self._word("mi", name))
        row.appendChild(self._word("mo", "("))
        for index, argument in enumerate(expr.args[:count]):
            if index:
                row.appendChild(self._word("mo", ","))
            row.appendChild(self._print(argument))
        row.appendChild(self._word("mo", ")"))
        return row

    def _word(self, tag: str, text: str) -> Element:
        word: Element = self.dom.createElement(tag)
        # sympy writes texts without escaping them, for the sake of its own entities.
        word.appendChild(self.dom.createTextNode(escape(printable(text))))
        return word


def typeset(formula: Formula) -> str | None:
    """Return a formula as the content of a `math` element; None where it is too long.

    The text is escaped: names come from a spec.

    >>> typeset(symbol("a<b") + 1)
    '<mrow><mi>a&lt;b</mi><mo>+</mo><mn>1</mn></mrow>'
    """
    expr = to_sympy(formula)
    if expr.count_ops() > _MOST_OPERATIONS:
        return None
    printer = _Typeset({"mul_symbol": "·"})
    return str(printer.doprint(expr))
