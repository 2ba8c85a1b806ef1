"""What a share of many answers is not below, or not above."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

import numpy as np

from qps.solver.answers.answer_parts import Interval
from qps.solver.matrix.limits.row_preparation import Floats, Ints
from qps.solver.uncertainty.interval_result import PROBABILITY, Ends


def least(answers: Ints, certainty: float | Fraction) -> int:
    """Return the largest number that a share of answers is not below."""
    return int(_least(answers, certainty))


def most(answers: Ints, certainty: float) -> int:
    """Return the smallest number that a share of answers is not above."""
    return int(_most(answers, certainty))


def not_above_values(values: Floats, certainty: float) -> float:
    """Return the smallest value that a share of values is not above."""
    return _most(values, certainty)


def not_below_values(values: Floats, certainty: float) -> float:
    """Return the largest value that a share of values is not below."""
    return _least(values, certainty)


def ends_of_values(values: Floats) -> Ends:
    """Return between which values some lie, as many beyond it on each side."""
    level = (1 + PROBABILITY) / 2
    return Ends(least=_least(values, level), most=_most(values, level))


def failures_allowed(count: int, certainty: float | Fraction) -> int:
    """Return how many of so many samples may fail where the others are a share of them."""
    return floor((1 - certainty) * count)


def _least(values: Ints | Floats, certainty: float | Fraction) -> float:
    return np.sort(values)[failures_allowed(values.size, certainty)].item()  # type: ignore[no-any-return]


def _most(values: Ints | Floats, certainty: float) -> float:
    return np.sort(values)[ceil(certainty * values.size) - 1].item()  # type: ignore[no-any-return]


def not_below(population: int, low: int) -> int | None:
    """Return a population, None where none of the range is acceptable."""
    return None if population < low else population


def interval_of(answers: Ints, low: int) -> Interval:
    """Return between which populations answers lie, as many beyond it on each side."""
    level = (1 + PROBABILITY) / 2
    return Interval(
        probability=PROBABILITY,
        least=not_below(least(answers, level), low),
        most=not_below(most(answers, level), low),
    )
