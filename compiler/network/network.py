"""The queueing network that a spec means in one configuration: stations, pools and classes.

It says what the spec means and nothing that follows from it: nothing is solved or averaged, and no
wait is in it. Times are in s, sizes in bit, rates in 1/s, loads as parts of one server, all else in
single items. Every number is a formula in the population, the assumptions, elastic parameters,
switches and kinds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.network.classes import Class, ItemKinds
from qps.compiler.network.formula_mapping import formulas_changed
from qps.compiler.network.stations_and_pools import Pool, Station, StationKind
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import Substitution

if TYPE_CHECKING:
    import networkx as nx


class Elastic(Struct, frozen=True, kw_only=True):
    """A parameter that takes what loads leave, from `least` to `most`; those of low rank first."""

    symbol: Formula
    least: Formula
    most: Formula
    rank: int | None


class Link(Struct, frozen=True):
    """How a link carries, and what it joins."""

    medium: str
    ends: tuple[str, ...]


class Network(Struct, frozen=True, kw_only=True):
    """The unsolved queueing network of a spec, for `low` to `high` users."""

    population: Formula
    low: int
    high: int
    stations: Mapping[str, Station] = field(default_factory=dict)
    pools: Mapping[str, Pool] = field(default_factory=dict)
    classes: Mapping[str, Class] = field(default_factory=dict)
    kinds: tuple[ItemKinds, ...] = ()
    elastic: tuple[Elastic, ...] = ()
    switches: Mapping[ir.Condition, Formula] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    """The nodes of the topology, also those that nothing comes to."""
    links: Mapping[str, Link] = field(default_factory=dict)

    def graph(self) -> nx.MultiDiGraph[str]:
        """Return the nodes of the topology as a graph of networkx, an edge for each call and hop.

        Nodes have `copies`, `stations` and `pools`; edges a `kind` ("call" or "hop"), the `stream`
        and, of calls, `times`. Raises QpsError where networkx is not installed.
        """
        from qps.compiler.network.multigraph import multigraph  # noqa: PLC0415 - seldom needed

        return multigraph(self.classes, self.stations, self.pools)

    def seen_by(self, of: Class) -> Network:
        """Return the network as a class meets it, whose kind of users has values of its own."""
        if not of.values:
            return self
        put_in = Substitution(of.values)
        stations = {n: formulas_changed(one, put_in) for n, one in self.stations.items()}
        pools = {n: formulas_changed(one, put_in) for n, one in self.pools.items()}
        return replace(self, stations=stations, pools=pools)

    def place_of(self, name: str) -> str:
        """Return the node or link at which a station or pool stands: of a port, its link."""
        if name in self.pools:
            return self.pools[name].place.name
        station = self.stations[name]
        return station.port_of or station.place.name

    def is_store(self, name: str) -> bool:
        """Whether what has a name holds what flows keep, as pools do, and serves nobody."""
        return name in self.pools or self.stations[name].kind is StationKind.STORE

    def capacity_of(self, name: str) -> Formula | None:
        """Return how much a store or pool holds, each copy; None of what serves."""
        pool = self.pools.get(name)
        return self.stations[name].capacity if pool is None else pool.capacity
