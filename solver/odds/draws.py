"""Numbers that are not known, drawn: many values of each, all of them together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.diagnostics.source import Span
from qps.engine.queues.gamma_arrays import normal_quantile
from qps.solver.matrix.layout import Drawn
from qps.solver.matrix.prepared import Floats


class UncertainNumber(Struct, frozen=True, kw_only=True):
    """A number that is written once: the parameters that rest on it, each with what it may be."""

    written: Span
    parameters: tuple[tuple[str, ir.Distribution], ...]

    @property
    def name(self) -> str:
        """What it is called: as the first parameter of its value."""
        return self.parameters[0][0]


def uncertain_numbers(model: ir.Model, configuration: Configuration) -> tuple[UncertainNumber, ...]:
    """Return the numbers that are not known in a configuration, in the order of the model.

    One that a mode sets otherwise is not known in the other modes.
    """
    found: dict[Span, dict[str, ir.Distribution]] = {}
    for settled in map(in_force, in_each_mode(model, configuration)):
        for name, value in settled.parameters.items():
            if isinstance(value, ir.Uncertain):
                found.setdefault(value.written, {})[name] = value.distribution
    return tuple(
        UncertainNumber(written=written, parameters=tuple(parameters.items()))
        for written, parameters in found.items()
    )


def values_at(numbers: Sequence[UncertainNumber], points: Floats) -> Mapping[str, Floats]:
    """Return the values of all parameters at some points of a cube, a row each."""
    return {
        name: quantiles(distribution, points[:, column])
        for column, number in enumerate(numbers)
        for name, distribution in number.parameters
    }


def halved(number: UncertainNumber, values: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return values with those of one number half as far from its typical value."""
    typical = {name: float(distribution.typical) for name, distribution in number.parameters}
    return dict(values) | {name: (values[name] + own) / 2 for name, own in typical.items()}


def axis_of(
    numbers: Sequence[UncertainNumber], values: Mapping[str, Floats], model: ir.Model
) -> ir.Axis:
    """Return what was drawn as an axis of a matrix, along which parameters vary together."""
    known = {parameter.name: parameter for parameter in model.parameters}
    parameters = tuple(
        ir.Axis(
            name=name,
            kind=ir.AxisKind.PARAMETER,
            numbers=Drawn(values[name]),
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
