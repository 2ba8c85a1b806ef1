"""What is known of the sign of a formula while its symbols are anywhere in known ranges.

A range holds every value that there is; it may be wider than the values are, never narrower.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import ceil, floor, inf, isfinite, isinf

from qps.engine.formulas import MAXIMUM, MINIMUM, POWER, PRODUCT, SUM, Formula, parts_first
from qps.engine.operations import OPERATIONS
from qps.engine.points import NoSignError, sign

End = Fraction | float
"""A fraction or an infinity."""


@dataclass(frozen=True, slots=True)
class Range:
    """What lies between two ends."""

    low: End = -inf
    high: End = inf

    @property
    def below(self) -> bool:
        """Whether there may be values below zero."""
        return self.low < 0

    @property
    def above(self) -> bool:
        """Whether there may be values above zero."""
        return self.high > 0


ANY = Range()
NOT_NEGATIVE = Range(Fraction(0), inf)
NOT_POSITIVE = Range(-inf, Fraction(0))
_POPULATION = Range(Fraction(1), inf)


def range_of(formula: Formula, known: Mapping[Formula, Range], *, by_sign: bool = True) -> Range:
    """Return a range of a formula; `known` has those of symbols, which may be anything else.

    Of constants that are no fractions the sign is asked for, unless told not to: `by_sign`.
    """
    found: dict[Formula, Range] = {}
    for part in parts_first(formula):
        if part.is_constant and (by_sign or not part.operands):
            found[part] = range_of_constant(part)
        elif part.is_symbol:
            found[part] = known.get(part, _POPULATION if part.is_population else ANY)
        else:
            found[part] = _range(part, [found[operand] for operand in part.operands])
    return found[formula]


def range_of_constant(constant: Formula) -> Range:
    """Return a range of what has no symbols: its value, or the side of zero on which it lies."""
    value = constant.exact
    if value is not None:
        return Range(value, value)
    try:
        side = sign(constant)
    except NoSignError:
        return ANY
    if side is None:
        return ANY
    return Range(Fraction(0) if side >= 0 else -inf, Fraction(0) if side <= 0 else inf)


def _range(part: Formula, operands: Sequence[Range]) -> Range:
    if part.word == SUM:
        return Range(_sum([one.low for one in operands]), _sum([one.high for one in operands]))
    if part.word == PRODUCT:
        return reduce(_product, operands)
    if part.word == POWER:
        return _power(operands[0], part.operands[1].exact)
    if part.word == MAXIMUM:
        return Range(max(one.low for one in operands), max(one.high for one in operands))
    if part.word == MINIMUM:
        return Range(min(one.low for one in operands), min(one.high for one in operands))
    rule = _RULES.get(part.word)
    if rule is not None:
        return rule(*operands)
    low, high = OPERATIONS[part.word].lies
    return Range(
        Fraction(low) if isfinite(low) else low, Fraction(high) if isfinite(high) else high
    )


def _sum(ends: Sequence[End]) -> End:
    infinite = [end for end in ends if isinf(end)]
    return infinite[0] if infinite else sum(ends, Fraction(0))


def _times(one: End, other: End) -> End:
    if one == 0 or other == 0:
        return Fraction(0)
    if isinf(one) or isinf(other):
        return inf if (one > 0) == (other > 0) else -inf
    return one * other


def _product(one: Range, other: Range) -> Range:
    ends = [_times(a, b) for a in (one.low, one.high) for b in (other.low, other.high)]
    return Range(min(ends), max(ends))


def _power(base: Range, exponent: Fraction | None) -> Range:
    if not base.below:
        # x^y is not negative; with y above zero not below 1 where x is not.
        is_large = exponent is not None and exponent > 0 and base.low >= 1
        return Range(Fraction(1), inf) if is_large else NOT_NEGATIVE
    if exponent is None or exponent.denominator != 1:
        return ANY
    if exponent.numerator % 2 == 0:
        return NOT_NEGATIVE
    if not base.above:
        return NOT_POSITIVE
    return ANY


def _quotient(above: Range, below: Range) -> Range:
    return ANY if below.below else _product(above, NOT_NEGATIVE)


def _waiting(work: Range, _load: Range) -> Range:
    return ANY if work.below else NOT_NEGATIVE


def _rounded(rounding: Callable[[Fraction], int]) -> Callable[[Range], Range]:
    def ends(one: Range) -> Range:
        low, high = (
            end if isinstance(end, float) else Fraction(rounding(end))
            for end in (one.low, one.high)
        )
        return Range(low, high)

    return ends


def _exponential(of: Range) -> Range:
    # e^x is never below 1 + x.
    return Range(of.low + 1 if of.low > -1 else Fraction(0), inf)


def _logarithm(of: Range) -> Range:
    return Range(Fraction(0) if of.low >= 1 else -inf, Fraction(0) if of.high <= 1 else inf)


def _same_side(of: Range) -> Range:
    return Range(-inf if of.below else Fraction(0), inf if of.above else Fraction(0))


_RULES: dict[str, Callable[..., Range]] = {
    "ratio": _quotient,
    "mean": _quotient,
    "waiting": _waiting,
    "floor": _rounded(floor),
    "ceil": _rounded(ceil),
    "ln": _logarithm,
    "w": _same_side,
    "lower_w": lambda _: NOT_POSITIVE,
    "exp": _exponential,
    **dict.fromkeys(("abs", "acos"), lambda _: NOT_NEGATIVE),
}
"""By word; all values of what has no rule lie where its row in the table says."""
