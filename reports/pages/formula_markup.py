"""Formulas typeset: presentation MathML, which browsers draw without any script."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from html import escape

from qps.compiler.diagnostics.render import printable
from qps.engine.expressions.formulas import Formula
from qps.reports.text.formulas.formula_layout import laid_out, operations

_MOST_OPERATIONS = 250
"""Beyond these a typeset formula is wider than any screen; a text that wraps reads better."""


class _Typeset:
    """Elements of MathML; names stand as they are: `cpu_1` is no index, `beta` no Greek letter."""

    groups_quotients = False
    keeps_fractions = False

    def named(self, name: str) -> str:
        return _element("mi", escape(printable(name)))

    def number(self, value: Fraction) -> str:
        whole = _element("mn", str(value.numerator))
        if value.denominator == 1:
            return whole
        return _element("mfrac", whole + _element("mn", str(value.denominator)))

    def plain(self, text: str) -> str:
        return _element("mtext", escape(text))

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        first, *others = terms
        joined = "".join(_sign("-" if is_off else "+") + text for is_off, text in others)
        return _row((_sign("-") if first[0] else "") + first[1] + joined)

    def product(self, factors: Sequence[str]) -> str:
        return factors[0] if len(factors) == 1 else _row(_sign("·").join(factors))

    def quotient(self, above: str, below: str) -> str:
        return _element("mfrac", above + below)

    def power(self, base: str, exponent: str) -> str:
        return _element("msup", base + exponent)

    def root(self, of: str) -> str:
        return _element("msqrt", of)

    def function(self, name: str, operands: Sequence[str]) -> str:
        return _row(self.named(name) + self.group(_sign(",").join(operands)))

    def group(self, text: str) -> str:
        return _row(_sign("(") + text + _sign(")"))


def _element(tag: str, content: str) -> str:
    return f"<{tag}>{content}</{tag}>"


def _sign(sign: str) -> str:
    return _element("mo", sign)


def _row(content: str) -> str:
    return _element("mrow", content)


def typeset(formula: Formula) -> str | None:
    """Return a formula as the content of a `math` element; None where it is too long.

    The text is escaped: names come from a spec.

    >>> from qps.engine.expressions.formulas import symbol
    >>> typeset(symbol("a<b") + 1)
    '<mrow><mi>a&lt;b</mi><mo>+</mo><mn>1</mn></mrow>'
    """
    return None if operations(formula) > _MOST_OPERATIONS else laid_out(formula, _Typeset())
