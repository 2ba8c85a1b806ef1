"""Numbers that are not known, drawn: many values of each, all of them together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.diagnostics.source import Span
from qps.compiler.measurement.student_t import student_quantile
from qps.engine.distributions.gamma_arrays import normal_quantile, normal_tail
from qps.engine.numerics.sobol import sobol_points
from qps.solver.matrix.compilation.configuration_order import SampledFloats
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.chi_squared import chi_squared_quantile

_HALF = 33
"""The seed by which every second sample is taken, at random."""
_ALIKE = 1e-9
"""Part of a covariance below which there is none: one number may stand in two places."""


class UncertainNumber(Struct, frozen=True, kw_only=True):
    """What is written once: the parameters that rest on it, each with what it may be.

    All that is fitted to one table is one: it is drawn together, from several `dimensions`. So are
    numbers that are stated to be correlated: each parameter is that of one of the `members`, whose
    normal scores are independent ones by some `weights`.
    """

    written: Span
    parameters: tuple[tuple[str, ir.Distribution], ...]
    members: tuple[int, ...] = ()
    weights: tuple[tuple[float, ...], ...] = ()

    @property
    def name(self) -> str:
        """What it is called: as the first parameter of its value; a fit, as all of its numbers."""
        names = [name for name, _ in self.parameters]
        if isinstance(self.parameters[0][1], ir.Fitted):
            return ", ".join(names)
        if self.weights:
            return " and ".join(names[self.members.index(i)] for i in range(len(self.weights)))
        return names[0]

    @property
    def stated(self) -> str:
        """What is said of it, as it is written."""
        return " ".join(self.written.text.split())

    @property
    def dimensions(self) -> int:
        """How many columns of a cube it is drawn from."""
        return len(self.weights) or self.parameters[0][1].dimensions

    @property
    def key(self) -> object:
        """What it has in common with one that is written alike elsewhere: names, distributions."""
        return self.parameters, self.weights


def uncertain_numbers(model: ir.Model, configuration: Configuration) -> tuple[UncertainNumber, ...]:
    """Return the numbers that are not known in a configuration, in the order of the model.

    One that a mode sets otherwise is not known in the other modes.
    """
    found: dict[Span | str, tuple[Span, dict[str, ir.Distribution]]] = {}
    for active in map(in_force, in_each_mode(model, configuration)):
        for name, value in active.parameters.items():
            if isinstance(value, ir.Uncertain):
                own = value.distribution
                key = own.table if isinstance(own, ir.Fitted) else value.written
                found.setdefault(key, (value.written, {}))[1][name] = own
    alone = [
        UncertainNumber(written=written, parameters=tuple(parameters.items()))
        for written, parameters in found.values()
    ]
    return tuple(_together(alone, model.correlations))


def _together(
    numbers: Sequence[UncertainNumber], correlations: Sequence[ir.Correlation]
) -> Iterator[UncertainNumber]:
    """Yield numbers, those as one that are correlated, where the first of them stands."""
    place = {name: i for i, number in enumerate(numbers) for name, _ in number.parameters}
    known = [one for one in correlations if one.one in place and one.other in place]
    groups = [{i} for i in range(len(numbers))]
    for one in known:
        joined = groups[place[one.one]] | groups[place[one.other]]
        for i in joined:
            groups[i] = joined
    for i, group in enumerate(groups):
        if i == min(group):
            yield _as_one([numbers[j] for j in sorted(group)], known) if group - {i} else numbers[i]


def _as_one(
    numbers: Sequence[UncertainNumber], correlations: Sequence[ir.Correlation]
) -> UncertainNumber:
    member = {name: i for i, one in enumerate(numbers) for name, _ in one.parameters}
    weights = ir.correlated_weights(member, correlations)
    assert weights is not None, "a part of what was checked as a whole"
    return UncertainNumber(
        written=numbers[0].written,
        parameters=tuple(parameter for one in numbers for parameter in one.parameters),
        members=tuple(i for i, one in enumerate(numbers) for _ in one.parameters),
        weights=weights,
    )


def dimensions_of(numbers: Sequence[UncertainNumber]) -> int:
    """Return how many columns a cube has from which all numbers are drawn."""
    return sum(number.dimensions for number in numbers)


def columns_of(numbers: Sequence[UncertainNumber]) -> tuple[slice, ...]:
    """Return the columns of a cube from which each number is drawn."""
    ends = tuple(accumulate((number.dimensions for number in numbers), initial=0))
    return tuple(slice(start, end) for start, end in pairwise(ends))


def values_at(numbers: Sequence[UncertainNumber], points: Floats) -> Mapping[str, Floats]:
    """Return the values of all parameters at some points of a cube, a row each."""
    found: dict[str, Floats] = {}
    for number, columns in zip(numbers, columns_of(numbers), strict=True):
        own = points[:, columns]
        fitted = [(n, d) for n, d in number.parameters if isinstance(d, ir.Fitted)]
        if fitted:
            found |= _fitted(fitted, own)
        elif number.weights:
            levels = _correlated(number.weights, own)
            pairs = zip(number.members, number.parameters, strict=True)
            found |= {name: quantiles(one, levels[:, i]) for i, (name, one) in pairs}
        else:
            found |= {name: quantiles(one, own[:, 0]) for name, one in number.parameters}
    return found


def _correlated(weights: Sequence[Sequence[float]], points: Floats) -> Floats:
    """Return levels whose normal scores are correlated, a column a number: a Gaussian copula."""
    return normal_tail(-(normal_quantile(points) @ np.array(weights).T))


def _fitted(parameters: Sequence[tuple[str, ir.Fitted]], points: Floats) -> dict[str, Floats]:
    """Return numbers that were fitted together: a multivariate t distribution, none below zero.

    The last coordinate is that of chi-squared, the others are those of normal numbers.
    """
    freedom = parameters[0][1].freedom
    weights = np.array([one.weights for _, one in parameters])
    means = np.array([[float(one.mean)] for _, one in parameters])
    root = chi_squared_root(points, freedom)
    lengths = np.linalg.norm(weights, axis=1, keepdims=True)
    weights, means = weights / lengths, means / lengths
    drawn = means + weights @ normal_quantile(points[:, :-1]).T / root
    sizes = np.array([0.0 if one.is_shape else 1.0 for _, one in parameters])
    possible = _not_below_zero(drawn, weights @ weights.T, sizes) * lengths
    return {name: values for (name, _), values in zip(parameters, possible, strict=True)}


def chi_squared_root(points: Floats, freedom: int) -> Floats:
    """Return what a t distribution divides its normal numbers by: drawn by the last coordinate."""
    return np.sqrt(chi_squared_quantile(points[:, -1], freedom) / freedom)


def _not_below_zero(drawn: Floats, covariance: Floats, sizes: Floats) -> Floats:
    """Return draws, a column each, of which those below zero are zero and others fit that best.

    What is drawn below zero is found to be zero: then the others are what least squares without it
    would have given, as they are correlated with it. To leave such draws out would move all that
    is left: of fits with a cost that is nothing, intervals held 83 % of truths in place of 90 %.
    Only what is one of the `sizes` cannot be below zero.
    """
    found = drawn.copy()
    zero = np.zeros(drawn.shape, dtype=bool)
    for _ in range(len(drawn)):
        below = (found < 0) & ~zero & (sizes[:, np.newaxis] > 0)
        moved = np.flatnonzero(below.any(axis=0))
        if not moved.size:
            break
        zero |= below
        patterns, which = np.unique(zero[:, moved], axis=1, return_inverse=True)
        for number, pattern in enumerate(patterns.T):
            own = moved[which.ravel() == number]
            inverse = np.linalg.pinv(covariance[np.ix_(pattern, pattern)], rcond=_ALIKE)
            before = drawn[:, own]
            found[:, own] = before - covariance[:, pattern] @ inverse @ before[pattern]
            found[np.ix_(pattern, own)] = 0.0
    return found


def half_width(number: UncertainNumber, weights: Mapping[str, float], probability: float) -> float:
    """Return how far a straight function of a number's parameters lies around what is typical.

    `weights` says by how much each parameter moves it; within the width it is with a probability.
    """
    level = (1 + probability) / 2
    moved = [(weights[name], one) for name, one in number.parameters if name in weights]
    fitted = [(weight, one) for weight, one in moved if isinstance(one, ir.Fitted)]
    if fitted:
        parts = sum(weight * np.array(one.weights) for weight, one in fitted)
        return student_quantile(level, fitted[0][1].freedom) * float(np.linalg.norm(parts))
    ends = np.array([1 - level, level])
    if number.weights:
        widths = np.zeros(len(number.weights))
        for member, (name, one) in zip(number.members, number.parameters, strict=True):
            half = float(np.diff(quantiles(one, ends))[0]) / 2
            widths[member] += weights.get(name, 0.0) * half
        return float(np.linalg.norm(widths @ np.array(number.weights)))
    return abs(sum(weight * float(np.diff(quantiles(one, ends))[0]) / 2 for weight, one in moved))


def halved(number: UncertainNumber, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return values with those of one number half as far from its typical value.

    What is one of some values is none between them: it is the typical one half as often again.
    """
    found = dict(values)
    for name, distribution in number.parameters:
        own, typical = values[name], float(distribution.typical)
        if isinstance(distribution, ir.Weighted):
            stays = np.random.default_rng(_HALF).random(own.size) < 1 / 2
            found[name] = np.where(stays, own, typical)
        else:
            found[name] = (own + typical) / 2
    return found


def drawn_axis(
    numbers: Sequence[UncertainNumber], model: ir.Model, samples: int, seed: int
) -> ir.Axis:
    """Return samples of some numbers as an axis of a matrix: the same for the same seed."""
    points = sobol_points(samples, dimensions_of(numbers), seed)
    return axis_of(numbers, values_at(numbers, points), model)


def axis_of(
    numbers: Sequence[UncertainNumber], values: Mapping[str, Floats], model: ir.Model
) -> ir.Axis:
    """Return what was drawn as an axis of a matrix, along which parameters vary together."""
    known = {parameter.name: parameter for parameter in model.parameters}
    parameters = tuple(
        ir.Axis(
            name=name,
            kind=ir.AxisKind.PARAMETER,
            numbers=SampledFloats(values[name]),
            dimension=known[name].dimension,
            span=number.written,
        )
        for number in numbers
        for name, _ in number.parameters
    )
    return ir.Axis(
        name="what is not known",
        kind=ir.AxisKind.DRAWN,
        parameters=parameters,
        span=numbers[0].written,
    )


def quantiles(distribution: ir.Distribution, levels: Floats) -> Floats:
    """Return what a distribution stays below with some probabilities, all within (0, 1)."""
    match distribution:
        case ir.Normal(mean, deviation):
            return float(mean) + float(deviation) * normal_quantile(levels)
        case ir.Lognormal(median, log_deviation):
            return float(median) * np.exp(float(log_deviation) * normal_quantile(levels))
        case ir.Uniform(low, high):
            return float(low) + float(high - low) * levels
        case ir.Triangular(low, likeliest, high):
            return _triangular(float(low), float(likeliest), float(high), levels)
        case ir.Weighted(values, probabilities):
            ends = np.cumsum([float(one) for one in probabilities])[:-1]
            return _floats(values)[np.searchsorted(ends, levels, side="right")]
        case ir.Sampled(values):
            return _floats(values)[(levels * len(values)).astype(np.int64)]
    raise AssertionError(distribution)


def _triangular(low: float, likeliest: float, high: float, levels: Floats) -> Floats:
    rising, width = likeliest - low, high - low
    below = low + np.sqrt(levels * width * rising)
    above = high - np.sqrt((1 - levels) * width * (high - likeliest))
    return np.where(levels * width < rising, below, above)


def _floats(values: Sequence[Fraction]) -> Floats:
    return np.array([float(one) for one in values])
