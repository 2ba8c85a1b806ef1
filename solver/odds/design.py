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

from qps.engine.sobol import sobol_points
from qps.solver.matrix.prepared import Floats
from qps.solver.odds.draws import UncertainNumber, columns_of, dimensions_of, halved, values_at

_OF_SHARES = 1024
"""Points by which shares of the variance are told."""
_OF_HALVES = 4096
"""Samples that are solved once more with the spread of a number half as wide, at most."""


class Shares(Struct, frozen=True, kw_only=True):
    """The shares of a variance that one number has."""

    first_order: float
    total: float


class Design(Struct, frozen=True, kw_only=True, dict=True):
    """Values of all parameters, one design after the other.

    First the samples, then samples with each number's spread half as wide, then two sets of points,
    and the first of these with a column each of the second.
    """

    numbers: tuple[UncertainNumber, ...]
    samples: int
    seed: int

    @property
    def _halves(self) -> int:
        return min(self.samples, _OF_HALVES)

    @cached_property
    def values(self) -> Mapping[str, Floats]:
        """The values of every parameter, one after the other."""
        count = dimensions_of(self.numbers)
        samples = values_at(self.numbers, sobol_points(self.samples, count, self.seed))
        some = {name: column[: self._halves] for name, column in samples.items()}
        parts = [samples, *(halved(number, some) for number in self.numbers)]
        both = sobol_points(_OF_SHARES, 2 * count, self.seed)
        first, second = both[:, :count], both[:, count:]
        parts += [values_at(self.numbers, points) for points in (first, second)]
        for columns in columns_of(self.numbers):
            mixed = first.copy()
            mixed[:, columns] = second[:, columns]
            parts.append(values_at(self.numbers, mixed))
        return {name: np.concatenate([part[name] for part in parts]) for name in samples}

    def if_halved(self, answers: Floats, number: int) -> Floats:
        """Return the answers with the spread of one number half as wide; those that are told."""
        start = self.samples + number * self._halves
        found = answers[start : start + self._halves]
        return found[~np.isnan(found)]

    def shares(self, answers: Floats) -> list[Shares]:
        """Return the shares of the answer's variance that the numbers have."""
        start = self.samples + len(self.numbers) * self._halves
        parts = answers[start:].reshape(-1, _OF_SHARES)
        first, second, *mixed = parts
        return [_shares(first, second, one) for one in mixed]


def _shares(first: Floats, second: Floats, mixed: Floats) -> Shares:
    """Return the shares of what differs between the first points and the mixed ones."""
    told = ~(np.isnan(first) | np.isnan(second) | np.isnan(mixed))
    one, other, mix = first[told], second[told], mixed[told]
    both = np.concatenate([one, other])
    variance = float(np.var(both)) if told.any() else 0.0
    if variance == 0:
        return Shares(first_order=0.0, total=0.0)
    return Shares(
        first_order=_share(float(np.mean((other - both.mean()) * (mix - one))) / variance),
        total=_share(float(np.mean((one - mix) ** 2)) / (2 * variance)),
    )


def _share(estimated: float) -> float:
    """Return an estimate of a share as one: it errs to both sides."""
    return min(max(estimated, 0.0), 1.0)
