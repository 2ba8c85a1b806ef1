"""Which values of what is not known are tried: samples of an answer, and what each number does.

I. M. Sobol, Global sensitivity indices for nonlinear mathematical models, Mathematics and Computers
in Simulation 55 (2001); the estimators are those of A. Saltelli and others, Variance based
sensitivity analysis of model output, Computer Physics Communications 181 (2010), and of M. Jansen.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct

from qps.engine.numerics.sobol import sobol_points
from qps.solver.matrix.limits.row_preparation import Floats
from qps.solver.uncertainty.sample_draws import (
    UncertainNumber,
    columns_of,
    dimensions_of,
    halved,
    values_at,
)

_MOST, _FEWEST, _IN_ALL = 1024, 256, 8192
"""Samples that are solved once more for each number, at most and at least, and for all numbers.

Many numbers have fewer each: together they take about as long as the samples do.
"""


class SobolIndices(Struct, frozen=True, kw_only=True):
    """The shares of a variance that one number has."""

    first_order: float
    total: float


class Design(Struct, frozen=True, kw_only=True, dict=True):
    """Values of all parameters, one design after the other.

    First the samples, then the first of these with each number's spread half as wide, then as many
    others, and the first samples with a number each of the others.
    """

    numbers: tuple[UncertainNumber, ...]
    samples: int
    seed: int

    @property
    def again(self) -> int:
        """How many of the samples are solved again for each number."""
        return min(self.samples, _MOST, max(_FEWEST, _IN_ALL // len(self.numbers)))

    @cached_property
    def values(self) -> Mapping[str, Floats]:
        """The values of every parameter, one after the other."""
        count, again = dimensions_of(self.numbers), self.again
        samples = values_at(self.numbers, sobol_points(self.samples, count, self.seed))
        some = {name: column[:again] for name, column in samples.items()}
        parts = [samples, *(halved(number, some) for number in self.numbers)]
        # The first half of the columns are those of the samples: they have the same seed.
        both = sobol_points(again, 2 * count, self.seed)
        first, second = both[:, :count], both[:, count:]
        parts.append(values_at(self.numbers, second))
        for columns in columns_of(self.numbers):
            mixed = first.copy()
            mixed[:, columns] = second[:, columns]
            parts.append(values_at(self.numbers, mixed))
        return {name: np.concatenate([part[name] for part in parts]) for name in samples}

    def halves(self, answers: Floats, number: int) -> tuple[Floats, Floats]:
        """Return answers as they are, and with the spread of one number half as wide.

        Of the same samples: those in which both are reported.
        """
        start = self.samples + number * self.again
        found = answers[start : start + self.again]
        usual = answers[: self.again]
        is_known = ~(np.isnan(found) | np.isnan(usual))
        return usual[is_known], found[is_known]

    def shares(self, answers: Floats) -> list[SobolIndices]:
        """Return the shares of the answer's variance that the numbers have."""
        start = self.samples + len(self.numbers) * self.again
        second, *mixed = answers[start:].reshape(-1, self.again)
        return [_shares(answers[: self.again], second, one) for one in mixed]


def _shares(first: Floats, second: Floats, mixed: Floats) -> SobolIndices:
    """Return the shares of what differs between the first points and the mixed ones."""
    is_known = ~(np.isnan(first) | np.isnan(second) | np.isnan(mixed))
    one, other, mix = first[is_known], second[is_known], mixed[is_known]
    both = np.concatenate([one, other])
    variance = float(np.var(both)) if is_known.any() else 0.0
    if variance == 0:
        return SobolIndices(first_order=0.0, total=0.0)
    return SobolIndices(
        first_order=_share(float(np.mean((other - both.mean()) * (mix - one))) / variance),
        total=_share(float(np.mean((one - mix) ** 2)) / (2 * variance)),
    )


def _share(estimated: float) -> float:
    """Return an estimate of a share as one: it errs to both sides."""
    return min(max(estimated, 0.0), 1.0)
