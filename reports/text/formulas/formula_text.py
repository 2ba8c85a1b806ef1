"""Formulas as text: in symbols, and with the numbers of the spec put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from qps.compiler.lower.load_graph import Assumption
from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import Formula, number
from qps.engine.expressions.monomials import expanded
from qps.engine.expressions.point_values import in_floats
from qps.engine.expressions.substitution import remade, substituted
from qps.engine.operations import OPERATIONS, PRODUCT, SUM
from qps.reports.text.formulas.formula_layout import laid_out


@dataclass(frozen=True)
class _Text:
    """The notation of the language; names may stand for texts of their own."""

    texts: Mapping[str, str] = field(default_factory=dict)
    groups_quotients: bool = True
    keeps_fractions: bool = False

    def named(self, name: str) -> str:
        return self.texts.get(name, name)

    def number(self, value: Fraction) -> str:
        return str(value)

    def plain(self, text: str) -> str:
        return text

    def sum(self, terms: Sequence[tuple[bool, str]]) -> str:
        first, *others = terms
        joined = "".join(f" {'-' if is_off else '+'} {text}" for is_off, text in others)
        return f"{'-' if first[0] else ''}{first[1]}{joined}"

    def product(self, factors: Sequence[str]) -> str:
        return "*".join(factors)

    def quotient(self, above: str, below: str) -> str:
        return f"{above}/{below}"

    def power(self, base: str, exponent: str) -> str:
        return f"{base}^{exponent}"

    def root(self, of: str) -> str:
        return f"sqrt({of})"

    def function(self, name: str, operands: Sequence[str]) -> str:
        return f"{name}({', '.join(operands)})"

    def group(self, text: str) -> str:
        return f"({text})"


@dataclass(frozen=True)
class _Digits(_Text):
    """The same with numbers to six digits."""

    keeps_fractions: bool = True

    def number(self, value: Fraction) -> str:
        try:
            return _in_all_digits(f"{float(value):.6g}")
        except OverflowError:
            return f"10^{len(str(value.numerator // value.denominator)) - 1}"


_LEAST_POWER, _MOST_POWER = -9, 15


def _in_all_digits(text: str) -> str:
    """Return a number with all its digits, as the language takes them, where that can be read.

    >>> _in_all_digits("9.52e-05"), _in_all_digits("7.2e+09"), _in_all_digits("1e-20")
    ('0.0000952', '7_200_000_000', '1e-20')
    """
    _, _, power = text.partition("e")
    if not power or not _LEAST_POWER <= int(power) <= _MOST_POWER:
        return text
    return f"{Decimal(text):,f}".replace(",", "_")


def formula(expr: Formula) -> str:
    """Return a formula in symbols, in the notation of the language."""
    return laid_out(expr, _Text())


def with_numbers(expr: Formula, assumptions: Mapping[str, Assumption]) -> str:
    """Return a formula with each number as the spec writes it, unit and all."""
    texts = {
        name: a.text if a.text.replace(".", "").isdigit() else f"({a.text})"
        for name, a in assumptions.items()
    }
    return laid_out(expr, _Text(texts))


_MOST_WRITTEN_OUT = 2_000
"""Parts of a formula, beyond which nobody reads it: its products stay as they are."""


def in_population(expr: Formula, values: Mapping[Formula, Formula], population: Formula) -> str:
    """Return a formula with all numbers put in and multiplied out, to six digits."""
    whole = substituted(expr, values)
    parts = parts_first(whole)
    if len(parts) <= _MOST_WRITTEN_OUT:
        whole = _written_out(parts, {population, 1 / population})
    return laid_out(whole, _Digits())


def _written_out(parts: Sequence[Formula], atoms: set[Formula]) -> Formula:
    """Return the last of some parts with products of sums written out, in all that is in it."""
    known: dict[Formula, Formula] = {}
    for part in parts:
        operands = tuple(known[operand] for operand in part.operands)
        if part.is_constant:
            known[part] = part if part.exact is not None else number(in_floats(part))
        elif part.word in (SUM, PRODUCT) or not operands or (whole_exponent(part) or 0) > 0:
            known[part] = remade(part, operands)
        elif divisor := OPERATIONS[part.word].divisor:
            known[part] = operands[0] / divisor(expanded(operands[1], atoms))
        else:
            known[part] = remade(part, tuple(expanded(one, atoms) for one in operands))
            atoms.add(known[part])
    return expanded(known[parts[-1]], atoms)
