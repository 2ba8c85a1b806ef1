"""The load of a resource: what each component and each stream adds to it."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.expressions.formulas import ONE, ZERO, Formula, total


class ResourceLoad(Struct, frozen=True, kw_only=True):
    """A resource in place: its load (1 is saturation), what each component, and stream, adds to it.

    `unresolved` is the load with elastic parameters still open; the same where there are none.
    `target` is the load at which it counts as saturated: 1, or less by plan. `throughput` is what
    is to be carried, in bit/s, where it carries bits; of which there are `count`. `port_of` is
    the link that it is a port of, where that is a switch. A load is `known` as the model says it,
    but for what rests on waits.
    """

    name: str
    load: Formula
    parts: dict[str, Formula]
    span: Span
    unresolved: Formula
    target: Formula = ONE
    throughput: Formula | None = None
    count: Formula = ONE
    port_of: str | None = None
    open_load: Formula | None = None
    """What others demand of it where users wait who slow down: their own load alone levels off."""
    known: Certainty = EXACT
    """How the load is known: that of users who wait is as their waits are."""
    open_known: Certainty = EXACT
    """How it is known what others than users who wait demand of it."""
    streams: dict[str, Formula] = field(default_factory=dict)
    """What each stream adds to it."""
    is_never_full: bool = False
    """True where what finds no room is lost: what is served is less than all."""

    @property
    def fullness(self) -> Formula:
        """The load as a part of the target: 1 is saturation."""
        return self.load / self.target

    @property
    def demand(self) -> Formula:
        """What is at its target where it saturates: who waits for an answer demands no more."""
        return self.demand_at(self.target)[0]

    @property
    def demand_known(self) -> Certainty:
        """How it is known what is at its target where it saturates."""
        return self.demand_at(self.target)[1]

    def with_holds(self, holds: Iterable[tuple[str, Formula]], known: Certainty) -> ResourceLoad:
        """Return the load of a pool with what streams hold of it besides, known so well."""
        parts, streams = dict(self.parts), dict(self.streams)
        for stream, much in holds:
            parts[stream] = parts.get(stream, ZERO) + much
            streams[stream] = streams.get(stream, ZERO) + much
        whole = total(parts.values())
        return replace(
            self, load=whole, unresolved=whole, parts=parts, streams=streams, known=known
        )

    def demand_at(self, limit: Formula) -> tuple[Formula, Certainty]:
        """Return what is at a limit of the load where it is too much, and how that is known."""
        if self.is_never_full and limit is ONE:
            return self.load, EXACT  # in truth, too, less than all is served
        if self.open_load is None or limit is not ONE:
            return self.load, self.known
        return self.open_load, self.open_known
