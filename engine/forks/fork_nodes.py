"""Stages of which some are forks, as they stand in each other, on arrays.

Stages are as `stages` has them. One of -1 servers is a fork: it takes no time itself, and those
that stand in it directly are its branches, begun together; it ends with the last of them. One of -2
servers is as many calls at once that pass what stands in it: it ends with so many answers as its
`spread` says, its `variation` are the other calls. All elements have the same ones, and the same
stand in each.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from qps.engine.distributions.stages import read_line
from qps.engine.distributions.sum_transforms import groups_of
from qps.engine.forks.phase_counts import CALLS, FORK
from qps.engine.numerics.array_blocks import Array


class NoPathError(Exception):
    """There are no paths, or too many."""


class ForkNode(Struct, frozen=True, kw_only=True):
    """A stage with what stands in it, all elements alike but for their numbers."""

    group: Sequence[Array]
    inside: tuple[ForkNode, ...]

    @property
    def is_fork(self) -> bool:
        """True for a fork."""
        return bool(self.group[4][0] == FORK)

    @property
    def is_calls(self) -> bool:
        """True for equal calls at once."""
        return bool(self.group[4][0] == CALLS)

    @property
    def is_work(self) -> bool:
        """True for a part of work."""
        return bool(self.group[4][0] == 0)

    @property
    def is_choice(self) -> bool:
        """True where one of those inside is passed."""
        return bool(self.group[8][0] < 0)

    @property
    def has_fork(self) -> bool:
        """True where it is a fork, or equal calls, or has one in it."""
        return bool(self.group[4][0] < 0) or any(one.has_fork for one in self.inside)

    @property
    def apart(self) -> tuple[list[ForkNode], list[ForkNode]]:
        """Further parts of its work, and the stages that stand in it."""
        works = [one for one in self.inside if one.is_work]
        return works, [one for one in self.inside if not one.is_work]

    @property
    def operands(self) -> tuple[Array, ...]:
        """All operands of it."""
        return (*self.group, *(value for one in self.inside for value in one.operands))

    @property
    def own(self) -> tuple[Array, ...]:
        """Its own part alone, passed once."""
        parts = [one for one in self.inside if one.is_work]
        ones = np.ones(self.group[0].shape)
        found = (*self.group[:7], ones, ones * len(parts))
        return (*found, *(value for part in parts for value in part.group))


def nodes_of(stages: Sequence[Array]) -> tuple[ForkNode, ...]:
    """Return the nodes of operands."""
    return read_line(
        groups_of(stages),
        lambda group, inside: ForkNode(group=group, inside=inside),
        lambda inside: float(inside[0]),
    )
