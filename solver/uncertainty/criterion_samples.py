"""In which samples each criterion is met at one population."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from qps.solver.matrix.limits.row_preparation import Bools, Ints

Outcomes: TypeAlias = NDArray[np.uint8]


UNDECIDED = np.uint8(2)
"""Of a sample: more than any state, which is 0 or 1."""


@dataclass(kw_only=True)
class CriterionSamples:
    """In which samples each criterion is met at one population: 1, 0, or `UNDECIDED`.

    Three rows of each: in which it is, in which it surely is, and in which it may be.
    """

    population: int
    samples: int
    columns: dict[str, Outcomes] = field(default_factory=dict)

    def note(self, name: str, samples: Ints, is_met: Bools) -> None:
        """Note in which samples a criterion is met in a mode: it must be in every one."""
        if name not in self.columns:
            self.columns[name] = np.full((3, self.samples), UNDECIDED)
        column = self.columns[name]
        column[:, samples] = np.minimum(column[:, samples], is_met)
