"""Runs of an itinerary: services at one station in a row are one visit of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Lose, Merge, Resize, Restore, Send, Serve, Thin
from qps.compiler.network.passages import Passage
from qps.engine.formulas import Formula, total

_GO_ON = (Lose, Thin, Resize, Restore, Send, Merge)
"""What happens to an item while it stays in its visit."""


class Run(Struct, frozen=True):
    """A visit of a station: the services in a row that it is made of, all of one class."""

    of: Class
    station: str
    services: tuple[Serve, ...]

    @property
    def mean(self) -> Formula:
        """The mean time of the visit on one server, in s."""
        return total(one.demand for one in self.services)


def runs_of(passages: Iterable[Passage], waiting: frozenset[str]) -> Iterator[Run]:
    """Yield the visits of stations that items are `waiting` for, of one class, in order."""
    open_runs: dict[str, list[Serve]] = {}
    of: Class | None = None
    for passage in passages:
        of, node = passage.of, passage.node
        if isinstance(node, _GO_ON):
            continue
        if not isinstance(node, Serve) or node.station not in open_runs:
            yield from _ended(of, open_runs)
            open_runs = {}
        if isinstance(node, Serve) and node.station in waiting:
            open_runs.setdefault(node.station, []).append(node)
    if of is not None:
        yield from _ended(of, open_runs)


def _ended(of: Class, runs: dict[str, list[Serve]]) -> Iterator[Run]:
    for station, services in runs.items():
        yield Run(of, station, tuple(services))
