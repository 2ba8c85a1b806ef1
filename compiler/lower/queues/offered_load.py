"""What is offered to a resource that loses what finds no room, before anything is lost."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.expressions.formulas import ONE, Formula


class OfferedLoad(Struct, frozen=True, kw_only=True):
    """So much `traffic`, in erlang, for `servers` and a `room`, None where that is for them alone.

    `service` is the mean time of a visit, `spread` the squared variation of these times, `arrivals`
    that of the times between two that come: as the queues before it let them go where these
    `are_counted`, else as they leave their sources. `peakedness` says the same of servers alone.
    """

    traffic: Formula
    servers: Formula
    service: Formula
    room: Formula | None = None
    spread: Formula = ONE
    arrivals: Formula = ONE
    are_counted: bool = False
    peakedness: Formula = ONE

    @property
    def is_uneven(self) -> bool:
        """True where it counts that what comes does not come at random."""
        return self.arrivals is not ONE or self.peakedness is not ONE

    @property
    def symbols(self) -> frozenset[Formula]:
        """The symbols on which it rests."""
        capacity_symbols = self.room.symbols if self.room is not None else frozenset()
        of_times = self.service.symbols | self.spread.symbols
        of_arrivals = self.arrivals.symbols | self.peakedness.symbols
        return self.traffic.symbols | of_times | of_arrivals | capacity_symbols

    def changed(self, change: Callable[[Formula], Formula]) -> OfferedLoad:
        """Return the same with every formula changed."""
        return replace(
            self,
            traffic=change(self.traffic),
            servers=change(self.servers),
            service=change(self.service),
            room=self.room and change(self.room),
            spread=change(self.spread),
            arrivals=change(self.arrivals),
            peakedness=change(self.peakedness),
        )
