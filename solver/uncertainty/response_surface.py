"""What takes long for a sample, as a function of what varies, fitted to a few points.

Kriging: a polynomial (G. E. P. Box and K. B. Wilson, On the experimental attainment of optimum
conditions, Journal of the Royal Statistical Society B 13, 1951) and what is left of the points
beside it as a Gaussian process, so that kinks are followed, too. Here of the logarithms of what
varies, where all of it is above zero, for the logarithm of what is reported: products of powers are
met exactly. Each point is estimated from all others (O. Dubrule, Cross validation of kriging in a
unique neighborhood, Mathematical Geology 15, 1983): that chooses among polynomials and processes,
and says how far off a surface is (F. Bachoc, Cross validation and maximum likelihood estimations of
hyper-parameters of Gaussian processes with model misspecification, Computational Statistics & Data
Analysis 66, 2013).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints

_FULL, _SQUARES = 5, 20
"""Numbers up to which there are terms of pairs, and up to which there are squares."""
_FOR_EACH, _FEWEST, _NEIGHBOR_COUNTS = 2, 12, 8
"""Points for each term, at least so many, and some to be estimated from the others: at first."""
_MOST_NEIGHBORS = 24
"""Points that are added where that is not enough."""
_ALIKE = 1e-9
_LENGTHS = (0.7, 1.5, 3.0, 6.0)
"""How far the process is alike, in deviations of what varies; beside it there may be none."""
_NOISE = 1e-8
"""The part of the process's variance that no other point says anything of."""
_LEAST_WEIGHT = 0.1
_CERTAIN = 3.0
"""How far off a surface may be where it is to be sure, in its own deviations."""
_NEARLY_NOTHING = 1e-6
_MANY = 2.0
"""How far above all that fails is what nowhere fails, where a surface is to follow both."""


class Scale(Struct, frozen=True, kw_only=True):
    """How a number that varies goes into a surface: its logarithm or itself, over its spread."""

    is_log: bool
    middle: float
    width: float

    def __call__(self, values: Floats) -> Floats:
        """Return scaled values."""
        own = np.log(np.maximum(values, np.finfo(float).tiny)) if self.is_log else values
        return (own - self.middle) / self.width


class _Kriging(Struct, frozen=True, kw_only=True, eq=False):
    """A polynomial of some order, and a process beside it that is alike over a length.

    Without a length there is no process: what is left of the points is noise.
    """

    order: int
    length: float | None
    weights: Floats
    places: Floats
    coefficients: Floats
    of_points: Floats
    inverse: Floats
    of_terms: Floats
    deviation: float
    missed: Floats

    def __call__(self, places: Floats) -> tuple[Floats, Floats]:
        """Return values at some places, a row each, and how far off they are: one deviation."""
        terms = _terms(places, self.order)
        if self.length is None:
            off = 1 + np.sum((terms @ self.of_terms) * terms, axis=1)
            return terms @ self.coefficients, self.deviation * np.sqrt(off)
        alike = (1 - _NOISE) * _alike(places, self.places, self.weights / self.length)
        known = alike @ self.inverse
        rest = terms - known @ _terms(self.places, self.order)
        off = 1 - np.sum(known * alike, axis=1)
        off += np.sum((rest @ self.of_terms) * rest, axis=1)
        found = terms @ self.coefficients + alike @ self.of_points
        return found, self.deviation * np.sqrt(np.maximum(off, 0.0))


class Surface(Struct, frozen=True, kw_only=True, eq=False):
    """A function of some numbers fitted to its `values` at points.

    `chosen` are the numbers of the points among samples, if there are any.
    `error` is the largest at points that are estimated from all others, as a part of the value.
    What is not below `end` is infinite. Where there is no `kriging` it is the `end` everywhere.
    """

    names: tuple[str, ...]
    scales: tuple[Scale, ...]
    kriging: _Kriging | None
    end: float
    values: Floats
    error: float
    chosen: Ints | None = None

    @property
    def points(self) -> int:
        """How many points there were."""
        return self.values.size

    def __call__(self, values: dict[str, Floats], count: int) -> tuple[Floats, Floats]:
        """Return what the surface is at some values, so many of each, and how far off that is.

        The latter is one deviation, as a part of the value.
        """
        if self.kriging is None:
            return np.full(count, self.end), np.zeros(count)
        found, off = self.kriging(self._places(values))
        return np.where(found < np.log(self.end), np.exp(found), np.inf), off

    def next_points(
        self, values: dict[str, Floats], limit: float | None, used: Bools, count: int
    ) -> list[int]:
        """Return which values to compute next: those that may lie on either side of a limit.

        What is likely to lie on the wrong one comes first (B. Echard, N. Gayton and M. Lemaire,
        AK-MCS: an active learning reliability method combining kriging and Monte Carlo simulation,
        Structural Safety 33, 2011). Without a limit, those of which least is known.
        """
        if self.kriging is None:
            return []
        places = self._places(values)
        found, off = self.kriging(places)
        chosen: list[int] = []
        left = ~used
        for _ in range(count):
            far = 1.0 if limit is None else np.maximum(np.abs(found - np.log(limit)), _ALIKE)
            doubt = np.where(left, off / far, -1.0)
            best = int(np.argmax(doubt))
            if doubt[best] <= 0:
                break
            chosen.append(best)
            left[best] = False
            # What is near to a point is known as soon as that is: how well does not rest on values.
            steps = (places - places[best]) * self._weights
            off = off * np.sqrt(1 - np.exp(-np.sum(steps * steps, axis=1)))
        return chosen

    @property
    def _weights(self) -> Floats:
        assert self.kriging is not None
        return self.kriging.weights / (self.kriging.length or 1.0)

    def _places(self, values: dict[str, Floats]) -> Floats:
        scaled = [scale(values[n]) for n, scale in zip(self.names, self.scales, strict=True)]
        return np.stack(scaled, axis=1)


def most_points(numbers: int) -> int:
    """Return how many points a surface of so many numbers is fitted to, at most."""
    return _FOR_EACH * _terms_of(numbers, _best_order(numbers)) + _MOST_NEIGHBORS


def first_points(numbers: int) -> int:
    """Return how many points a surface of so many numbers is fitted to at first."""
    return max(_FEWEST, _FOR_EACH * (1 + numbers) + _NEIGHBOR_COUNTS // 2)


def fitted(values: dict[str, Floats], targets: Floats) -> Surface:
    """Return the surface of what is reported, above zero, at some values.

    What is infinite at a point is far above all that is not; what has no value, or is not above
    zero, is not fitted to.
    """
    is_positive = targets > 0
    end = np.inf
    if np.isinf(targets[is_positive]).any():
        finite = targets[is_positive & np.isfinite(targets)]
        end = _MANY * float(finite.max()) if finite.size else np.inf
    is_usable = is_positive & (np.isfinite(targets) | np.isfinite(end))
    if 2 * is_usable.sum() < targets.size or is_usable.sum() <= 1:
        return Surface(names=(), scales=(), kriging=None, end=np.inf, values=targets, error=0.0)
    some = {name: column[is_usable] for name, column in values.items()}
    names = _apart(some)
    scales = tuple(_scale(some[name]) for name in names)
    count = int(is_usable.sum())
    scaled = [scale(some[name]) for name, scale in zip(names, scales, strict=True)]
    places = np.stack(scaled, axis=1) if scaled else np.zeros((count, 0))
    logs = np.log(np.minimum(targets[is_usable], _MANY * end))
    best = min(_krigings(places, logs), key=lambda one: float(np.mean(one.missed**2)))
    below = logs < np.log(end)
    return Surface(
        names=names,
        scales=scales,
        kriging=best,
        end=end,
        values=targets,
        error=float(np.abs(np.expm1(best.missed[below])).max(initial=0.0)),
    )


def are_below_one(
    few: dict[str, Floats], parts: Floats, values: dict[str, Floats], count: int
) -> bool:
    """Return whether a function that is known at few points is surely below 1 at many others.

    Off by three deviations of its surface, and besides by as much as the worst of the points is
    when it is estimated from all others.
    """
    if not parts.size or not np.all((parts >= 0) & (parts < 1)):
        return False
    surface = fitted(few, np.maximum(parts, _NEARLY_NOTHING))
    if surface.kriging is None:
        return False
    found, off = surface(values, count)
    return bool(np.all(found * np.exp(_CERTAIN * off) * (1 + surface.error) < 1))


def _krigings(places: Floats, values: Floats) -> Iterator[_Kriging]:
    """Yield surfaces of all orders that there are points for, with processes and without."""
    count, numbers = places.shape
    straight = np.abs(_solved(_terms(places, 1), values)[1:]) if count > 1 + numbers else None
    weights = np.ones(numbers)
    if straight is not None and straight.size and straight.max() > 0:
        weights = np.maximum(np.sqrt(straight / straight.max()), _LEAST_WEIGHT)
    orders = [k for k in range(_best_order(numbers) + 1) if 2 * _terms_of(numbers, k) <= count]
    for order in orders[-2:] or [0]:
        yield _kriging(places, values, weights, order, None)
        if numbers:
            for length in _LENGTHS:
                yield _kriging(places, values, weights, order, length)


def _kriging(
    places: Floats, values: Floats, weights: Floats, order: int, length: float | None
) -> _Kriging:
    terms = _terms(places, order)
    alike = np.eye(len(values))
    if length is not None:
        alike = (1 - _NOISE) * _alike(places, places, weights / length) + _NOISE * alike
    inverse = np.linalg.inv(alike)
    weighed = inverse @ terms
    of_terms = np.linalg.pinv(terms.T @ weighed)
    coefficients = _solved(terms, values) if length is None else of_terms @ (weighed.T @ values)
    beside = values - terms @ coefficients
    of_points = inverse @ beside
    # The values in front of a point's own, of the residuals of the polynomial.
    own = np.maximum(np.diag(inverse - weighed @ of_terms @ weighed.T), _NOISE)
    return _Kriging(
        order=order,
        length=length,
        weights=weights,
        places=places,
        coefficients=coefficients,
        of_points=of_points,
        inverse=np.asarray(inverse, dtype=float),
        of_terms=np.asarray(of_terms, dtype=float),
        deviation=float(np.sqrt(np.mean(of_points**2 / own))),
        missed=of_points / own,
    )


def _alike(ones: Floats, others: Floats, weights: Floats) -> Floats:
    """Return how alike a process is at places: Matérn's with smoothness 5/2."""
    one, other = ones * weights, others * weights
    squares = np.sum(one**2, axis=1)[:, None] + np.sum(other**2, axis=1) - 2 * one @ other.T
    far = np.sqrt(5 * np.maximum(squares, 0.0))
    return np.asarray((1 + far + far * far / 3) * np.exp(-far), dtype=float)


def _solved(terms: Floats, values: Floats) -> Floats:
    return np.asarray(np.linalg.lstsq(terms, values, rcond=None)[0], dtype=float)


def _apart(values: dict[str, Floats]) -> tuple[str, ...]:
    """Return the names of columns that vary, none of which follows from one before by a line."""
    found: list[str] = []
    columns: list[Floats] = []
    for name, column in values.items():
        centered = column - column.mean()
        size = float(np.linalg.norm(centered))
        if size <= _ALIKE * max(float(np.abs(column).max(initial=0.0)), _ALIKE):
            continue
        if all(abs(float(centered @ own)) < (1 - _ALIKE) * size for own in columns):
            found.append(name)
            columns.append(centered / size)
    return tuple(found)


def _scale(values: Floats) -> Scale:
    is_log = bool((values > 0).all())
    own = np.log(values) if is_log else values
    return Scale(is_log=is_log, middle=float(own.mean()), width=float(own.std()) or 1.0)


def _best_order(numbers: int) -> int:
    """Return up to what order the terms for so many numbers go: 3 is that of pairs."""
    return 3 if numbers <= _FULL else 2 if numbers <= _SQUARES else 1


def _terms_of(numbers: int, order: int) -> int:
    """Return how many terms a polynomial has."""
    pairs = numbers * (numbers - 1) // 2
    return (1, 1 + numbers, 1 + 2 * numbers, 1 + 2 * numbers + pairs)[order]


def _terms(places: Floats, order: int) -> Floats:
    """Return the terms of a polynomial, a column each: one, straight ones, squares, then pairs."""
    count, numbers = places.shape
    columns = [np.ones(count)]
    if order > 0:
        columns += [places[:, i] for i in range(numbers)]
    if order > 1:
        columns += [places[:, i] ** 2 for i in range(numbers)]
    if order > 2:  # noqa: PLR2004 - the next one
        columns += [places[:, i] * places[:, k] for i in range(numbers) for k in range(i)]
    return np.stack(columns, axis=1)
