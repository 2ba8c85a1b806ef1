"""What numbers may be that nobody knows, as a page draws them: a kind, and plain numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in
from qps.compiler.configure.configuration import in_force as with_mode
from qps.engine.sobol import sobol_points
from qps.solver.odds.draws import UncertainNumber, dimensions_of, uncertain_numbers, values_at
from qps.solver.odds.told import SEED

ROWS = 256
"""Of numbers that are drawn together in a way that no page knows, so many rows are in it."""

Spread: TypeAlias = "list[str | float | list[float]]"


def spreads_of(
    model: ir.Model, configuration: Configuration
) -> Mapping[str, Sequence[list[Spread]]]:
    """Return what is not known in each mode, by its name; of no mode by the empty one.

    Each number is a list of what rests on it: a name, how it is distributed, and that in numbers.
    What rests on one is drawn together. Empty where all is known.
    """
    settled = [with_mode(one) for one in in_each_mode(model, configuration)]
    if not any(uncertain_in(one) for one in settled):
        return {}
    return {
        one.mode or "": [spread_of(number) for number in uncertain_numbers(model, one)]
        for one in settled
    }


def spread_of(number: UncertainNumber) -> list[Spread]:
    """Return all that rests on one number, as a page draws it; as rows where it cannot."""
    if number.weights:
        return _rows(number)
    known = [[name, *_told(distribution)] for name, distribution in number.parameters]
    return known if all(len(one) > 1 for one in known) else _rows(number)


def _told(distribution: ir.Distribution) -> Spread:
    """Return a distribution as `scripts/engine/samples.js` reads it; empty for one that is not."""
    match distribution:
        case ir.Normal(mean, deviation):
            return ["normal", float(mean), float(deviation)]
        case ir.Lognormal(median, log_deviation):
            return ["lognormal", float(median), float(log_deviation)]
        case ir.Uniform(low, high):
            return ["uniform", float(low), float(high)]
        case ir.Triangular(low, likeliest, high):
            return ["triangular", float(low), float(likeliest), float(high)]
        case ir.Weighted(values, probabilities):
            ends = accumulate(float(one) for one in probabilities)
            return ["weighted", [float(one) for one in values], list(ends)]
        case ir.Sampled(values):
            return ["sampled", [float(one) for one in values]]
    return []


@lru_cache(maxsize=64)  # a page asks for the same in each of its starts
def _rows(number: UncertainNumber) -> list[Spread]:
    """Return values that were drawn together, in as many rows."""
    drawn = values_at([number], sobol_points(ROWS, dimensions_of([number]), SEED))
    return [
        [name, "sampled", [float(f"{one:.9g}") for one in drawn[name].tolist()]]
        for name, _ in number.parameters
    ]
