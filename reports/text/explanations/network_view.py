"""A queueing network as plain values: what `qps explain --network FILE --format json` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network import arrivals, classes, itinerary, network, spread, stations_and_pools
from qps.engine.expressions.formulas import Formula
from qps.reports.text.explanations.itinerary_view import NODE_VIEWS, FormulaValue, NodeView
from qps.reports.text.formulas.formula_text import formula as in_symbols
from qps.reports.text.formulas.network_numbers import NetworkNumbers


class PlaceView(Struct, frozen=True):
    """A node or link, and the number of its identical copies."""

    name: str
    copies: FormulaValue


class SpreadView(Struct, frozen=True):
    """Distribution of visits over the copies."""

    kind: str
    pool: str


class StationView(Struct, frozen=True, kw_only=True):
    """A station: its servers and its queueing discipline."""

    name: str
    place: PlaceView
    kind: str
    queueing: str | None
    is_unmodeled: bool
    servers: FormulaValue
    variation: FormulaValue
    speeds: tuple[FormulaValue, ...]
    room: FormulaValue | None
    period: FormulaValue | None
    host_cores: FormulaValue
    spread: SpreadView
    background: tuple[tuple[str, FormulaValue], ...]
    rate: FormulaValue | None
    capacity: FormulaValue | None
    port_of: str | None
    jitter: str | None


class PoolView(Struct, frozen=True, kw_only=True):
    """A pool: the capacity of each copy, and the amount that is permanently in use."""

    name: str
    place: PlaceView
    capacity: FormulaValue
    background: tuple[tuple[str, FormulaValue], ...]
    is_unmodeled: bool


class ArrivalsView(Struct, frozen=True):
    """Arrival process of one flow."""

    process: str
    rate: FormulaValue
    variation: FormulaValue | None


class ItemsView(Struct, frozen=True):
    """The items that a class sends."""

    primary: str | None
    bits: FormulaValue | None
    sizes: dict[str, FormulaValue]


class HolderView(Struct, frozen=True):
    """The owner of the flows."""

    kind: str
    name: str | None


class PlayoutView(Struct, frozen=True):
    """A playout buffer: formulas for its delay and its loss."""

    delay: str
    dropping: str | None


class ClassView(Struct, frozen=True, kw_only=True):
    """A class of items and its itinerary. A closed class has a population and a think time."""

    name: str
    flows: FormulaValue
    arrivals: ArrivalsView
    items: ItemsView
    holder: HolderView
    population: FormulaValue | None
    think: FormulaValue | None
    rank: FormulaValue | None
    playout: PlayoutView | None
    itinerary: tuple[NodeView, ...]


class KindsView(Struct, frozen=True, kw_only=True):
    """Kinds of users or items, with their probabilities and values."""

    of: str
    of_users: bool
    names: tuple[str, ...]
    shares: tuple[FormulaValue, ...]
    values: dict[str, tuple[FormulaValue, ...]]


class ElasticParameterView(Struct, frozen=True, kw_only=True):
    """An elastic parameter of the network."""

    symbol: FormulaValue
    least: FormulaValue
    most: FormulaValue
    rank: int | None


class LinkView(Struct, frozen=True):
    """A link: its medium and its ends."""

    medium: str
    ends: tuple[str, ...]


class UsersView(Struct, frozen=True):
    """The population and its range."""

    name: str
    from_: int
    to: int


class NetworkView(Struct, frozen=True, kw_only=True):
    """Queueing network of a spec, unsolved. `at` is null without `--at`."""

    schema: str
    file: str
    population: UsersView
    at: int | None
    stations: tuple[StationView, ...]
    pools: tuple[PoolView, ...]
    classes: tuple[ClassView, ...]
    kinds: tuple[KindsView, ...]
    elastic: tuple[ElasticParameterView, ...]
    links: dict[str, LinkView]


_VIEWS: Mapping[type[Struct], type[Struct]] = {
    arrivals.Arrivals: ArrivalsView,
    classes.Class: ClassView,
    network.Elastic: ElasticParameterView,
    classes.Holder: HolderView,
    classes.ItemKinds: KindsView,
    classes.Items: ItemsView,
    network.Link: LinkView,
    stations_and_pools.Place: PlaceView,
    classes.Playout: PlayoutView,
    stations_and_pools.Pool: PoolView,
    stations_and_pools.Station: StationView,
    spread.CopySelection: SpreadView,
    **NODE_VIEWS,
}
"""What is printed of each part of a network: of its fields, those of the same names."""


def network_view(graph: LoadGraph, file: str, users: int | None = None) -> NetworkView:
    """Return the network of a load graph as plain values, evaluated for so many users if given."""
    shown, whole = _Views(NetworkNumbers(graph, users)), graph.network
    return NetworkView(
        schema="qps/network/2",
        file=file,
        population=UsersView(graph.population.name, whole.low, whole.high),
        at=users,
        stations=shown.each(whole.stations.values()),
        pools=shown.each(whole.pools.values()),
        classes=shown.each(whole.classes.values()),
        kinds=shown.each(whole.kinds),
        elastic=shown.each(whole.elastic),
        links=shown.of(whole.links),
    )


class _Views:
    """Makes views of the parts of a network."""

    def __init__(self, numbers: NetworkNumbers) -> None:
        self._numbers = numbers

    def each(self, parts: Iterable[object]) -> tuple[Any, ...]:
        """Return the views of several parts."""
        return tuple(map(self.of, parts))

    def of(self, value: object) -> Any:
        """Return a part as plain values."""
        match value:
            case Formula():
                return FormulaValue(in_symbols(value), self._numbers.value(value))
            case itinerary.Sequence(nodes=each):
                return self.each(each)
            case stations_and_pools.Open(stated=stated):
                return stated.text
            case ir.Queueing():
                return value.written
            case ir.EventOutcome():
                return value.words
            case Enum():
                return value.value
            case tuple():
                return self.each(value)
            case Mapping():
                return {
                    key.name if isinstance(key, Formula) else key: self.of(one)
                    for key, one in value.items()
                }
            case Struct():
                return self._view(value)
            case _:
                return value

    def _view(self, value: Struct) -> Struct:
        kind = _VIEWS[type(value)]
        names = (name for name in kind.__struct_fields__ if name != "type_")
        return kind(**{name: self.of(getattr(value, name)) for name in names})
