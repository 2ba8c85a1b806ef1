"""What takes long to tell of a sample, as a function of what varies that is fitted to a few points.

G. E. P. Box and K. B. Wilson, On the experimental attainment of optimum conditions, Journal of the
Royal Statistical Society B 13 (1951): a polynomial of second order. Here of the logarithms of what
varies, where all of it is above zero, for the logarithm of what is told: products of powers are met
exactly. It is held against points that it was not fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from qps.solver.matrix.prepared import Floats

_FULL, _SQUARES = 5, 20
"""Numbers up to which there are terms of pairs, and up to which there are squares."""
_FOR_EACH, _FEWEST, _HELD_OUT = 2, 12, 8
"""Points for each term, at least so many; points that a surface is not fitted to."""
_ALIKE = 1e-9


class Scale(Struct, frozen=True, kw_only=True):
    """How a number that varies goes into a surface: its logarithm or itself, over its spread."""

    is_log: bool
    middle: float
    width: float

    def __call__(self, values: Floats) -> Floats:
        """Return scaled values."""
        own = np.log(np.maximum(values, np.finfo(float).tiny)) if self.is_log else values
        return (own - self.middle) / self.width


class Surface(Struct, frozen=True, kw_only=True):
    """A fitted function of some numbers; `error` is the largest at points not fitted to.

    The error is a part of the value. Where `coefficients` are None it is infinite everywhere.
    """

    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    coefficients: Floats | None
    points: int
    error: float

    def __call__(self, values: dict[str, Floats], count: int) -> Floats:
        """Return what the surface is at some values, so many of each."""
        if self.coefficients is None:
            return np.full(count, np.inf)
        scaled = [scale(values[n]) for n, scale in zip(self.names, self.scales, strict=True)]
        return np.asarray(np.exp(_terms(scaled, count) @ self.coefficients), dtype=float)


def points_for(numbers: int) -> int:
    """Return how many points a surface of so many numbers is fitted to and held against."""
    terms = 1 + numbers
    if numbers <= _FULL:
        terms += numbers * (numbers + 1) // 2
    elif numbers <= _SQUARES:
        terms += numbers
    return max(_FEWEST, _FOR_EACH * terms) + _HELD_OUT


def fitted(values: dict[str, Floats], told: Floats) -> Surface:
    """Return the surface of what is told, above zero, at some values; infinite where most of it is.

    What is not finite at a point is not fitted to.
    """
    is_told = np.isfinite(told) & (told > 0)
    if 2 * is_told.sum() < told.size:
        return Surface(names=(), scales=(), coefficients=None, points=told.size, error=0.0)
    some = {name: column[is_told] for name, column in values.items()}
    names = _apart(some)
    scales = tuple(_scale(some[name]) for name in names)
    scaled = [scale(some[name]) for name, scale in zip(names, scales, strict=True)]
    terms, logs = _terms(scaled, int(is_told.sum())), np.log(told[is_told])
    fitted_to = max(len(logs) - _HELD_OUT, 1)
    first = _solved(terms[:fitted_to], logs[:fitted_to])
    off = np.abs(np.expm1(terms[fitted_to:] @ first - logs[fitted_to:]))
    return Surface(
        names=names,
        scales=scales,
        coefficients=_solved(terms, logs),
        points=told.size,
        error=float(off.max(initial=0.0)),
    )


def _solved(terms: Floats, told: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(terms, told, rcond=None)[0], dtype=float)


def _apart(values: dict[str, Floats]) -> tuple[str, ...]:
    """Return the names of columns that vary, none of which follows from one before by a line."""
    found: list[str] = []
    kept: list[Floats] = []
    for name, column in values.items():
        centred = column - column.mean()
        size = float(np.linalg.norm(centred))
        if size <= _ALIKE * max(float(np.abs(column).max(initial=0.0)), _ALIKE):
            continue
        if all(abs(float(centred @ own)) < (1 - _ALIKE) * size for own in kept):
            found.append(name)
            kept.append(centred / size)
    return tuple(found)


def _scale(values: Floats) -> Scale:
    is_log = bool((values > 0).all())
    own = np.log(values) if is_log else values
    return Scale(is_log=is_log, middle=float(own.mean()), width=float(own.std()) or 1.0)


def _terms(scaled: Sequence[Floats], count: int) -> Floats:
    """Return the terms of a polynomial, a column each: of pairs, of squares, or of first order."""
    columns = [np.ones(count), *scaled]
    if len(scaled) <= _FULL:
        columns += [scaled[i] * scaled[k] for i in range(len(scaled)) for k in range(i + 1)]
    elif len(scaled) <= _SQUARES:
        columns += [one * one for one in scaled]
    return np.stack(columns, axis=1)
