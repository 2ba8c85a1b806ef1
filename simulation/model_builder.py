"""From a network to what is played: numbers at one population, and itineraries as steps.

What cannot be played is refused by name. What is played otherwise than it may be meant is remarked.
"""

from __future__ import annotations

from math import inf

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.network.arrivals import ArrivalProcess
from qps.compiler.network.class_kinds import kinds_in
from qps.compiler.network.classes import Class
from qps.compiler.network.network import Network
from qps.simulation.class_values import ClassValues, each_of
from qps.simulation.itinerary_steps import ItinerarySteps
from qps.simulation.loss_weights import with_loss_weights
from qps.simulation.operating_point import OperatingPoint, operating_point
from qps.simulation.run_lengths import episode_of, lead_of
from qps.simulation.simulated_model import (
    Choose,
    Pick,
    Serve,
    SimulatedNetwork,
    Step,
    StreamSource,
    served,
)
from qps.simulation.station_registry import NEARLY, Stations, refused
from qps.simulation.time_shifts import shifted

_FULL = 1 - 1e-9
_BITS = 8
_MOST = 100_000
_MANY_USERS = 1000
_PIECE = 1000.0
"""So many bytes are played as one, where nothing says in what pieces they come."""


def simulated_model(graph: LoadGraph, at: int) -> SimulatedNetwork:
    """Return what is to be played of a load graph at a population; QpsError where it cannot be."""
    return network_simulation(graph.network, operating_point(graph, at))


def network_simulation(
    network: Network, point: OperatingPoint, *, is_over_time: bool = False
) -> SimulatedNetwork:
    """Return what is to be played of a network at an operating point, likewise.

    What is played over time may be overloaded for a while.
    """
    if not is_over_time:
        _refuse_overload(network, point)
    playing = _NetworkBuilder(stations=Stations(network=network, point=point))
    for one in network.classes.values():
        playing.add(one)
    playing.add_background()
    found = SimulatedNetwork(
        population=point.users,
        stations=tuple(playing.stations.known),
        sources=tuple(playing.sources),
        flows=playing.flows,
        remarks=tuple(dict.fromkeys(playing.stations.remarks)),
    )
    if is_over_time:
        return found
    return replace(found, episode=episode_of(found), lead=lead_of(found))


def _refuse_overload(network: Network, point: OperatingPoint) -> None:
    # Users who wait for their answers never demand more than there is.
    has_closed = any(one.is_closed for one in network.classes.values())
    for name, utilization in point.utilizations.items():
        station = network.stations.get(name)
        waits = station is not None and station.waits and not has_closed
        # Where nobody waits, a full resource serves all that comes.
        if utilization >= (_FULL if waits else 1 + NEARLY):
            raise refused(
                f"utilization of `{name}` is {utilization:.4g} at {network.population} = "
                f"{point.users}: its queue grows without bound, so there is no steady state to "
                "simulate",
                "simulate fewer users (`--at`), or give it more capacity",
            )


class _NetworkBuilder(Struct, kw_only=True):
    """Gathers what is played."""

    stations: Stations
    sources: list[StreamSource] = field(default_factory=list)
    flows: dict[str, float] = field(default_factory=dict)

    def add(self, of: Class) -> None:
        """Add a class, each kind of its users as a source of its own.

        So are kinds of items that come at random, or of which each flow sends its own by a clock;
        else each item draws its kind when it comes.
        """
        of_users, of_items = kinds_in(self.stations.network, of)
        is_drawn = of.is_closed or of.arrivals.variation is not None
        for share, kind in each_of(of_users):
            each = [
                (
                    part,
                    *self._steps_of(of, ClassValues(self.stations.point, of.values | kind | own)),
                )
                for part, own in each_of(of_items)
            ]
            if not is_drawn or len(each) == 1:
                for part, of_kind, steps in each:
                    # Of what nobody waits for, times are added without an event.
                    whole = steps if of.is_closed else shifted(steps)
                    self._add_source(share * part, of_kind, whole)
                continue
            _, first, _ = each[0]
            chosen = tuple((part, steps) for part, _, steps in each)
            self._add_source(share, first, (Choose(chosen),))

    def _steps_of(self, of: Class, numbers: ClassValues) -> tuple[ItinerarySteps, tuple[Step, ...]]:
        """Return the steps of one kind, each with what is lost there, and what made them."""
        piece = 1.0 if of.items.primary is not None else _PIECE
        found = ItinerarySteps(stations=self.stations, of=of, numbers=numbers, weight=piece)
        return found, with_loss_weights(found.steps())

    def _add_source(self, share: float, of_kind: ItinerarySteps, steps: tuple[Step, ...]) -> None:
        """Add a source: a share of all flows of a class, with the numbers of one kind."""
        of, numbers, point = of_kind.of, of_kind.numbers, self.stations.point
        flows = numbers(of.flows)
        sent, bits = 1.0, 1.0
        if of.items.primary is None:  # of bare bytes the rate is that of bits
            sent, bits = _BITS * _PIECE, _BITS * of_kind.weight
        arriving = share * flows * of_kind.flows / bits
        customers, think = 0, 0.0
        if of.think is None or of.amount is None:
            rate = share * flows * numbers(of.arrivals.rate) / sent
        else:
            customers = self._customers(of.stream, share * flows * numbers(of.amount))
            think = numbers(of.think)
            rate = share * flows * point.values.number(point.rates[of.stream])
        if rate <= 0:
            return
        self.flows[of.stream] = self.flows.get(of.stream, 0.0) + arriving
        variation = of.arrivals.variation
        source = StreamSource(
            stream=of.stream,
            rate=rate,
            flows=share * flows,
            steps=steps,
            is_periodic=of.arrivals.process is ArrivalProcess.PERIODIC,
            customers=customers,
            think=think,
            variation=None if variation is None else numbers(variation),
            priority=inf if of.rank is None else numbers(of.rank),
        )
        self._refuse_many(source)
        self.sources.append(source)

    def _refuse_many(self, source: StreamSource) -> None:
        """Refuse what would take more memory than there is: each run keeps all of these."""
        has_own = source.is_periodic or source.variation is not None
        if source.customers:
            count, what = source.customers - source.rate * source.think, "items in flight"
        else:
            count, what = source.flows if has_own else 0.0, "flows with their own timing"
        if count > _MOST:
            raise refused(
                f"`{source.stream}` has {count:,.0f} {what} at once at "
                f"{self.stations.network.population} = {self.stations.point.users}: the "
                f"simulation supports at most {_MOST:,} per stream",
                "simulate fewer users (`--at`)",
            )

    def _customers(self, stream: str, count: float) -> int:
        if abs(count - round(count)) > NEARLY * max(1.0, count):
            raise refused(
                f"`{stream}` has {count:.4g} items in flight at "
                f"{self.stations.network.population} = {self.stations.point.users}: the "
                "simulation needs a whole number",
                self._where_whole(count),
            )
        return round(count)

    def _where_whole(self, count: float) -> str:
        """Return a number of users near the one requested at which a share of them is whole."""
        network, at = self.stations.network, self.stations.point.users
        for n in sorted(
            range(max(network.low, at - _MANY_USERS), min(network.high, at + _MANY_USERS) + 1),
            key=lambda n: abs(n - at),
        ):
            whole = count / at * n
            if round(whole) and abs(whole - round(whole)) <= NEARLY * max(1.0, whole):
                return f"use a population that divides into whole numbers: `--at {n}`"
        return "use shares that give whole numbers"

    def add_background(self) -> None:
        """Let load that no item causes come as visits of mean size, where it is waited for."""
        for number, station in enumerate(self.stations.known):
            if not station.waits or station.background <= 0:
                continue
            visits = [
                (visit, often * source.rate)
                for source in self.sources
                for visit, often in served(source.steps)
                if number in (visit.station, visit.thread)
            ]
            rate = sum(often for _, often in visits)
            mean = sum(visit.mean * often for visit, often in visits) / rate
            node = visits[0][0].node
            demand = station.background * station.fastest * station.copies
            visit = Serve(station=number, parts=((mean, None),), node=node)
            pick = (Pick(node, round(station.copies)),) if node is not None else ()
            self.sources.append(
                StreamSource(stream="", rate=demand / mean, flows=1.0, steps=(*pick, visit))
            )
            self.stations.remarks.append(
                f"background utilization of {station.name} is simulated as visits of mean size"
            )
