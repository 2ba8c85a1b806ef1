"""The real roots of a polynomial with rational coefficients: isolated exactly, by Descartes' rule.

A root with a short divisor is that fraction itself. Any other stands as the middle of the cell of a
fixed binary grid in which it lies, so that a number is the same fraction from whatever polynomial
it comes, and never on the other side of a whole number. No floating point is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from math import isqrt

from flint import fmpq, fmpq_poly, fmpz, fmpz_poly

GRID = 136
"""Binary digits behind the point of the grid: cells are narrower than 1e-40."""

_SHORT = 2 ** (GRID // 2 - 4)
"""Fractions with no larger divisors are so far from each other that a cell holds at most one."""

_MOST_DIGITS = 100_000
"""Binary digits of a coefficient beyond which roots are not isolated."""

_MOST_WORK = 20_000_000_000
"""Degrees, squared, times digits of what is cut into halves: about a second's worth."""

_OVERHEAD = 500, 20
"""What it costs to cut into halves whatever has few digits, or a low degree."""

_CLOSED = 2


class IntractableError(Exception):
    """Exact treatment would take too long, or there is none."""


def real_roots(
    polynomial: fmpq_poly, low: Fraction | None = None, high: Fraction | None = None
) -> tuple[Fraction, ...]:
    """Return the real roots of a polynomial between two points, each once, in ascending order.

    None stands for no bound. What lies nearer to a bound than a cell of the grid counts as there.
    IntractableError where roots are so near to each other that it takes too long to part them.

    >>> real_roots(fmpq_poly([-1, 0, 0, 8]))
    (Fraction(1, 2),)
    """
    whole = polynomial.numer()
    content = whole.content()
    if not whole or whole.degree() < 1:
        return ()
    whole = whole // content
    found = _few(whole) if whole.degree() <= _CLOSED else _isolated(whole, low, high)
    return tuple(dict.fromkeys(_within(found, low, high)))


Cell = Callable[[int], "int | Fraction"]
"""Tells of a root in which cell of a grid of so many digits it lies, or which fraction it is."""


def _within(cells: list[Cell], low: Fraction | None, high: Fraction | None) -> Iterator[Fraction]:
    """Yield roots of which the cells are known, those between two points."""
    digits = GRID
    places = [cell(digits) for cell in cells]
    while len(set(places)) < len(places):
        digits *= 2
        places = [cell(digits) for cell in cells]
    width = Fraction(1, 2**digits)
    for place in places:
        at = place if isinstance(place, Fraction) else (2 * place + 1) * width / 2
        if low is not None and at < low:
            if at + width <= low:
                continue
            at = low
        if high is not None and at > high:
            if at - width >= high:
                continue
            at = high
        yield at


# -- closed forms --------------------------------------------------------------------------


def _few(whole: fmpz_poly) -> list[Cell]:
    """Return the cells of the roots of a polynomial of degree 1 or 2."""
    c, b, *rest = (int(coefficient) for coefficient in whole.coeffs())
    if not rest:
        return [_of_fraction(Fraction(-c, b))]
    a = rest[0]
    if a < 0:
        a, b, c = -a, -b, -c
    discriminant = b * b - 4 * a * c
    if discriminant < 0:
        return []
    spread = isqrt(discriminant)
    if spread * spread == discriminant:
        fractions = {Fraction(-b - spread, 2 * a), Fraction(-b + spread, 2 * a)}
        return [_of_fraction(at) for at in sorted(fractions)]
    return [
        lambda digits: ((-b << digits) - isqrt(discriminant << 2 * digits) - 1) // (2 * a),
        lambda digits: ((-b << digits) + isqrt(discriminant << 2 * digits)) // (2 * a),
    ]


def _of_fraction(at: Fraction) -> Cell:
    if at.denominator <= _SHORT:
        return lambda _digits: at
    return lambda digits: (at.numerator << digits) // at.denominator


# -- isolation -----------------------------------------------------------------------------


def _isolated(whole: fmpz_poly, low: Fraction | None, high: Fraction | None) -> list[Cell]:
    """Return the cells of the roots from `low` to `high`, and perhaps of some near these."""
    if whole.height_bits() > _MOST_DIGITS:
        raise IntractableError
    simple = whole // whole.gcd(whole.derivative())
    coefficients = [int(coefficient) for coefficient in simple.coeffs()]
    if len(coefficients) <= _CLOSED + 1:
        return _few(simple)
    cells = _cells_around(coefficients, low, high)
    waiting = [(*cell, _local(simple, *cell)) for cell in reversed(cells)]
    found: list[Cell] = []
    work = 0
    while waiting:
        place, scale, local = waiting.pop()
        if _is_beyond(place, scale, low, high):
            continue
        digits, degree = local.height_bits(), local.degree()
        work += degree * (degree + _OVERHEAD[1]) * (digits + _OVERHEAD[0])
        if work > _MOST_WORK:
            raise IntractableError
        if local[0] == 0:
            found.append(_of_fraction(_scaled(place, scale)))
            local = local.right_shift(1)
        changes = _changes_inside(local)
        if changes == 1:
            found.append(_Bracket(simple, place, scale, starts_above=local[0] > 0))
        elif changes:
            left = _halved(local)
            waiting += [(2 * place + 1, scale + 1, left(_ONE_MORE)), (2 * place, scale + 1, left)]
    return found


_ONE_MORE = fmpz_poly([1, 1])


def _scaled(place: int, scale: int) -> Fraction:
    return Fraction(place, 1 << scale) if scale > 0 else Fraction(place << -scale)


def _is_beyond(place: int, scale: int, low: Fraction | None, high: Fraction | None) -> bool:
    """Return whether a cell lies wholly outside of two points."""
    if low is not None and _scaled(place + 1, scale) < low:
        return True
    return high is not None and _scaled(place, scale) > high


def _cells_around(
    coefficients: Sequence[int], low: Fraction | None, high: Fraction | None
) -> list[tuple[int, int]]:
    """Return few cells, ascending, and their scales, which hold all roots between two points."""
    if low is not None and high is not None:
        width = high - low
        scale = min(GRID, width.denominator.bit_length() - width.numerator.bit_length() - 1)
        # A cell of that scale is at least as wide, but where the grid is finer than requested.
        return [(place, scale) for place in range(_floor(low, scale), _floor(high, scale) + 1)]
    found = []
    if low is None or low < 0:
        mirrored = [-c if power % 2 else c for power, c in enumerate(coefficients)]
        found.append((-1, -_reach(mirrored)))
    if high is None or high >= 0:
        found.append((0, -_reach(coefficients)))
    return found


def _reach(coefficients: Sequence[int]) -> int:
    """Return a power of two than which no positive root is larger: Kioustelidis's bound."""
    degree, sign = len(coefficients) - 1, 1 if coefficients[-1] > 0 else -1
    least = abs(coefficients[-1]).bit_length() - 1
    ratios = (
        -((least - abs(c).bit_length()) // (degree - power))
        for power, c in enumerate(coefficients[:-1])
        if c * sign < 0
    )
    return max(ratios, default=0) + 1


def _floor(at: Fraction, scale: int) -> int:
    if scale >= 0:
        return (at.numerator << scale) // at.denominator
    return at.numerator // (at.denominator << -scale)


def _local(whole: fmpz_poly, place: int, scale: int) -> fmpz_poly:
    """Return what a polynomial is on a cell, which becomes the stretch from 0 to 1."""
    degree = whole.degree()
    moved = fmpz_poly(
        [
            int(c) << (scale * (degree - power) if scale > 0 else -scale * power)
            for power, c in enumerate(whole.coeffs())
        ]
    )
    return moved(fmpz_poly([place, 1]))


def _halved(local: fmpz_poly) -> fmpz_poly:
    """Return what a polynomial is on the left half of the stretch from 0 to 1."""
    degree = local.degree()
    left = fmpz_poly([c << (degree - power) for power, c in enumerate(map(int, local.coeffs()))])
    return left // left.content()


def _changes_inside(local: fmpz_poly) -> int:
    """Return how often signs change: as many roots lie between 0 and 1, or an even number less."""
    coefficients = local.coeffs()
    if not _changes(coefficients):
        return 0
    return _changes(fmpz_poly(coefficients[::-1])(_ONE_MORE).coeffs())


def _changes(coefficients: Iterable[fmpz]) -> int:
    signs = [c > 0 for c in coefficients if c != 0]
    return sum(one is not other for one, other in pairwise(signs))


# -- narrowing down ------------------------------------------------------------------------


class _Bracket:
    """A cell with one simple root inside, narrowed down as far as is requested.

    A straight line through its ends says in which of 2, 4, 16 ... parts to look: where that
    was right, into more of them the next time, where not, into fewer.
    """

    def __init__(
        self, polynomial: fmpz_poly, place: int, scale: int, *, starts_above: bool
    ) -> None:
        self._polynomial = polynomial
        self._coefficients = [int(coefficient) for coefficient in polynomial.coeffs()]
        self._place = place
        self._scale = scale
        self._starts_above = starts_above
        self._exact: Fraction | None = None
        self._parts = 1
        self._ends = self._value(place, scale), self._value(place + 1, scale)

    def __call__(self, digits: int) -> int | Fraction:
        """Return the cell of a grid of so many digits, or the fraction that the root is."""
        while self._scale < digits and self._exact is None:
            self._narrow(digits)
        if self._exact is None:
            self._exact = self._short()
        if self._exact is not None:
            return _of_fraction(self._exact)(digits)
        return self._place >> (self._scale - digits)

    def _narrow(self, digits: int) -> None:
        """Try to go on to a smaller cell in which the root lies."""
        more = min(self._parts, digits - self._scale)
        parts, (before, behind) = 1 << more, map(abs, self._ends)
        # Where both ends are roots themselves, no line says anything: they were divided out.
        part = min(parts - 1, parts * before // (before + behind or 1)) if more > 1 else 0
        first, scale = (self._place << more) + part, self._scale + more
        known = (len(self._coefficients) - 1) * (max(scale, 0) - max(self._scale, 0))
        start = self._value(first, scale) if part else self._ends[0] << known
        is_last = part + 1 == parts
        end = self._ends[1] << known if is_last else self._value(first + 1, scale)
        if part and not start:
            self._exact = _scaled(first, scale)
        elif not (end or is_last):
            self._exact = _scaled(first + 1, scale)
        elif part and (start > 0) is not self._starts_above:  # it is before that part
            self._parts = more // 2
        elif is_last or (end > 0) is not self._starts_above:
            self._place, self._scale, self._ends = first, scale, (start, end)
            self._parts = 2 * more
        elif more > 1:  # it is behind that part
            self._parts = more // 2
        else:
            self._place, self._scale, self._ends = first + 1, scale, (end, self._ends[1] << known)
            self._parts = 2

    def _value(self, place: int, scale: int) -> int:
        """Return the value at a point of a grid, times a power of two that makes it whole."""
        if scale < 0:
            place, scale = place << -scale, 0
        value, shift = 0, 0
        for coefficient in reversed(self._coefficients):  # Horner's rule
            value = value * place + (coefficient << shift)
            shift += scale
        return value

    def _short(self) -> Fraction | None:
        """Return the one fraction with a short divisor in the cell if it is the root."""
        middle = Fraction(2 * self._place + 1, 1 << self._scale + 1)
        simple = middle.limit_denominator(_SHORT)
        if self._coefficients[-1] % simple.denominator:
            return None
        if abs(simple - middle) * (1 << self._scale + 1) > 1:
            return None
        value = self._polynomial(fmpq(simple.numerator, simple.denominator))
        return simple if value == 0 else None
