"""Ways through stages and forks as products: each factor is a time that varies, with a transform.

A factor may be taken by some chance alone: that is its mass, and what its transform is at 0.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from math import prod
from typing import ClassVar

import numpy as np
from msgspec import Struct

from qps.engine.distributions.sum_mixtures import StagePath, TimePath
from qps.engine.distributions.sum_numbers import weights
from qps.engine.distributions.sum_transforms import Complex, StageArrays
from qps.engine.forks.first_answers import FirstAnswers
from qps.engine.forks.phase_times import Phases
from qps.engine.numerics.array_blocks import Array


class StageTime(Struct, frozen=True, kw_only=True):
    """What varies on a path through stages, as a factor of one."""

    path: StagePath

    @property
    def mass(self) -> Array:
        """The chance of the path."""
        return self.path.chance

    @property
    def done(self) -> Array:
        """The chance that it is taken, and that what varies takes no time."""
        return self.path.fixed_share

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        return self.path.nearest

    @property
    def mean(self) -> Array:
        """The mean, times the chance."""
        found = sum(often * _mean(alike.stage) for alike, often in self.path.stages)
        return np.asarray(self.path.chance * found)

    def transform(self, at: Complex) -> Complex:
        """Return the transform, times the chance."""
        return np.asarray(self.path.chance * self.path.transform(at))


Factor = Phases | StageTime | FirstAnswers


class ForkPath(TimePath, frozen=True, kw_only=True):
    """A path with independent factors, each of which varies."""

    smooth: ClassVar[tuple[float, ...]] = weights(12, 16)
    discount: ClassVar[float] = 23.0  # with more terms averaged: shares are known to 1e-9
    share: Array
    factors: tuple[Factor, ...]

    @staticmethod
    def of(share: Array, fixed: Array, factors: Iterable[Factor]) -> ForkPath:
        """Return a path; what begins with a chance less than 1 makes that of the path."""
        factors = tuple(factors)
        chance = prod((factor.mass for factor in factors), start=share)
        return ForkPath(share=share, chance=chance, fixed=fixed, factors=factors)

    @property
    def varies(self) -> bool:
        """True where something varies."""
        return bool(self.factors)

    @property
    def nearest(self) -> Array:
        """How far left of zero there is no singularity."""
        return reduce(np.minimum, (factor.nearest for factor in self.factors))

    @property
    def served(self) -> Array | float:
        """How long stages serve at most, without waits."""
        stages = (factor.path.served for factor in self.factors if isinstance(factor, StageTime))
        return sum(stages, 0.0)

    @property
    def fixed_share(self) -> Array:
        """Which share takes this path, and no longer than its fixed time."""
        return prod((factor.done for factor in self.factors), start=self.share)

    @property
    def is_narrow(self) -> bool:
        """True where the law is hardly smooth."""
        stages = (factor for factor in self.factors if isinstance(factor, StageTime))
        return any(factor.path.is_narrow for factor in stages)

    def transform(self, at: Complex) -> Complex:
        """Return that of what varies on the path."""
        found = reduce(np.multiply, (factor.transform(at) for factor in self.factors))
        return np.asarray(found * (self.share / np.where(self.chance > 0, self.chance, 1.0)))

    @property
    def mean(self) -> Array:
        """The mean, times the chance of the path."""
        found = self.chance * self.fixed
        for factor in self.factors:
            mass = factor.mass
            found = found + self.chance * factor.mean / np.where(mass > 0, mass, 1.0)
        return np.asarray(found)


def _mean(stage: StageArrays) -> Array:
    """Return the mean of what varies of a stage."""
    return np.asarray(_mean_of_passage(stage) * (stage.whole + stage.share))


def _mean_of_passage(stage: StageArrays) -> Array:
    found = np.where(stage.variation > 0, stage.service, 0.0)
    first = more = np.zeros(found.shape)
    for one in stage.parts:
        left = one.work * (1 + one.spread) / 2 / stage.servers
        first, more = first + one.waits * left, more + one.load * left
    waits = first + stage.waiting_share * more / (1 - stage.full_load)
    found = found + np.where(stage.is_late, waits, 0.0)
    for one in stage.inside:
        found = found + _mean(one)
    return np.asarray(found)
