"""Formulas as text: in symbols, and with the numbers of the spec put in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from qps.compiler.lower.load_graph import Assumption
from qps.engine.formulas import POWER, PRODUCT, SUM, Formula, number, parts_first
from qps.engine.points import in_floats
from qps.engine.substitution import substituted
from qps.reports.text.formula_layout import laid_out


@dataclass(frozen=True)
class _Text:
    """The notation of the language; names may stand for texts of their own."""

    texts: Mapping[str, str] = field(default_factory=dict)
    groups_quotients: bool = True

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


def in_population(expr: Formula, values: Mapping[Formula, Formula]) -> str:
    """Return a formula with all numbers multiplied out: what is left is the population."""
    from qps.engine import algebra  # noqa: PLC0415 - slow to import, and only asked for here

    whole = substituted(expr, values)
    constants = (part for part in parts_first(whole) if part.is_constant and part.operands)
    plain = (SUM, PRODUCT, POWER)
    numbers = {part: number(in_floats(part)) for part in constants if part.word not in plain}
    return algebra.multiplied_out(whole, numbers)
