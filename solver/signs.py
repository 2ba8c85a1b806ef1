"""The sign of a number that is no fraction: certain, or not told.

It is computed in intervals (mpmath's), which are rounded outwards, with ever more binary digits
until zero is not among what the number can be. A number that may be zero is tried in another form.
Where the most digits do not tell, `NoSignError` says so: nothing is taken for the sign of noise.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from functools import reduce
from itertools import islice
from operator import add, mul
from typing import TYPE_CHECKING, Any

import sympy
from mpmath import iv

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Label, QpsError
from qps.compiler.diagnostics.source import Span

if TYPE_CHECKING:
    from collections.abc import Iterator

_BITS = (128, 1024, 8192, 32768)
"""Binary digits with which a sign is sought, one after the other."""

_MOST_PARTS = 64
_HIGHEST_POWER = 8
_MOST_ALGEBRAIC = 16
"""Parts, and powers, beyond which a number is not written in another form to find its sign."""

_LARGEST = 2.0**64
"""Exponentials and cosines of larger numbers are not computed: they take ever more digits."""


class NoSignError(QpsError):
    """A number is so near to zero that the most digits do not tell on which side it lies."""

    def __init__(self, what: str = "a value", span: Span | None = None) -> None:
        message = (
            f"{what} comes so near to its limit that "
            f"{_BITS[-1]:,} binary digits do not tell on which side it lies"
        )
        hint = "take a limit that it does not approach so closely, or a narrower range"
        primary = None if span is None else Label(span, "")
        super().__init__([Diagnostic(codes.UNDECIDED, message, primary, hints=(hint,))])

    def of(self, name: str, span: Span | None) -> NoSignError:
        """Return the same of a requirement that has a name and a place."""
        return NoSignError(f"`{name}`", span)


def sign_of(number: sympy.Expr) -> int | None:
    """Return the sign of a finite number, None where it is not real. NoSignError where untold."""
    if number.is_Rational or number.is_Float:
        return int(sympy.sign(number))
    forms = [number]
    for bits in _BITS:
        for form in forms:
            bounds = _bounds(form, bits)
            if bounds is None:
                return None
            if bounds.a > 0 or bounds.b < 0:
                return 1 if bounds.a > 0 else -1
            if bounds.a == bounds.b == 0:
                return 0
        if len(forms) == 1 and _is_short(number):
            forms.append(number.expand(factor=True))
            if _is_zero(forms[-1]):
                return 0
    raise NoSignError


def _bounds(number: sympy.Expr, bits: int) -> Any:
    """Return bounds of a number, made with so many binary digits; None where it is not real."""
    with _digits(bits):
        try:
            return _Bounds(bits).of(number)
        except _NotRealError:
            return None


@contextmanager
def _digits(bits: int) -> Iterator[None]:
    before, iv.prec = iv.prec, bits
    try:
        yield
    finally:
        iv.prec = before


class _NotRealError(Exception):
    """A part of a number is not real."""


class _Bounds:
    """Bounds of a number and of its parts, each once."""

    def __init__(self, bits: int) -> None:
        self._bits = bits
        self._known: dict[sympy.Expr, Any] = {}

    def of(self, number: sympy.Expr) -> Any:
        """Return an interval in which a number lies."""
        found = self._known.get(number)
        if found is None:
            found = self._known[number] = self._made(number)
        return found

    def _made(self, number: sympy.Expr) -> Any:
        if number.is_Rational:
            return iv.mpf(int(number.p)) / iv.mpf(int(number.q))
        if number.is_Float:
            return self.of(sympy.Rational(number))
        if number.is_Add or number.is_Mul:
            parts = (self.of(part) for part in number.args)
            return reduce(add if number.is_Add else mul, parts)
        if number.is_Pow:
            return self._power(*number.args)
        rule = _RULES.get(number.func)
        if rule is not None:
            return rule(*(self.of(part) for part in number.args))
        return self._trusted(number)

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> Any:
        inner = self.of(base)
        if exponent.is_Integer:
            return inner ** int(exponent)
        if inner.b < 0:
            raise _NotRealError
        if inner.a <= 0:
            return _anything()
        if exponent == sympy.Rational(1, 2):
            return iv.sqrt(inner)
        return _exponential(self.of(exponent) * iv.log(inner))

    def _trusted(self, number: sympy.Expr) -> Any:
        """Return bounds of a function of which there are no intervals: half its digits count."""
        near = number.evalf(int(self._bits / 3.3))
        if not near.is_real:
            raise _NotRealError
        if not near.is_Float and not near.is_Rational:
            return _anything()
        middle = self.of(near)
        return middle * (1 + iv.mpf([-1, 1]) * iv.mpf(2) ** (-self._bits // 2))


def _anything() -> Any:
    return iv.mpf(["-inf", "inf"])


def _is_large(bounds: Any) -> bool:
    return bool(bounds.b > _LARGEST or bounds.a < -_LARGEST)


def _exponential(bounds: Any) -> Any:
    """Return the bounds of e^x, coarse where x is large."""
    low = iv.exp(iv.mpf(max(min(bounds.a, _LARGEST), -_LARGEST))).a
    high = iv.exp(iv.mpf(min(max(bounds.b, -_LARGEST), _LARGEST))).b
    return iv.mpf([0 if bounds.a < -_LARGEST else low, "inf" if bounds.b > _LARGEST else high])


def _logarithm(bounds: Any) -> Any:
    if bounds.b < 0:
        raise _NotRealError
    return iv.log(bounds) if bounds.a > 0 else _anything()


def _cosine(bounds: Any) -> Any:
    return iv.mpf([-1, 1]) if _is_large(bounds) else iv.cos(bounds)


_RULES: dict[Any, Callable[..., Any]] = {
    sympy.exp: _exponential,
    sympy.log: _logarithm,
    sympy.cos: _cosine,
    sympy.Abs: abs,
    type(sympy.pi): lambda: +iv.pi,
    type(sympy.E): lambda: +iv.e,
}


def _is_short(number: sympy.Expr) -> bool:
    """Return whether a number is quickly written out as a sum."""
    parts = list(islice(sympy.preorder_traversal(number), _MOST_PARTS + 1))
    powers = (part.exp for part in parts if part.is_Pow and part.exp.is_Integer)
    return len(parts) <= _MOST_PARTS and all(abs(power) <= _HIGHEST_POWER for power in powers)


def _is_zero(written_out: sympy.Expr) -> bool:
    """Return whether a number that is written out is zero; False where that is not told."""
    if written_out.is_zero:
        return True
    parts = list(islice(sympy.preorder_traversal(written_out), _MOST_ALGEBRAIC + 1))
    if len(parts) > _MOST_ALGEBRAIC or not written_out.is_algebraic:
        return False
    return not written_out.has(sympy.Float) and sympy.minimal_polynomial(written_out).is_Symbol
