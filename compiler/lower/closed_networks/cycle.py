"""A cycle of a closed class: what it demands of stations, pools and resources without a queue."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, CyclePool
from qps.compiler.lower.closed_networks.fork_join_stations import ForkJoin
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum


class ThroughputLimit(Struct, frozen=True, kw_only=True):
    """A resource without a queue, which serves no more than it can.

    `work` is what a cycle of each flow in a second demands of it, `open_load` what all else does.
    Where other closed users demand it meanwhile, that is in the `work`, and `own` without it.
    """

    resource: str
    work: Formula
    open_load: Formula
    own: Formula

    @property
    def is_shared(self) -> bool:
        """True where several classes meet: all are slowed alike where it is full."""
        return self.work is not self.own

    @property
    def longest_alone(self) -> Formula:
        """The least time between two cycles of one flow where no other class is there."""
        return apply("waiting", self.own, self.open_load)

    @property
    def longest(self) -> Formula:
        """The least time between two cycles of one flow: endless where there is no room."""
        return apply("waiting", self.work, self.open_load)

    @property
    def at_most(self) -> Formula:
        """The cycles a second of one flow for which there is room."""
        headroom = ONE if self.open_load is ZERO else maximum(ZERO, 1 - self.open_load)
        return headroom / self.work


class Cycle(Struct, frozen=True, kw_only=True):
    """The demand of a cycle of a closed class: so many `jobs` are under way in all.

    It has the name of its `stream`, but for kinds of users; each flow has an `amount` under way. A
    cycle takes `delay` s besides its stations, the time to `think` included, and makes so many
    `visits` of each of them and of its pools, of which `outer_pools` are the outermost. Stations
    are `mixed` that are visited while a pool is held and while it is not, by it or by others, and
    `overlapping` where several are busy with one stage. At machines of its own it waits for open
    traffic alone: `own_waits`, where it finds it as first comes first `alone_with_open_work`. Calls
    that it makes together are `forks`.
    """

    name: str
    stream: str
    span: Span
    jobs: Formula
    flows: Formula
    amount: Formula
    think: Formula
    delay: Formula
    stations: tuple[ClosedStation, ...]
    outer_pools: tuple[CyclePool, ...]
    limits: tuple[ThroughputLimit, ...]
    visits: Mapping[str, Formula]
    own_waits: Mapping[str, Formula]
    mixed: tuple[str, ...] = ()
    overlapping: tuple[str, ...] = ()
    forks: tuple[ForkJoin, ...] = ()
    alone_with_open_work: frozenset[str] = frozenset()

    @property
    def pools(self) -> tuple[CyclePool, ...]:
        """All pools that it holds, those within others, too."""
        return tuple(one for pool in self.outer_pools for one in pool.every)
