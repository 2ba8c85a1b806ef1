"""Runs of an itinerary: services at one station in a row are one visit of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import At, Call, Cross, Delay, Fork, Node, Serve
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage
from qps.engine.expressions.formulas import Formula, total


def goes_on(station: str, node: Node, is_store: Callable[[str], bool]) -> bool:
    """Return whether an item at a node of its itinerary is still in its visit of a station.

    What it is served there in a row is one visit, also where some of it is lost or copied
    meanwhile, or takes a part of a store for good; what comes back from elsewhere waits anew.
    """
    match node:
        case Serve(station=other, thread=thread):
            return station in (other, thread) or is_store(other)
        case At() | Delay() | Cross() | Call() | Fork():
            return False
        case _:
            return True


class ServiceRun(Struct, frozen=True):
    """A visit of a station: the services in a row that it is made of, all of one class."""

    of: Class
    station: str
    services: tuple[Serve, ...]

    @property
    def mean(self) -> Formula:
        """The mean time of the visit on one server, in s."""
        return total(one.demand for one in self.services)


def runs_of(passages: Iterable[Passage], network: Network) -> Iterator[ServiceRun]:
    """Yield the visits of stations that items wait for, of one class, in order."""
    open_runs: dict[str, list[Serve]] = {}
    of: Class | None = None
    for passage in passages:
        of, node = passage.of, passage.node
        ended = [name for name in open_runs if not goes_on(name, node, network.is_store)]
        yield from _ended(of, {name: open_runs.pop(name) for name in ended})
        if isinstance(node, Serve) and _is_queueing(node.station, network):
            open_runs.setdefault(node.station, []).append(node)
    if of is not None:
        yield from _ended(of, open_runs)


def _is_queueing(name: str, network: Network) -> bool:
    station = network.stations.get(name)
    return station is not None and station.waits


def _ended(of: Class, runs: dict[str, list[Serve]]) -> Iterator[ServiceRun]:
    for station, services in runs.items():
        yield ServiceRun(of, station, tuple(services))
