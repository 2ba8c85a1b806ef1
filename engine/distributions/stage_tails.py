"""Which share of items takes longer than many times to pass stages, as `sum_numbers` has it.

Times stand in columns: all of them are looked at together, for what is made of a whole law.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from qps.engine.distributions.stage_paths import SAME
from qps.engine.distributions.sum_mixtures import StagePath, around, paths_of, terms_of
from qps.engine.numerics.array_blocks import Array


class PhaseTimeDistribution(Struct, frozen=True, kw_only=True):
    """The law of the time to pass stages.

    `fixed` are the times that are always the same on the ways through them, the shortest first,
    each with the share of items that takes just as long. Shares are known to so many digits that
    e to the minus `goal` has some.
    """

    paths: tuple[StagePath, ...]
    terms: Array
    goal: float
    fixed: tuple[tuple[float, float], ...]

    @staticmethod
    def of(stages: Sequence[float], goal: float) -> PhaseTimeDistribution | None:
        """Return the law of stages, None where these have too many ways."""
        operands = [np.array([float(one)]) for one in stages]
        with np.errstate(all="ignore"):  # what is not passed has no rates
            paths = paths_of(operands)
            if paths is None:
                return None
            terms = terms_of(paths)
            fixed: list[tuple[float, float]] = []
            for time in sorted(float(path.fixed[0]) for path in paths):
                if fixed and time - fixed[-1][0] <= SAME * time:
                    continue
                before, at = around(paths, np.array([time]), np.array([goal]), terms)
                fixed.append((time, max(0.0, float(before[0] - at[0]))))
        return PhaseTimeDistribution(paths=tuple(paths), terms=terms, goal=goal, fixed=tuple(fixed))

    def longer(self, times: Array) -> tuple[Array, Array]:
        """Return which share takes longer than each time, and the density there."""
        shares = densities = np.zeros(times.shape)
        goal = np.full(times.shape, self.goal)
        with np.errstate(all="ignore"):  # far out nothing is left
            for path in self.paths:
                share, density = path.later(times - path.fixed, goal, self.terms)
                shares, densities = shares + share, densities + density
        return np.clip(shares, 0.0, 1.0), np.maximum(densities, 0.0)
