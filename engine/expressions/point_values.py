"""Formulas at a point: exact as far as they can be, else in balls that hold the value for sure.

Every part is done once. Where bounds in floats show a sign, no more is requested; else what is no
fraction is computed in balls (python-flint's arb), with ever more binary digits until the sign, or
the nearest float, is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import lru_cache
from math import inf, isfinite, isnan, ldexp, nan
from typing import TYPE_CHECKING

from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError, as_float
from qps.engine.expressions.formula_parts import parts_first, whole_exponent
from qps.engine.expressions.formulas import Formula, formula
from qps.engine.expressions.monomials import expanded
from qps.engine.expressions.substitution import Substitution
from qps.engine.leaves import NUMBER
from qps.engine.numerics.sloped_intervals import NOTHING_KNOWN, SlopedInterval, around
from qps.engine.operations import EXTREMES, OPERATIONS, PRODUCT, ROUNDINGS, SUM

if TYPE_CHECKING:
    from flint import arb

BITS = (128, 1024, 8192, 32768)
"""Binary digits with which a sign is sought, one after the other."""

_FLOAT_BITS = (64, 128, 1024)

Exact = Fraction | float
"""A fraction, an infinity, or not-a-number where there is no value."""


_UNDECIDED = 2
"""What stands for a sign that balls do not decide."""


class NoSignError(ArithmeticError):
    """A number is so near to zero that the most digits do not determine on which side it lies."""


class EvaluationPoint:
    """A value for each symbol of some formulas, and what the formulas come to there.

    A value may be a formula without symbols: the root of 2 is no fraction.
    """

    def __init__(self, values: Mapping[Formula, Formula | Fraction]) -> None:
        self._values = {part: formula(value) for part, value in values.items()}
        self._exact: dict[Formula, Exact | None] = {}
        self._exact |= {part: self.exact(value) for part, value in self._values.items()}
        self._balls: dict[int, dict[Formula, arb]] = {}
        self._bounds: dict[Formula, SlopedInterval] = {}

    def moved(self, values: Mapping[Formula, Formula]) -> EvaluationPoint:
        """Return the point with other values of some symbols; what is free of these is known."""
        other = EvaluationPoint({})
        other._values = {**self._values, **values}
        other._exact = {
            part: value
            for part, value in self._exact.items()
            if part.symbols.isdisjoint(values.keys())
        }
        other._exact |= {part: other.exact(value) for part, value in values.items()}
        return other

    def exact(self, formula: Formula) -> Exact | None:
        """Return the value as a fraction; an infinity, or not-a-number where there is none.

        None where it is no fraction, or cannot be determined to be one.
        """
        known = self._exact
        if formula not in known:
            for part in parts_first(formula, known=known):
                known[part] = _exact(part, [known[operand] for operand in part.operands])
                if known[part] is None and part.word in _CHOOSING:
                    known[part] = self._chosen(part)
        return known[formula]

    def _chosen(self, part: Formula) -> Exact | None:
        """Return the exact value of what chooses among numbers that bounds or balls distinguish."""
        row = OPERATIONS[part.word]
        if row.chooses and all(self._exact[operand] is None for operand in part.operands):
            return None
        known = self._bounded(part)
        if row.rounds and known.low == known.high:
            return Fraction(known.low)
        if row.chooses and (one := self._chosen_by_bounds(part)) is not None:
            return self._exact[one]
        try:
            whole = self._ball(part, BITS[0])
        except NoValueError:
            return None
        if part.word in ROUNDINGS:
            found = whole.unique_fmpz() if whole.is_exact() and whole.is_finite() else None
            return None if found is None else Fraction(int(found))
        sign = OPERATIONS[part.word].chooses
        balls = {operand: self._ball(operand, BITS[0]) * sign for operand in part.operands}
        for operand, ball in balls.items():
            if all(ball > other for one, other in balls.items() if one is not operand):
                return self._exact[operand]
        return None

    def _chosen_by_bounds(self, part: Formula) -> Formula | None:
        """Return which operand is chosen for sure; None where bounds do not decide."""
        is_largest = OPERATIONS[part.word].chooses > 0
        sides = {operand: self._bounded(operand) for operand in part.operands}
        if NOTHING_KNOWN in sides.values():
            return None
        for operand, one in sides.items():
            others = [other for of, other in sides.items() if of is not operand]
            if all(one.low > o.high if is_largest else one.high < o.low for o in others):
                return operand
        return None

    def sign(self, formula: Formula) -> int | None:
        """Return the sign; None without a finite real value. NoSignError where undecided."""
        value = self.exact(formula)
        if value is not None:
            is_finite = isinstance(value, Fraction) or isfinite(value)
            return (value > 0) - (value < 0) if is_finite else None
        bounds = self._bounded(formula)
        if bounds.is_above or bounds.is_below:
            return 1 if bounds.is_above else -1
        found = self._sign_by_balls(formula, BITS[:1])
        if found != _UNDECIDED:
            return found
        forms = [(self, formula)]
        # What is too long to be put in exactly has its digits alone.
        with suppress(PowerTooLongError):
            constant, point = _written_out(self.constant(formula)), EvaluationPoint({})
            if constant.exact is not None:
                return point.sign(constant)
            found = point._sign_by_balls(constant, BITS[:2])
            if found != _UNDECIDED:
                return found
            if _is_zero(constant):
                return 0
            forms.append((point, constant))
        for one, form in forms:
            found = one._sign_by_balls(form, BITS)  # noqa: SLF001 - its own kind
            if found != _UNDECIDED:
                return found
        raise NoSignError

    def constant(self, formula: Formula) -> Formula:
        """Return a formula with the values put in."""
        return Substitution(self._values)(formula)

    def _sign_by_balls(self, formula: Formula, precisions: Sequence[int]) -> int | None:
        """Return the sign as balls of some precisions show it, or `_UNDECIDED`.

        So it is, too, where more digits make the ball no smaller: some of it is known as floats.
        """
        before, fewer = inf, 0
        for bits in precisions:
            try:
                ball = self._ball(formula, bits)
            except NoValueError:
                return None
            if ball > 0 or ball < 0:
                is_finite = ball.is_finite() or not ball.is_exact()
                return (1 if ball > 0 else -1) if is_finite else None
            if ball.is_zero():
                return 0
            radius = float(ball.rad())
            if _is_no_smaller(radius, before, bits - fewer):
                break
            before, fewer = radius, bits
        return _UNDECIDED

    def number(self, formula: Formula) -> float:
        """Return the value as a float; infinite, or not-a-number, where it is so.

        Where more digits make the ball hardly smaller, no more are requested.
        """
        value = self.exact(formula)
        if value is not None:
            return as_float(value)
        found, before, fewer = nan, inf, 0
        for bits in _FLOAT_BITS:
            try:
                ball = self._ball(formula, bits)
            except NoValueError:
                return nan
            low, high = float(ball.lower()), float(ball.upper())
            if low == high:
                return low
            found = float(ball.mid()) if ball.is_finite() else nan
            radius = float(ball.rad())
            is_rounded_off = _is_no_smaller(radius, before, bits - fewer)
            if ball.rel_accuracy_bits() >= _ENOUGH_BITS or is_rounded_off:
                break
            before, fewer = radius, bits
        return found

    def _bounded(self, formula: Formula) -> SlopedInterval:
        """Return between which floats the value lies; nothing known where a part may have none."""
        known = self._bounds
        if formula not in known:
            for part in parts_first(formula, known=known):
                known[part] = self._bounds_of(part, known)
        return known[formula]

    def _bounds_of(self, part: Formula, known: Mapping[Formula, SlopedInterval]) -> SlopedInterval:
        value = self._exact.get(part)
        if value is not None:
            return around(value) if isinstance(value, Fraction) else NOTHING_KNOWN
        if part in self._values:
            return self._bounded(self._values[part])
        operands = [known[operand] for operand in part.operands]
        if not operands or NOTHING_KNOWN in operands:
            return NOTHING_KNOWN
        found = OPERATIONS[part.word].interval(*operands).sound()
        return found if isfinite(found.low) and isfinite(found.high) else NOTHING_KNOWN

    def _ball(self, formula: Formula, bits: int) -> arb:
        """Return a ball that holds the value; NoValueError where there is none."""
        from flint import ctx  # noqa: PLC0415 - seldom needed

        known = self._balls.setdefault(bits, {})
        if formula not in known:
            before, ctx.prec = ctx.prec, bits
            try:
                self._fill(formula, known)
            finally:
                ctx.prec = before
        return known[formula]

    def _fill(self, formula: Formula, known: dict[Formula, arb]) -> None:
        from flint import arb, fmpq  # noqa: PLC0415 - seldom needed

        for part in parts_first(formula, known=known):
            value = self.exact(part)
            if value is None and part in self._values:
                self._fill(self._values[part], known)
                known[part] = known[self._values[part]]
            elif value is None:
                known[part] = _ball_of(part, [known[operand] for operand in part.operands])
            elif isinstance(value, Fraction):
                known[part] = arb(fmpq(value.numerator, value.denominator))
            elif isnan(value):
                raise NoValueError
            else:
                known[part] = arb(value)


_MOST_SHARED = 4096
_shared: dict[tuple[Formula, int], arb] = {}
"""Balls of what has no symbols, by their binary digits: they are the same at every point.

A search needs the sign of one formula at hundreds of points; networks of queues in it that do
not rest on what is searched for take nearly all of the time.
"""


def _ball_of(part: Formula, operands: Sequence[arb]) -> arb:
    """Return what an operation makes of balls."""
    from flint import ctx  # noqa: PLC0415 - seldom needed

    key = part, ctx.prec
    known = None if part.symbols else _shared.get(key)
    if known is not None:
        return known
    found = OPERATIONS[part.word].ball(*operands)
    if not part.symbols:
        if len(_shared) >= _MOST_SHARED:
            _shared.clear()
        _shared[key] = found
    return found


_LEAST_GAIN = 0.25
"""Where digits help, a ball is smaller by nearly all bits that are added: this part at least."""


def _is_no_smaller(radius: float, before: float, more_bits: int) -> bool:
    """Return whether more bits made a ball hardly smaller: some of it is known as floats."""
    return 0 < before < inf and radius >= ldexp(before, -int(more_bits * _LEAST_GAIN))


_CHOOSING = (*EXTREMES, *ROUNDINGS)
"""What gives a fraction also for numbers that are none."""

_ENOUGH_BITS = 60
"""So many bits are more than a float has: the nearest one, or its neighbor."""


def _exact(part: Formula, operands: Sequence[Exact | None]) -> Exact | None:
    """Return the exact value of an operation on the values of its operands."""
    if part.word == NUMBER:
        assert isinstance(part.value, Fraction | float)
        return part.value
    if not operands:
        raise AssertionError(f"{part} has no value")
    known = [value for value in operands if value is not None]
    if any(isinstance(value, float) and isnan(value) for value in known):
        return nan
    if len(known) < len(operands):
        return None
    try:
        return OPERATIONS[part.word].exact(*known)
    except (InexactError, PowerTooLongError):
        return None
    except NoValueError:
        return nan


@lru_cache(maxsize=64)  # each holds a value for every part of a formula
def point_of(symbol: Formula, at: Fraction) -> EvaluationPoint:
    """Return the point at which a symbol has a value: what is evaluated there is remembered."""
    return EvaluationPoint({symbol: at})


def sign(constant: Formula) -> int | None:
    """Return the sign of a formula without symbols; None where it has no finite real value."""
    return EvaluationPoint({}).sign(constant)


def in_floats(constant: Formula) -> float:
    """Return the value of a formula without symbols as a float."""
    return EvaluationPoint({}).number(constant)


def _written_out(constant: Formula) -> Formula:
    """Return a constant as a sum, each product of sums multiplied out: what is alike cancels."""
    atoms = {part for part in parts_first(constant) if part.operands and not _is_rational(part)}
    return expanded(constant, atoms)


def _is_rational(part: Formula) -> bool:
    """Return whether a part is a sum, a product or a whole power of others."""
    return part.word in (SUM, PRODUCT) or whole_exponent(part) is not None


def _is_zero(constant: Formula) -> bool:
    """Return whether a constant is zero, as algebra knows, which large exponentials would halt."""
    for part in parts_first(constant):
        bound = OPERATIONS[part.word].cancels if part.operands else inf
        if bound < inf and not all(abs(in_floats(operand)) < bound for operand in part.operands):
            return False
    from qps.engine.expressions.sympy_algebra import is_zero  # noqa: PLC0415 - slow to import, seldom needed

    return is_zero(constant)
