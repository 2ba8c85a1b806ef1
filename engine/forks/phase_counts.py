"""How many phases and paths forks have, where all that varies in them is exponential.

That tells beforehand whether `paths_with_forks` has their law. It counts as what is made there, of
numbers or of formulas: what is not known of these counts as if it made more.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import product
from math import floor, prod
from typing import Any

from msgspec import Struct

from qps.engine.distributions.stage_paths import MOST_COMBINED, MOST_PATHS
from qps.engine.distributions.stages import NEARLY_WHOLE, OPERANDS, read_line

FORK, CALLS = -1.0, -2.0
"""The servers of a fork, and of equal calls of which the first answers count."""
MOST_PHASES = 256
"""A time in more of them takes longer than one on a grid."""
MOST_PASSAGES = 3
"""Phases that are passed more often are no factors of their own."""

MOST_BRANCHES, MOST_STAGES = 8, 32
"""Branches that differ, of one fork, and its stages: more take longer than a grid."""

Known = Callable[[Any], float | None]
"""Which number an operand is, None where that is not known."""


class _Path(Struct, frozen=True):
    """A path: what is always the same of it, None for nothing, and in how many phases it varies."""

    fixed: tuple[Hashable, ...] | None
    phases: int


class _Shape(Struct, frozen=True):
    group: Sequence[Any]
    inside: tuple[_Shape, ...]


class _NoPhasesError(Exception):
    pass


def have_phases(operands: Sequence[Any], known: Known) -> bool:
    """Return whether the longest of the branches of each fork is known in phases."""
    groups = [operands[at : at + OPERANDS] for at in range(0, len(operands), OPERANDS)]
    try:
        return all(map(_Counter(known).has_phases, _line(groups, known)))
    except _NoPhasesError:
        return False


def single_fork(operands: Sequence[Any], known: Known) -> list[tuple[Any, ...]] | None:
    """Return the operands of each branch where all is one fork, with few branches that differ."""
    groups = [tuple(operands[at : at + OPERANDS]) for at in range(0, len(operands), OPERANDS)]
    *_, servers, _, _, times, inside = groups[0]
    is_alone = known(servers) == FORK and known(times) == 1 and known(inside) == len(groups) - 1
    if not is_alone or len(groups) > MOST_STAGES + 1:
        return None
    if any((known(group[4]) or 0.0) < 0 for group in groups[1:]):
        return None
    found = []
    at = 1
    while at < len(groups):
        end = at + 1 + int(abs(known(groups[at][8]) or 0.0))
        found.append(tuple(one for group in groups[at:end] for one in group))
        at = end
    differ = {tuple(map(_Counter(known).key, branch)) for branch in found}
    return found if len(differ) <= MOST_BRANCHES else None


def _line(groups: Sequence[Sequence[Any]], known: Known) -> tuple[_Shape, ...]:
    return read_line(groups, _Shape, lambda inside: known(inside) or 0.0)


class _Counter(Struct, frozen=True):
    known: Known

    def key(self, operand: Any) -> Hashable:
        """Return what tells an operand from others."""
        value = self.known(operand)
        return operand if value is None else value

    def has_phases(self, shape: _Shape) -> bool:
        """Return whether forks have, that stand in others or by themselves, and calls at once.

        These have the law of an order statistic where each takes one phase.
        """
        servers = self.known(shape.group[4])
        if servers == FORK:
            return bool(self.paths(shape))
        if servers == CALLS:
            return [path.phases for path in self.line(shape.inside)] == [1]
        return all(map(self.has_phases, shape.inside))

    def line(self, shapes: Iterable[_Shape]) -> list[_Path]:
        found = [_Path(None, 0)]
        for shape in shapes:
            found = _then(found, self.paths(shape))
        return found

    def paths(self, shape: _Shape) -> list[_Path]:
        """Return the paths through a stage, as often as it is passed."""
        times = self.known(shape.group[7])
        whole, has_share = 0, True
        if times is not None:
            near = round(times)
            has_share = abs(times - near) > NEARLY_WHOLE * near
            whole = floor(times) if has_share else near
        if whole > MOST_PASSAGES:
            raise _NoPhasesError
        visit = self.visit(shape) if whole or has_share else []
        found = [_Path(None, 0)]
        for _ in range(whole):
            found = _then(found, visit)
        return _then(found, _merged([*visit, _Path(None, 0)])) if has_share else found

    def visit(self, shape: _Shape) -> list[_Path]:
        """Return the paths of one passage."""
        servers, within = self.known(shape.group[4]), self.known(shape.group[8])
        if servers == FORK:
            return self.fork(shape.inside)
        own = self.own(shape)
        if within is None or within >= 0:
            return _then(own, self.line(shape.inside))
        found = [_Path(None, 0)]
        for one in shape.inside:
            found += self.visit(one)
        return _then(own, _merged(found))

    def own(self, shape: _Shape) -> list[_Path]:
        waits, load, work, spread, servers, service, variation, _, _ = shape.group
        is_late = self.known(waits) != 0 and self.known(work) != 0
        is_served = self.known(service) != 0
        is_fixed = is_served and self.known(variation) == 0
        if any(self.known(one.group[4]) == 0 for one in shape.inside):
            raise _NoPhasesError
        if self.known(servers) == CALLS or (is_late and self.known(spread) != 1):
            raise _NoPhasesError
        if is_served and not is_fixed and self.known(variation) != 1:
            raise _NoPhasesError
        is_one = self.key(waits) == self.key(load) and self.key(work) == self.key(service)
        is_one &= self.known(servers) == 1
        phases = (
            1 if is_late and is_one and not is_fixed else is_late + (is_served and not is_fixed)
        )
        return [_Path((self.key(service),) if is_fixed else None, int(phases))]

    def fork(self, branches: Sequence[_Shape]) -> list[_Path]:
        """Return the paths of the longest of some branches."""
        each = [self.line((branch,)) for branch in branches]
        fixed = {path.fixed for paths in each for path in paths if path.fixed is not None}
        is_behind = all(
            path.fixed is not None or not path.phases for paths in each for path in paths
        )
        many = prod(sum(path.phases for path in paths) + 1 for paths in each) - 1
        if len(fixed) == 1 and is_behind and many <= MOST_PHASES:
            is_sure = any(path.fixed is None for paths in each for path in paths)
            return [*([_Path(None, 0)] if is_sure else []), _Path(fixed.pop(), many)]
        if prod(map(len, each)) > MOST_COMBINED:
            raise _NoPhasesError
        found = []
        for chosen in product(*each):
            many = prod(path.phases + 1 for path in chosen) - 1
            if many > MOST_PHASES:
                raise _NoPhasesError
            ends = [path.fixed for path in chosen if path.fixed is not None]
            found.append(_Path(("longest", *ends) if ends else None, many))
        return found


def _then(paths: Sequence[_Path], others: Sequence[_Path]) -> list[_Path]:
    if len(paths) * len(others) > MOST_PATHS:
        raise _NoPhasesError
    return [
        _Path(
            one.fixed
            if other.fixed is None
            else other.fixed
            if one.fixed is None
            else (*one.fixed, *other.fixed),
            one.phases + other.phases,
        )
        for one in paths
        for other in others
    ]


def _merged(paths: Sequence[_Path]) -> list[_Path]:
    """Return paths of which those are one that take no time that is always the same."""
    fixed = [path for path in paths if path.fixed is not None]
    return [*fixed, _Path(None, sum(path.phases for path in paths if path.fixed is None))]
