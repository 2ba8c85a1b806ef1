"""A queueing network on a screen: stations of a kind together, links, pools, and classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from qps.compiler import ir
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network import itinerary as nodes
from qps.compiler.network.arrivals import ArrivalProcess, Arrivals
from qps.compiler.network.classes import Class
from qps.compiler.network.passages import passages
from qps.compiler.network.spread import CopySelectionKind
from qps.compiler.network.stations_and_pools import Pool, Station, StationKind
from qps.engine.expressions.formulas import ZERO, Formula
from qps.reports.text.explanations.itinerary_text import ItineraryText
from qps.reports.text.formulas.network_numbers import NetworkNumbers
from qps.reports.text.layout.facts import COLUMNS, facts_text, notes_text, title_lines
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.phrases import phrase

_TITLE = phrase("network.queueing_network")
_OF_LINKS = (StationKind.PORT, StationKind.MEDIUM, StationKind.CAP)
_SPREADS = {
    CopySelectionKind.OWN: phrase("network.one_per_source"),
    CopySelectionKind.WITH_HOLD: phrase("network.one_per_pool"),
}


def network_text(
    graph: LoadGraph,
    place: str,
    users: int | None = None,
    *,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return the network of a load graph, evaluated for so many users if given."""
    screen = NetworkScreen(graph, users)
    tables, classes = screen.tables(), list(screen.classes())
    notes = screen.notes()
    if markdown:
        facts = [f"- **{label}:** {escaped(fact)}" for label, fact in screen.facts()]
        listed = [
            f"- **{escaped(name)}:** {escaped(f'{head}: {way}')}" for name, head, way in classes
        ]
        parts = [table.as_markdown() for table in tables if table.rows]
        title = f"### {_TITLE} ({escaped(place)})"
        return joined([title, "\n".join(facts), *parts, "\n".join(listed), *map(escaped, notes)])
    lines = ["  Classes"]
    for name, head, way in classes:
        lines += wrapped(f"{name}: {head}", width, "  ", "    ")
        lines += wrapped(way, width, "    ")
    title = "\n".join(title_lines(_TITLE, place, width))
    shown = [table.as_text(width=width) for table in tables if table.rows]
    facts_shown = facts_text(list(screen.facts()), width)
    return joined([title, facts_shown, *shown, "\n".join(lines), notes_text(notes, width)])


class NetworkScreen:
    """What is shown of a network, in parts."""

    def __init__(self, graph: LoadGraph, users: int | None = None) -> None:
        self._graph = graph
        self._network = graph.network
        self._users = users
        self._numbers = NetworkNumbers(graph, users)
        self._itineraries = ItineraryText(graph.network, self._numbers)

    def facts(self) -> Iterator[tuple[str, str]]:
        """Yield the population, the kinds, and what is elastic."""
        network, write = self._network, self._numbers
        name, users = network.population.name, self._users
        ends = f"{name}: {network.low:,} to {network.high:,}"
        yield "Population", ends if users is None else f"{name} = {users:,}"
        for kinds in network.kinds:
            each = zip(kinds.names, kinds.shares, strict=True)
            shares = ", ".join(f"{one} {write.share(share)}" for one, share in each)
            yield "Mix", f"{kinds.of}: {shares} of {'users' if kinds.of_users else 'items'}"
        if network.elastic:
            yield "Elastic", ", ".join(one.symbol.name for one in network.elastic)

    def tables(self) -> tuple[Table, ...]:
        """Return the stations, links and pools."""
        return (
            Table(
                ("Station", "Queueing", phrase("network.size"), "Copies", "Node"),
                self._stations(),
                long=_LONG,
            ),
            Table(("Link", "Properties", "Connects"), self._links(), long=frozenset([1, 2])),
            Table(("Pool", "Size", "Copies", "Node"), self._pools(), long=frozenset([1, 3])),
        )

    def classes(self) -> Iterator[tuple[str, str, str]]:
        """Yield the name of each class, how its items come, and their itinerary."""
        for one in self._network.classes.values():
            yield one.name, self._source(one), self._itineraries.of(one)

    def notes(self) -> list[str]:
        """Return what is said at the end, of what was shown before."""
        name = self._network.population.name
        if not self._numbers.is_shortened:
            return []
        return [phrase("network.long_formula", name=name)]

    # -- stations, links, pools ----------------------------------------------------------

    def _stations(self) -> tuple[tuple[str, ...], ...]:
        stations = self._network.stations.values()
        found = (one for one in stations if one.kind not in _OF_LINKS)
        return _by_place(self._station(one) for one in found)

    def _station(self, one: Station) -> tuple[str, ...]:
        write, place = self._numbers, one.place
        queueing = "none" if one.queueing is None else _discipline(one.queueing)
        if one.kind is StationKind.STORE:
            queueing = "–"
        elif one.is_unmodeled:
            queueing = phrase("network.not_modeled")
        background = "".join(
            f", {write.share(load)} {by}"
            for by, load in one.background
            if (one.name, by) not in self._per_flow
        )
        servers = write.count(one.servers)
        if one.rate is not None:
            servers = write.speed(one.rate)
        elif one.capacity is not None:
            servers = write.amount(one.capacity, one.capacity)
        copies = write.count(place.copies) + _SPREADS.get(one.spread.kind, "")
        own = one.name.removeprefix(f"{place.name}.")
        return own, queueing + background, servers, copies, place.name

    @cached_property
    def _per_flow(self) -> set[tuple[str, str]]:
        """The stations and components of what flows keep for good: itineraries say that."""
        return {
            (passage.node.station, passage.node.by)
            for one in self._network.classes.values()
            for passage in passages(one)
            if isinstance(passage.node, nodes.Serve) and passage.node.per_flow is not ZERO
        }

    def _links(self) -> tuple[tuple[str, ...], ...]:
        return tuple(
            (name, ", ".join(self._properties(name, link.medium)), self._ends(name, link.ends))
            for name, link in self._network.links.items()
            if name in self._crossings or name in self._on_links
        )

    def _properties(self, link: str, medium: str) -> Iterator[str]:
        """Yield what a link is like."""
        write, stations = self._numbers, self._network.stations
        yield medium
        for port in self._crossings.get(link, ())[:1]:
            station = stations[port.station]
            assert station.rate is not None
            yield write.rate(station.rate, None)
        for node in self._on_links.get(link, {}).values():
            match node:
                case nodes.Delay(time=time) if write.value(time) != 0:
                    yield write.time(time)
                case nodes.Lose(chance=chance) if chance is not None:
                    yield f"loss {write.share(chance)}"
        for port in self._crossings.get(link, ())[:1]:
            if port.cap is not None:
                name, _ = port.cap
                item = name.removeprefix(f"{port.station}.").removesuffix("s")
                cap = stations[name].rate
                assert cap is not None
                yield f"limit {write.rate(cap, item)}"
            station = stations[port.station]
            if station.queueing is not None:
                yield station.queueing.written
            elif station.is_unmodeled:
                yield phrase("network.no_queueing")

    def _ends(self, link: str, ends: Iterable[str]) -> str:
        """Return what a link joins, with how many of each end there are."""
        write, stations, copies = self._numbers, self._network.stations, dict[str, Formula]()
        for port in self._crossings.get(link, ()):
            station = stations[port.station]
            copies.setdefault(station.place.name, station.place.copies)
        joins = [*ends] if link in copies else [*copies] or [*ends]
        return ", ".join(
            one
            if one not in copies or write.is_one(copies[one])
            else f"{one}×{write.factor(copies[one])}"
            for one in joins
        )

    @cached_property
    def _crossings(self) -> dict[str, tuple[nodes.PortVisit, ...]]:
        """The ports of each link, in the order in which items come to them."""
        found: dict[str, dict[str, nodes.PortVisit]] = {}
        for one in self._network.classes.values():
            for passage in passages(one):
                if isinstance(passage.node, nodes.Cross):
                    known = found.setdefault(passage.node.link, {})
                    for port in passage.node.ports:
                        known.setdefault(port.station, port)
        return {link: tuple(ports.values()) for link, ports in found.items()}

    @cached_property
    def _on_links(self) -> dict[str, dict[str, nodes.Delay | nodes.Lose]]:
        """What each link takes of an item: time to propagate, and some that are lost."""
        found: dict[str, dict[str, nodes.Delay | nodes.Lose]] = {}
        for one in self._network.classes.values():
            for passage in passages(one):
                node = passage.node
                if isinstance(node, nodes.Delay | nodes.Lose) and node.link is not None:
                    found.setdefault(node.link, {}).setdefault(node.why, node)
        return found

    def _pools(self) -> tuple[tuple[str, ...], ...]:
        return _by_place(map(self._pool, self._network.pools.values()))

    def _pool(self, one: Pool) -> tuple[str, ...]:
        write = self._numbers
        capacity = write.amount(one.capacity, one.capacity)
        capacity += "".join(
            phrase("network.held_by", share=write.share(load), by=by) for by, load in one.background
        )
        if one.is_unmodeled:
            capacity += phrase("network.unmodeled_queue")
        own = one.name.removeprefix(f"{one.place.name}.")
        return own, capacity, write.count(one.place.copies), one.place.name

    # -- classes -------------------------------------------------------------------------

    def _source(self, one: Class) -> str:
        """Return how the items of a class come: `open, N × 0.1 request/s, Poisson`."""
        write, item = self._numbers, one.items.primary
        if one.population is not None and one.think is not None:
            words = [
                phrase("network.closed_population", count=write.count(one.population)),
                f"think {write.time(one.think)}",
            ]
        else:
            rate = write.rate(one.arrivals.rate, item)
            flows = "" if write.is_one(one.flows) else f"{write.count(one.flows)} × "
            words = ["open", f"{flows}{rate}", self._process(one.arrivals)]
        if one.items.bits is not None:
            words.append(f"{write.size(one.items.bits)}/{item}")
        if one.rank is not None:
            words.append(f"priority {write.count(one.rank)}")
        if one.playout is not None:
            words.append(phrase("network.playout_buffer", text=one.playout.delay.stated.text))
        return ", ".join(words)

    def _process(self, arrivals: Arrivals) -> str:
        if arrivals.variation is not None:
            return phrase("network.renewal_cv", count=self._numbers.count(arrivals.variation))
        return "Poisson" if arrivals.process is ArrivalProcess.POISSON else arrivals.process.value


_LONG = frozenset([1, 4])
_FEW = 4


def _discipline(queueing: ir.Queueing) -> str:
    """Return a discipline as a spec writes it, of many speeds the first and the last."""
    speeds = [one.text for one in queueing.speeds]
    if len(speeds) <= _FEW:
        return queueing.written
    return f"{queueing.discipline.value} speeds [{speeds[0]}, {speeds[1]}, …, {speeds[-1]}]"


def _by_place(rows: Iterable[tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Return rows with those together that differ in nothing but the place, which is last."""
    places: dict[tuple[str, ...], list[str]] = {}
    for *same, place in rows:
        places.setdefault(tuple(same), []).append(place)
    return tuple((*same, ", ".join(names)) for same, names in places.items())
