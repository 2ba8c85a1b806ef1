"""What numbers may be that nobody knows, as a page draws them: a kind, and plain numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in
from qps.compiler.configure.configuration import in_force as with_mode
from qps.engine.numerics.sobol import sobol_points
from qps.solver.uncertainty.interval_result import SEED
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    dimensions_of,
    uncertain_numbers,
    values_at,
)

ROWS = 256
"""Of numbers that are drawn together in a way that no page knows, so many rows are in it."""


class NumberSpread(Struct, frozen=True, kw_only=True):
    """How a number is distributed: a kind, with its parameters or its values, in base units."""

    name: str
    kind: str
    numbers: tuple[float | tuple[float, ...], ...]


def spreads_of(
    model: ir.Model, configuration: Configuration
) -> Mapping[str, tuple[tuple[NumberSpread, ...], ...]]:
    """Return what is not known in each mode, by its name; of no mode by the empty one.

    What is drawn together stands together. Empty where all is known.
    """
    modes = [with_mode(one) for one in in_each_mode(model, configuration)]
    if not any(uncertain_in(one) for one in modes):
        return {}
    return {
        one.mode or "": tuple(spread_of(number) for number in uncertain_numbers(model, one))
        for one in modes
    }


def spread_of(number: UncertainNumber) -> tuple[NumberSpread, ...]:
    """Return all that rests on one number, as a page draws it; as rows where it cannot."""
    if number.weights:
        return _rows(number)
    found = tuple(_spread(name, distribution) for name, distribution in number.parameters)
    known = tuple(one for one in found if one is not None)
    return known if len(known) == len(found) else _rows(number)


def _spread(name: str, distribution: ir.Distribution) -> NumberSpread | None:
    """Return a distribution as `scripts/engine/samples.js` reads it; None for no such one."""
    numbers: tuple[Fraction, ...]
    match distribution:
        case ir.Normal(mean, deviation):
            kind, numbers = "normal", (mean, deviation)
        case ir.Lognormal(median, log_deviation):
            kind, numbers = "lognormal", (median, log_deviation)
        case ir.Uniform(low, high):
            kind, numbers = "uniform", (low, high)
        case ir.Triangular(low, likeliest, high):
            kind, numbers = "triangular", (low, likeliest, high)
        case ir.Weighted(values, probabilities):
            ends = tuple(accumulate(float(one) for one in probabilities))
            return NumberSpread(name=name, kind="weighted", numbers=(_floats(values), ends))
        case ir.Sampled(values):
            return _sampled(name, values)
        case _:
            return None
    return NumberSpread(name=name, kind=kind, numbers=_floats(numbers))


def _floats(numbers: Iterable[Fraction | float]) -> tuple[float, ...]:
    return tuple(map(float, numbers))


def _sampled(name: str, values: Iterable[Fraction | float]) -> NumberSpread:
    return NumberSpread(name=name, kind="sampled", numbers=(_floats(values),))


@lru_cache(maxsize=64)  # a page requests the same in each of its starts
def _rows(number: UncertainNumber) -> tuple[NumberSpread, ...]:
    """Return values that were drawn together, in as many rows."""
    drawn = values_at([number], sobol_points(ROWS, dimensions_of([number]), SEED))
    return tuple(
        _sampled(name, [float(f"{one:.9g}") for one in drawn[name].tolist()])
        for name, _ in number.parameters
    )
