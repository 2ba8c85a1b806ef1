"""The paths through stages of which some are forks, on arrays, each with what varies on it.

Stages are as `stages` has them. One of -1 servers is a fork: it takes no time itself, and those
that stand in it directly are its branches, begun together; it ends with the last of them. A path
has its chance, its fixed time, and independent factors that vary. Where all branches of a fork pass
exponential phases, so does the longest of them (`phase_times`), behind the longest of their fixed
times; other forks have no paths here.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product
from math import prod

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.engine.distributions.stage_paths import MOST_COMBINED, MOST_PATHS
from qps.engine.distributions.stages import OPERANDS
from qps.engine.distributions.sum_mixtures import paths_of
from qps.engine.distributions.sum_transforms import StageArrays, groups_of, read
from qps.engine.forks.first_answers import FirstAnswers
from qps.engine.forks.fork_nodes import ForkNode, NoPathError, nodes_of
from qps.engine.forks.phase_counts import MOST_PASSAGES, MOST_PHASES
from qps.engine.forks.phase_times import (
    Phases,
    both,
    immediate,
    later,
    longest,
    mixed,
    one_phase,
    phases_of_longest,
)
from qps.engine.forks.time_factors import Factor, ForkPath, StageTime
from qps.engine.numerics.array_blocks import Array

_ROUNDED = 1e-13


class _Path(Struct, frozen=True, kw_only=True):
    """A path: `fixed` is None where it takes no time that is always the same."""

    share: Array
    fixed: Array | None
    factors: tuple[Factor, ...]

    @property
    def phases(self) -> Phases | None:
        """What varies, in phases; None where it has none."""
        if not all(isinstance(one, Phases) for one in self.factors):
            return None
        each = [one for one in self.factors if isinstance(one, Phases)]
        return reduce(both, each, immediate(self.share))

    @property
    def fork_path(self) -> ForkPath:
        """The path as one by itself."""
        fixed = np.zeros(self.share.shape) if self.fixed is None else self.fixed
        return ForkPath.of(self.share, fixed, self.factors)


def fork_paths(stages: Sequence[Array]) -> list[ForkPath]:
    """Return the paths of elements that have the same ones."""
    reader = _Reader(ones=np.ones(stages[0].shape))
    return [path.fork_path for path in reader.line(nodes_of(stages))]


class _Reader(Struct, frozen=True, kw_only=True):
    ones: Array

    def line(self, nodes: Sequence[ForkNode]) -> list[_Path]:
        found = _immediate(self.ones)
        for node in nodes:
            found = _then(found, self.node(node))
        return found

    def node(self, node: ForkNode) -> list[_Path]:
        """Return the paths through a node, as often as it is passed."""
        if not node.has_fork:
            return self.stage(node)
        times = node.group[7]
        whole = np.floor(times + np.where(np.abs(times - np.rint(times)) < _ROUNDED, 0.5, 0.0))
        share, passages = np.maximum(0.0, times - whole), int(whole[0])
        if passages > MOST_PATHS:
            raise NoPathError
        passage = self.passage(node) if passages or share[0] > 0 else []
        return self.repeated(passage, passages, share)

    def repeated(self, passage: Sequence[_Path], passages: int, share: Array) -> list[_Path]:
        """Return the paths of so many passages, and of one more by a chance."""
        found = _immediate(self.ones)
        for _ in range(passages):
            found = _then(found, passage)
        if share[0] > 0:
            found = _then(found, _merged([*_by(share, passage), *_immediate(1 - share)]))
        return found

    def passage(self, node: ForkNode) -> list[_Path]:
        """Return the paths of one passage of a node that has a fork."""
        inside = tuple(one for one in node.inside if not one.is_work)
        if node.is_fork:
            if len(inside) < len(node.inside):
                raise NoPathError
            return self.fork(inside)
        if node.is_calls:
            return self.calls(node)
        if not node.is_choice:
            found = self.line(inside)
        else:
            chances = sum((one.group[7] for one in inside), np.zeros(self.ones.shape))
            found = (
                [] if (chances >= 1 - _ROUNDED).all() else _immediate(np.maximum(0.0, 1 - chances))
            )
            for one in inside:
                if one.group[7][0] > 0:
                    found += _by(one.group[7], self.chosen(one))
            found = _merged(found)
        return _then(self.stage(ForkNode(group=node.own[:OPERANDS], inside=_works(node))), found)

    def chosen(self, node: ForkNode) -> list[_Path]:
        """Return the paths of one of alternatives: it is passed once, whatever its chance."""
        if node.has_fork:
            return self.passage(node)
        return self.stage(
            ForkNode(group=(*node.group[:7], self.ones, node.group[8]), inside=node.inside)
        )

    def stage(self, node: ForkNode) -> list[_Path]:
        """Return the paths through a stage without forks."""
        stage = read(groups_of(node.operands))[0]
        found = self.phase_paths(stage)
        if found is not None:
            return found
        paths = paths_of(node.operands)
        if paths is None:
            raise NoPathError
        return [
            _Path(
                share=self.ones if path.stages else path.chance,
                fixed=path.fixed if (path.fixed > 0).any() else None,
                factors=(StageTime(path=path),) if path.stages else (),
            )
            for path in paths
        ]

    def phase_paths(self, stage: StageArrays) -> list[_Path] | None:
        """Return the same where all that varies has exponential phases, None where it has not."""
        whole = int(stage.whole[0])
        if whole > MOST_PASSAGES:
            return None
        if not whole and not stage.share[0] > 0:
            return _immediate(self.ones)
        passage = self.phases_of_passage(stage)
        return None if passage is None else self.repeated(passage, whole, stage.share)

    def phases_of_passage(self, stage: StageArrays) -> list[_Path] | None:
        factors: tuple[Factor, ...] = ()
        is_late, is_varied = bool(stage.is_late[0]), bool(stage.variation[0] > 0)
        if is_late and (stage.work_parts or stage.spread[0] != 1):
            return None
        if is_varied and stage.service[0] > 0:
            if stage.variation[0] != 1:
                return None
            factors = _queue(stage) if is_late else (one_phase(1 / stage.service, self.ones),)
        elif is_late:
            factors = (one_phase(_wait_rate(stage), stage.waits),)
        is_fixed = bool(not is_varied and stage.service[0] > 0)
        fixed = stage.service if is_fixed else None
        found = [_Path(share=self.ones, fixed=fixed, factors=factors)]
        if not stage.is_choice:
            for one in stage.inside:
                paths = self.phase_paths(one)
                if paths is None:
                    return None
                found = _then(found, paths)
            return found
        inside = _immediate(stage.left) if (stage.left > 0).any() else []
        for one in stage.inside:
            if (one.whole + one.share)[0] > 0:
                paths = self.phases_of_passage(one)
                if paths is None:
                    return None
                inside += _by(one.chance, paths)
        return _then(found, _merged(inside))

    def fork(self, branches: Sequence[ForkNode]) -> list[_Path]:
        """Return the paths of the longest of some branches."""
        if not branches:
            return _immediate(self.ones)
        each = [self.line((branch,)) for branch in branches]
        phases = [[path.phases for path in paths] for paths in each]
        if all(one is not None for paths in phases for one in paths):
            found = _longest_behind_one(each)
            if found is not None:
                return found
            many = prod(map(len, each))
            if many <= MOST_COMBINED and all(_is_small(chosen) for chosen in product(*phases)):
                return [_longest(chosen) for chosen in product(*each)]
        raise NoPathError

    def calls(self, node: ForkNode) -> list[_Path]:
        """Return the path of the first of equal calls, each of one exponential phase behind it."""
        if not node.inside or _works(node):
            raise NoPathError
        paths = self.line(node.inside)
        time = paths[0].phases if len(paths) == 1 else None
        if time is None or len(time.moves) != 1 or not (time.starts[0] == 1).all():
            raise NoPathError
        first = FirstAnswers(answers=node.group[3], spare=node.group[6], rate=time.rates[0])
        return [_Path(share=self.ones, fixed=paths[0].fixed, factors=(first,))]


def _works(node: ForkNode) -> tuple[ForkNode, ...]:
    return tuple(one for one in node.inside if one.is_work)


def _is_small(times: Sequence[Phases | None]) -> bool:
    return phases_of_longest([one for one in times if one is not None]) <= MOST_PHASES


def _queue(stage: StageArrays) -> tuple[Factor, ...]:
    """Return an exponential service behind an exponential wait: at one server that is one."""
    service = 1 / stage.service
    is_one = (stage.waits == stage.load) & (stage.servers == 1) & (stage.work == stage.service)
    if is_one.all():
        return (one_phase(service * (1 - stage.load), np.ones(service.shape)),)
    waits = stage.waits
    return (
        Phases(
            starts=(waits, 1 - waits),
            moves=(((1, _wait_rate(stage)),), ((2, service),)),
            done=np.zeros(service.shape),
        ),
    )


def _wait_rate(stage: StageArrays) -> Array:
    return stage.servers * (1 - stage.load) / stage.work


def _longest(paths: Sequence[_Path]) -> _Path:
    fixed = [path.fixed for path in paths if path.fixed is not None]
    end = reduce(np.maximum, fixed) if fixed else None
    times = []
    for path in paths:
        time = path.phases
        assert time is not None
        after = None if end is None else end if path.fixed is None else end - path.fixed
        times.append(time if after is None else later(time, after))
    found = longest(times)
    ones = np.ones(paths[0].share.shape)
    if not found.moves:
        return _Path(share=ones * found.done, fixed=end, factors=())
    return _Path(share=ones, fixed=end, factors=(found,))


def _longest_behind_one(each: Sequence[Sequence[_Path]]) -> list[_Path] | None:
    """Return the paths of the longest where all that takes time has one fixed time, or none.

    What is not passed is done by then; but where nothing is passed that time is not taken.
    """
    paths = [path for some in each for path in some]
    fixed = [path.fixed for path in paths if path.fixed is not None]
    if not fixed or any(not np.array_equal(fixed[0], one) for one in fixed[1:]):
        return None
    if any(path.fixed is None and path.factors for path in paths):
        return None
    times = [mixed([time for path in some if (time := path.phases) is not None]) for some in each]
    if phases_of_longest(times) > MOST_PHASES:
        return None
    found = longest(times)
    none = prod(sum(path.share for path in some if path.fixed is None) for some in each)
    ones = np.ones(found.done.shape)
    done = np.maximum(0.0, found.done - none)
    varied = [_Path(share=ones, fixed=fixed[0], factors=(replace(found, done=done),))]
    if not found.moves:
        varied = [_Path(share=done, fixed=fixed[0], factors=())]
    return [*(_immediate(none * ones) if np.any(none) else []), *varied]


def _then(paths: Sequence[_Path], others: Sequence[_Path]) -> list[_Path]:
    if len(paths) * len(others) > MOST_PATHS:
        raise NoPathError
    return [
        _Path(
            share=one.share * other.share,
            fixed=one.fixed
            if other.fixed is None
            else other.fixed
            if one.fixed is None
            else one.fixed + other.fixed,
            factors=(*one.factors, *other.factors),
        )
        for one in paths
        for other in others
    ]


def _by(chance: Array, paths: Sequence[_Path]) -> list[_Path]:
    return [replace(path, share=path.share * chance) for path in paths]


def _immediate(chance: Array) -> list[_Path]:
    """Return the path of those who pass nothing."""
    return [_Path(share=chance, fixed=None, factors=())]


def _merged(paths: Sequence[_Path]) -> list[_Path]:
    """Return paths of which those are one that take no fixed time, and pass phases."""
    found, alike = [], []
    for path in paths:
        phases = path.phases if path.fixed is None else None
        if phases is None:
            found.append(path)
        else:
            alike.append(phases)
    if not alike:
        return found
    one = mixed(alike)
    ones = np.ones(one.done.shape)
    if not one.moves:
        return [*found, _Path(share=ones * one.done, fixed=None, factors=())]
    return [*found, _Path(share=ones, fixed=None, factors=(one,))]
