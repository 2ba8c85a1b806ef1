"""How often something is done that may be done by chance: at most once, or more."""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.symbolic_numbers import Assuming
from qps.engine.expressions.formulas import ONE, Formula
from qps.engine.expressions.signs import range_of
from qps.engine.numerics.value_ranges import ValueRange


def is_always_a_share(times: Formula, numbers: Assuming) -> bool:
    """Return whether a number is at most 1, whatever the numbers that are moving."""

    def is_share(formula: Formula, ranges: Mapping[Formula, ValueRange]) -> bool:
        if formula.is_constant:
            return compare("<=", formula, ONE)
        return range_of(formula, ranges).high <= 1

    return numbers.structure_of(times, is_share)
