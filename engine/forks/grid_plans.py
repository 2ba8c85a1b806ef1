"""What stands in each other, with equal parts once: what is looked up again and again on grids.

Waits and services that vary are gathered by their kinds, so that each is worked out for all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from math import floor, log

import numpy as np
from msgspec import Struct

from qps.engine.distributions.stages import NEARLY_WHOLE
from qps.engine.forks.fork_nodes import ForkNode, NoPathError
from qps.engine.forks.phase_counts import CALLS
from qps.engine.numerics.array_blocks import Array

_LEAST_SPARE = 1e-6
"""A queue that is fuller waits about as long as one with that spare."""


class NodePlan(Struct, frozen=True, kw_only=True, eq=False):
    """A node: it is passed `whole` times, and once more by a chance `share`, if any.

    `own` is the place of what varies of itself, `fixed` what is always the same of it. As one of
    alternatives it is passed by a `chance`; `left` is the chance that none of those inside is. Of a
    fork those `inside` differ, and there are so many of each `often`; `level` says how many forks
    stand in each other. Of calls at once so many are the first answers, and `spare` the others.
    `scale` is about how long it takes.
    """

    own: int | None
    fixed: Array | None
    whole: int
    share: Array | None
    chance: Array
    inside: tuple[NodePlan, ...]
    is_fork: bool
    left: Array | None
    scale: float
    often: tuple[float | Array, ...]
    level: int
    spare: Array | None = None


class OfKind(Struct, frozen=True, kw_only=True):
    """Times of one kind, in rows: their places, means and squared variations.

    All are exponential, or always the same, or all others.
    """

    at: list[int]
    mean: Array
    variation: Array
    is_exponential: bool
    is_fixed: bool


class Waits(Struct, frozen=True, kw_only=True):
    """Waits at some places for parts of work, of which shares wait, with loads.

    The parts of each place begin at one of `starts`.
    """

    at: list[int]
    starts: list[int]
    shares: Array
    loads: Array
    works: tuple[OfKind, ...]


class GridPlan(Struct, frozen=True, kw_only=True):
    """A line of nodes with all that varies in them, at `count` places.

    `forks` are those of each level, the innermost first; `scale` is about how long all take.
    """

    line: tuple[NodePlan, ...]
    forks: tuple[tuple[NodePlan, ...], ...]
    count: int
    services: tuple[OfKind, ...]
    waits: Waits | None
    scale: float


class _Gathered:
    """Times that differ in their numbers."""

    def __init__(self) -> None:
        self.rows: list[tuple[int, Array, Array]] = []

    def of_kinds(self) -> tuple[OfKind, ...]:
        kinds: dict[object, list[tuple[int, Array, Array]]] = {}
        for row in self.rows:
            first = float(row[2][0])
            kinds.setdefault(first if first in (0.0, 1.0) else None, []).append(row)
        return tuple(
            OfKind(
                at=[at for at, _, _ in rows],
                mean=np.stack([mean for _, mean, _ in rows]),
                variation=np.stack([variation for _, _, variation in rows]),
                is_exponential=kind == 1,
                is_fixed=kind == 0,
            )
            for kind, rows in kinds.items()
        )


class _Group(Struct, frozen=True):
    """The operands of a stage, and those of the first element."""

    columns: Sequence[Array]
    first: tuple[float, ...]
    key: Hashable

    @staticmethod
    def of(columns: Sequence[Array]) -> _Group:
        first = tuple(float(one[0]) for one in columns)
        is_one = columns[0].size == 1
        key = first if is_one else tuple(one.tobytes() for one in columns)
        return _Group(columns, first, key)

    def own_key(self, is_varied: bool, is_late: bool) -> Hashable:  # noqa: FBT001
        """Return what tells it apart as far as it varies."""
        assert isinstance(self.key, tuple)
        return self.key[0 if is_late else 5 : 7 if is_varied else 5]


class _Planner:
    def __init__(self) -> None:
        self._known: dict[Hashable, NodePlan] = {}
        self._places: dict[Hashable, int] = {}
        self.services, self.works = _Gathered(), _Gathered()
        self.late: list[tuple[int, int]] = []
        self.parts: list[tuple[Array, Array]] = []
        self.forks: dict[int, list[NodePlan]] = {}

    @property
    def count(self) -> int:
        """How many places there are."""
        return len(self._places)

    def line(self, nodes: Sequence[ForkNode]) -> tuple[NodePlan, ...]:
        return tuple(map(self.node, nodes))

    def node(self, node: ForkNode) -> NodePlan:
        works, others = node.apart
        inside = self.line(others)
        groups = [_Group.of(one.group) for one in (node, *works)]
        key = tuple(one.key for one in groups), tuple(map(id, inside))
        if key not in self._known:
            self._known[key] = self._planned(node, groups, inside)
        return self._known[key]

    def _planned(
        self, node: ForkNode, groups: Sequence[_Group], inside: tuple[NodePlan, ...]
    ) -> NodePlan:
        is_fork = node.is_fork or node.is_calls
        if is_fork and len(groups) > 1:
            raise NoPathError
        service, times = node.group[5], node.group[7]
        _, _, _, _, _, own_service, own_variation, first, _ = groups[0].first
        near = round(first)
        is_whole = abs(first - near) <= NEARLY_WHOLE * near
        whole = near if is_whole else floor(first)
        alike, left = inside, None
        often: tuple[float | Array, ...] = ()
        if node.is_calls:
            alike = _in_one(inside, times)
            often = (node.group[3],) if inside else ()
        elif node.is_fork:
            counts = Counter(map(id, inside))
            alike = tuple({id(one): one for one in inside}.values())
            often = tuple(float(counts[id(one)]) for one in alike)
        elif node.is_choice:
            left = np.maximum(0.0, 1 - sum((one.chance for one in inside), np.zeros(times.shape)))
        found = NodePlan(
            own=self._own(groups),
            fixed=service if own_service > 0 and not own_variation else None,
            whole=whole,
            share=None if is_whole else np.maximum(0.0, times - whole),
            chance=times,
            inside=alike,
            is_fork=is_fork,
            left=left,
            scale=_scale_of(groups, inside),
            often=often,
            level=max((one.level for one in inside), default=0) + is_fork,
            spare=node.group[6] if node.is_calls and node.group[6].any() else None,
        )
        if often:
            self.forks.setdefault(found.level, []).append(found)
        return found

    def _own(self, groups: Sequence[_Group]) -> int | None:
        service, variation = groups[0].columns[5:7]
        is_late = any(one.first[0] > 0 and one.first[2] > 0 for one in groups)
        is_varied = groups[0].first[5] > 0 and groups[0].first[6] > 0
        if not is_late and not is_varied:
            return None
        key = is_varied, is_late, *(one.own_key(is_varied, is_late) for one in groups)
        if key in self._places:
            return self._places[key]
        place = self._places[key] = self.count
        if is_varied:
            self.services.rows.append((place, service, variation))
        if is_late:
            servers = groups[0].columns[4]
            self.late.append((place, len(self.parts)))
            for waits, load, work, spread, *_ in (one.columns for one in groups):
                self.works.rows.append((len(self.parts), work / servers, spread))
                self.parts.append((np.minimum(waits, 1.0), load))
        return place

    def waits(self) -> Waits | None:
        """Return the waits of all places."""
        if not self.late:
            return None
        return Waits(
            at=[place for place, _ in self.late],
            starts=[start for _, start in self.late],
            shares=np.stack([share for share, _ in self.parts]),
            loads=np.stack([load for _, load in self.parts]),
            works=self.works.of_kinds(),
        )


def plan_of(nodes: Sequence[ForkNode]) -> GridPlan:
    """Return the plan of nodes, all elements alike but for their numbers."""
    planner = _Planner()
    line = planner.line(nodes)
    return GridPlan(
        line=line,
        forks=tuple(tuple(planner.forks[level]) for level in sorted(planner.forks)),
        count=planner.count,
        services=planner.services.of_kinds(),
        waits=planner.waits(),
        scale=sum(one.scale for one in line) or 1.0,
    )


def _in_one(inside: tuple[NodePlan, ...], times: Array) -> tuple[NodePlan, ...]:
    """Return the nodes of a call as one: all calls have that law, of which orders are."""
    if len(inside) < 2:  # noqa: PLR2004 - one is one
        return inside
    one = NodePlan(
        own=None,
        fixed=None,
        whole=1,
        share=None,
        chance=np.ones_like(times),
        inside=inside,
        is_fork=False,
        left=None,
        scale=sum(one.scale for one in inside),
        often=(),
        level=max(one.level for one in inside),
    )
    return (one,)


def _scale_of(groups: Sequence[_Group], inside: Sequence[NodePlan]) -> float:
    """Return about how long a node takes, as the first element has it."""
    _, _, _, _, servers, service, _, times, _ = groups[0].first
    each = [one.scale for one in inside]
    if servers <= 0:
        many = groups[0].first[3] if servers == CALLS else len(each)
        return max(each, default=0.0) * (1 + log(many or 1) / 2) * times
    spare, waits = 1.0, 0.0
    for share, load, work, spread, *_ in (one.first for one in groups):
        spare -= load
        waits += share * work * (1 + spread)
    return (service + waits / (2 * servers * max(spare, _LEAST_SPARE)) + sum(each)) * times
