"""What happens to the items of a network, written down in a row for those who play it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from qps.compiler.lower import notes
from qps.compiler.lower.held import Room
from qps.compiler.lower.mixtures import Mixed, averaged
from qps.compiler.network import itinerary as nodes
from qps.compiler.network.network import Class, Network, StationKind
from qps.engine.formulas import ZERO, Formula, symbol, total


def notes_of(network: Network, rooms: Mapping[str, Room]) -> notes.Notes:
    """Return the notes of a network, of whose pools it is known what they have room for."""
    mixtures = _mixtures(network)
    streams = {
        name: tuple(_Noting(network, one).all_of(one)) for name, one in network.classes.items()
    }
    stations = {
        name: notes.NotedStation(
            queueing=station.queueing,
            variation=station.variation,
            servers=averaged(station.servers, mixtures),
            background=total(averaged(load, mixtures) for _, load in station.background),
            speeds=station.speeds,
            places=station.room,
        )
        for name, station in network.stations.items()
    }
    for name in network.pools:
        room = rooms[name]
        stations[name] = notes.NotedStation(
            queueing=None,
            variation=ZERO,
            servers=1 / room.unit,
            background=room.kept,
            room=room.left,
        )
    return notes.Notes(streams=streams, stations=stations, mixtures=mixtures)


def _mixtures(network: Network) -> dict[Formula, Mixed]:
    return {
        stands: Mixed(
            symbol=stands,
            of=kinds.of,
            of_users=kinds.of_users,
            mean=kinds.means[stands],
            each=tuple(zip(kinds.shares, values, strict=True)),
            kinds=kinds.names,
        )
        for kinds in network.kinds
        for stands, values in kinds.values.items()
    }


class _Noting:
    """Notes the itinerary of one class."""

    def __init__(self, network: Network, of: Class) -> None:
        self._network = network
        self._of = of
        self._pools: dict[int, str] = {}

    def all_of(self, of: Class) -> Iterator[notes.Note]:
        yield notes.Started(
            flows=of.flows,
            rate=of.arrivals.rate,
            item=of.items.primary,
            amount=of.amount,
            think=of.think,
            variation=of.arrivals.variation,
            priority=of.rank,
        )
        yield from self._each(of.itinerary)

    def _each(self, body: nodes.Sequence, fork: int | None = None) -> Iterator[notes.Note]:
        for node in body.nodes:
            yield from self._noted(node, fork)

    def _noted(self, node: nodes.Node, fork: int | None) -> Iterator[notes.Note]:
        match node:
            case nodes.At(node=name, copies=copies):
                yield notes.AtNode(name, copies)
            case nodes.Serve():
                yield from self._served(node)
            case nodes.Delay(why=why, time=time, times=times):
                yield notes.Delayed(why, time * times.mean)
            case nodes.Cross():
                yield self._crossed(node)
            case nodes.Call(times=times):
                often = None if times is None else times.often
                yield notes.CallBegun(node.number, node.node, often, fork)
                yield from self._each(node.body)
                yield notes.CallEnded(node.number)
            case nodes.Fork(number=number, branches=branches):
                for branch in branches:
                    yield from self._each(branch, number)
            case nodes.Take() | nodes.Give():
                yield self._held(node)
            case nodes.Merge(by=by, flows=flows, body=body):
                yield from self._each(body)
                yield notes.Merged(by, flows)
            case _:
                yield from self._changed(node)

    def _changed(self, node: nodes.Node) -> Iterator[notes.Note]:
        """Note what happens to an item that is no visit."""
        match node:
            case nodes.Lose(why=why, kind=kind, chance=chance, station=station):
                share = symbol(f"{station} loses") if chance is None else chance
                yield notes.Gone(why, kind, share)
            case nodes.Restore(why=why, chance=chance):
                yield notes.Restored(why, chance)
            case nodes.Thin(share=share, bursty=bursty, on_for=on_for):
                yield notes.Thinned(share, is_burst=bursty, lasting=on_for)
            case nodes.Send(copies=copies, receivers=receivers):
                yield notes.Copied(copies, receivers)
            case nodes.Resize(bits=None, share=share):
                if self._of.items.primary is None:
                    yield notes.Resized(share)
            case _:
                pass

    def _served(self, node: nodes.Serve) -> Iterator[notes.Note]:
        station = self._network.stations.get(node.station)
        if station is None or station.kind is StationKind.STORE:  # what is kept keeps nobody
            return
        yield notes.Worked(
            step=node.by,
            resource=node.station,
            service=node.times.mean * node.work * node.pace,
            capacity=station.servers,
            thread=node.thread,
        )

    def _crossed(self, node: nodes.Cross) -> notes.Crossed:
        ports = tuple(self._port(port) for port in node.ports)
        return notes.Crossed(link=node.link, ports=ports, is_last=node.every_copy)

    def _port(self, port: nodes.PortVisit) -> notes.Port:
        station, capped = self._network.stations[port.station], None
        assert station.rate is not None
        if port.cap is not None:
            name, items = port.cap
            limit = self._network.stations[name].rate
            assert limit is not None
            capped = name, items / limit
        return notes.Port(
            resource=port.station,
            node=station.place.name if station.kind is StationKind.PORT else None,
            count=station.place.copies,
            service=port.bits / station.rate,
            capped=capped,
        )

    def _held(self, node: nodes.Take | nodes.Give) -> notes.Note:
        if isinstance(node, nodes.Give):
            return notes.PoolGiven(self._pools[node.hold])
        self._pools[node.hold] = node.pool
        pool = self._network.pools[node.pool]
        return notes.PoolTaken(
            pool=node.pool,
            node=pool.place.name,
            count=pool.place.copies,
            amount=node.amount,
            waits=not pool.is_unmodeled,
        )
