"""Up to which population each criterion is met, in each of some samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from qps.solver.answers.reliable_limits import MetUpTo
from qps.solver.matrix.limits.row_preparation import Bools, Ints
from qps.solver.uncertainty.capacity_interval import least

Limits: TypeAlias = Mapping[tuple[str | None, str], Ints]
"""By mode and criterion: the largest population of each sample, `NEVER` where it does not fail."""

NEVER = np.iinfo(np.int64).max


@dataclass(kw_only=True)
class LimitSamples:
    """Up to which population criteria are met, in the first `samples` of all.

    Of all criteria, or of `names` alone where there are any.
    """

    samples: int
    names: frozenset[str] = frozenset()
    columns: dict[tuple[str | None, str], Ints] = field(default_factory=dict)

    def is_wanted(self, name: str) -> bool:
        """Return whether it is to be noted of a criterion."""
        return not self.names or name in self.names

    def note(self, key: tuple[str | None, str], samples: Ints, first_failures: Ints) -> None:
        """Note where a criterion first fails in some samples; the first of several counts."""
        if key not in self.columns:
            self.columns[key] = np.full(self.samples, NEVER)
        column = self.columns[key]
        column[samples] = np.minimum(column[samples], first_failures - 1)

    def between(self, start: int, stop: int) -> dict[tuple[str | None, str], Ints]:
        """Return what is known of a stretch of the samples."""
        return {key: column[start:stop] for key, column in self.columns.items()}


def joined_limits(parts: Sequence[Limits]) -> Limits:
    """Return stretches of samples as one; not judged in a stretch, a criterion does not fail."""
    sizes = [next((column.size for column in part.values()), 0) for part in parts]
    return {
        key: np.concatenate(
            [part.get(key, np.full(size, NEVER)) for part, size in zip(parts, sizes, strict=True)]
        )
        for key in dict.fromkeys(key for part in parts for key in part)
    }


def limits_at_confidence(limits: Limits, is_solved: Bools, certainty: float, high: int) -> MetUpTo:
    """Return up to which population each criterion is met in a share of the samples."""
    return {key: min(least(column[is_solved], certainty), high) for key, column in limits.items()}
