"""The ways through stages of which some are forks: what is passed at once, and what besides.

Stages are as `stages` has them. One of -1 servers is a fork: it takes no time itself, and those
that stand in it directly are its branches, begun together; it ends with the last of them. A fork
that is passed by chance, or is one of alternatives, makes ways: each has its chance, the stages
that are passed one after the other on it, and the branches of one fork at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, inf, isnan

from msgspec import Struct

from qps.engine.distributions.stage_paths import MOST_PATHS, SAME
from qps.engine.distributions.stages import NEARLY_WHOLE, OPERANDS, is_stage, read_line
from qps.engine.distributions.sum_numbers import without_law

FORK = -1.0
"""The servers of a fork."""

Stages = tuple[float, ...]
"""The operands of some stages."""


class ForkPath(Struct, frozen=True, kw_only=True):
    """A way with its `chance`: the operands of what is passed in line, and those of branches."""

    chance: float
    line: Stages = ()
    branches: tuple[Stages, ...] = ()

    @property
    def parts(self) -> tuple[Stages, ...]:
        """All lines of stages that are passed on it."""
        return (self.line, *self.branches) if self.line else self.branches


class _Node(Struct, frozen=True, kw_only=True):
    group: Stages
    inside: tuple[_Node, ...]

    @property
    def times(self) -> float:
        return self.group[7]

    @property
    def is_fork(self) -> bool:
        return self.group[4] == FORK

    @property
    def is_choice(self) -> bool:
        return self.group[8] < 0

    @property
    def has_fork(self) -> bool:
        return self.is_fork or any(one.has_fork for one in self.inside)

    @property
    def own(self) -> Stages:
        """Its own part alone, passed once."""
        parts = tuple(one.group for one in self.inside if not one.group[4])
        found = (*self.group[:7], 1.0, float(len(parts)))
        return (*found, *(value for part in parts for value in part))

    @property
    def operands(self) -> Stages:
        return (*self.group, *(value for one in self.inside for value in one.operands))


class _NoPathError(Exception):
    pass


def paths_of(operands: Sequence[float]) -> tuple[ForkPath, ...] | float:
    """Return the ways through stages; what the time is where there is no law: see `without_law`."""
    if not operands or len(operands) % OPERANDS or any(map(isnan, operands)):
        return float("nan")
    groups = [tuple(operands[at : at + OPERANDS]) for at in range(0, len(operands), OPERANDS)]
    if not all(is_stage((*group[:4], abs(group[4]), *group[5:])) for group in groups):
        return float("nan")
    try:
        found = _of_line(read_line(groups, _node, float))
    except _NoPathError:
        return float("nan")
    refused = [without_law(*part) for way in found for part in way.parts]
    if any(one is not None and isnan(one) for one in refused):
        return float("nan")
    return inf if any(one is not None for one in refused) else tuple(found)


def _node(group: Sequence[float], inside: tuple[_Node, ...]) -> _Node:
    if group[4] < 0 and (group[4] != FORK or group[0] or group[2] or group[5] or group[8] < 0):
        raise _NoPathError
    return _Node(group=tuple(group), inside=inside)


def _of_line(nodes: Sequence[_Node]) -> list[ForkPath]:
    found = [ForkPath(chance=1.0)]
    for node in nodes:
        found = [_both(one, then) for one in found for then in _of_node(node)]
        if len(found) > MOST_PATHS:
            raise _NoPathError
    return found


def _both(one: ForkPath, then: ForkPath) -> ForkPath:
    if one.branches and then.branches:
        raise _NoPathError  # two forks in a row: their sum has no law here
    return ForkPath(
        chance=one.chance * then.chance,
        line=(*one.line, *then.line),
        branches=one.branches or then.branches,
    )


def _of_node(node: _Node) -> list[ForkPath]:
    if not node.has_fork:
        return [ForkPath(chance=1.0, line=node.operands)]
    near = round(node.times)
    whole = near if abs(node.times - near) <= NEARLY_WHOLE * near else floor(node.times)
    share = max(0.0, node.times - whole)
    if whole > 1 or (whole and share):
        raise _NoPathError
    once = _single_visit(node) if whole or share else []
    return once if whole else _by(share, once, 1 - share)


def _single_visit(node: _Node) -> list[ForkPath]:
    inside = tuple(one for one in node.inside if one.group[4])
    if node.is_fork:
        if len(inside) < len(node.inside) or any(one.has_fork for one in inside):
            raise _NoPathError
        return [ForkPath(chance=1.0, branches=tuple(one.operands for one in inside))]
    if not node.is_choice:
        found = _of_line(inside)
    else:
        left = 1 - sum(one.times for one in inside)
        if left < -SAME:
            raise _NoPathError
        each = [_by(one.times, _chosen(one), 0.0) for one in inside if one.times]
        found = [way for ways in each for way in ways]
        found += _by(0.0, [], left if left > NEARLY_WHOLE else 0.0)
    return [_both(ForkPath(chance=1.0, line=node.own), way) for way in found]


def _chosen(node: _Node) -> list[ForkPath]:
    """Return the ways of one of alternatives: it is passed once, whatever its chance."""
    if node.has_fork:
        return _single_visit(node)
    once = _Node(group=(*node.group[:7], 1.0, node.group[8]), inside=node.inside)
    return [ForkPath(chance=1.0, line=once.operands)]


def _by(chance: float, paths: Sequence[ForkPath], left: float) -> list[ForkPath]:
    found = [
        ForkPath(chance=chance * way.chance, line=way.line, branches=way.branches) for way in paths
    ]
    return [*found, *([ForkPath(chance=left)] if left > 0 else [])]
