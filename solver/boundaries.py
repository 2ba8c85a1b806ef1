"""Where requirements begin and cease to fail as one number moves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import sympy

from qps.solver.compiled import array_function
from qps.solver.critical import critical_points, sign_at

_GRID = 2000


@dataclass(frozen=True, slots=True)
class Failure:
    """A requirement that fails, and the mode in which it does; None outside of any.

    Where `is_refused`, no requirement: the words tell which value the spec refuses.
    """

    requirement: str
    mode: str | None
    is_refused: bool = False


@dataclass(frozen=True, slots=True)
class Over:
    """A criterion of a mode as a function of one number: above zero where it fails."""

    failure: Failure
    value: sympy.Expr
    strict: bool
    is_axis: bool = False

    def fails(self, symbol: sympy.Symbol, at: Fraction) -> bool:
        """Return whether it fails at a value of the number."""
        sign = sign_at(self.value, symbol, at)
        return sign is None or sign > 0 or (self.strict and sign == 0)


def boundaries(
    overs: Sequence[Over], symbol: sympy.Symbol, low: Fraction, high: Fraction
) -> list[Fraction]:
    """Return every value between two at which a criterion may begin or cease to fail."""
    found: set[Fraction] = set()
    for over in overs:
        if symbol not in over.value.free_symbols:
            continue
        points = critical_points(over.value, symbol, low, high)
        exact = None if points is None else [point.near for point in points]
        found |= set(_bracketed(over, symbol, low, high) if exact is None else exact)
    return sorted(point for point in found if low < point < high)


def _bracketed(
    over: Over, symbol: sympy.Symbol, low: Fraction, high: Fraction
) -> Iterable[Fraction]:
    """Yield where a criterion without exact treatment begins or ceases to fail, from a grid on."""
    from scipy.optimize import bisect  # noqa: PLC0415 - slow to import, seldom needed

    space = np.geomspace if low > 0 else np.linspace
    grid = space(float(low), float(high), _GRID)
    with np.errstate(all="ignore"):
        found = array_function([symbol], over.value)(grid)
    values = np.broadcast_to(np.asarray(found, dtype=complex), grid.shape)
    real = np.where(values.imag == 0, values.real, np.nan)
    holds = np.isfinite(real) & ((real < 0) | ((real == 0) & (not over.strict)))

    def side(at: float) -> float:
        # A step from one side to the other, also where the criterion jumps or has no value.
        return 1.0 if over.fails(symbol, Fraction(at)) else -1.0

    for i in np.flatnonzero(holds[1:] != holds[:-1]):
        start, end = float(grid[i]), float(grid[i + 1])
        if side(start) != side(end):
            yield Fraction(float(bisect(side, start, end, xtol=1e-300, rtol=1e-14)))
