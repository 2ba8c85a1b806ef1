"""What users find of open traffic at a server of first come, first served.

A network in product form has each user wait for the open traffic that comes meanwhile, in
proportion to its own service. Where first comes first that traffic waits behind: it is what the
user finds when it comes back, less what was served until then. For one user who thinks for an
exponential time that is the transient queue M/G/1 (Takács 1962): a queue with a load rho and work v
at first has v - (1 - rho) Z + exp(-h v) / h after a time of mean Z, h the root of
h - rate (1 - b(h)) = 1/Z, where b is the transform of the services. Where those of all are
exponential and alike, that is product form.

While other users are there what one leaves behind does not become less: so long it is as if the
user did not think. The others that one finds bring with them the open traffic that came between, as
in product form: a station at which one alone is as long as the geometric mean of both makes about
the waits for others, and what is left is a delay.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.station_queues import times_apart, variation_of
from qps.compiler.lower.traffic.traffic_parts import StationTraffic
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

_LEAST = number(Fraction(1, 10**9))
_NO_TIME = number(Fraction(1, 10**30))
_STEEP = 8
"""Only where hardly anything of a server is left it serves no more than in product form."""
_EVEN = number(Fraction(1, 100))
"""A time varies by so much of its square at least, which is as good as fixed."""


class OpenTraffic(Struct, frozen=True, kw_only=True):
    """Open traffic at one server: its load, and what is left of a service that goes on.

    Services there have a coefficient of `variation`.
    """

    load: Formula
    residual: Formula
    variation: Formula


def with_open_work(
    networks: Mapping[str, ClosedNetwork],
    cycles: Mapping[str, Cycle],
    demands: Mapping[str, StationTraffic],
    rates: Collection[Formula],
    expressions: ExpressionLowering,
) -> dict[str, ClosedNetwork]:
    """Return networks, by their classes, in which users find open work as first comes first.

    The `rates` of closed classes are symbols.
    """
    every = {one.names: one for one in networks.values()}
    found = {}
    for names, network in every.items():
        at = {
            one.resource: opened
            for one in network.stations
            for opened in [open_traffic(one, demands[one.resource], rates, expressions)]
            if opened is not None and _is_plain(network)
        }
        found[names] = _with_open_work(network, cycles, at) if at else network
    return {name: found[one.names] for name, one in networks.items()}


def _is_plain(network: ClosedNetwork) -> bool:
    """Return whether one class holds no pool, goes after nobody, and makes no parallel calls."""
    is_ranked = any(one.rank is not None for one in network.stations)
    return network.is_of_one and not (network.is_nested or network.forks or is_ranked)


def open_traffic(
    station: ClosedStation,
    demand: StationTraffic,
    rates: Collection[Formula],
    expressions: ExpressionLowering,
) -> OpenTraffic | None:
    """Return the open traffic at a station that has one server and serves who comes first.

    None where there is none, or where it need not be looked at: all are alike, and exponential. The
    `rates` of closed classes are symbols; elastic parameters move.
    """
    moving = {*rates, *(one.symbol for one in expressions.elastic.values())}
    queueing = demand.queueing
    if queueing is None or queueing.traits.is_insensitive or station.servers is not ONE:
        return None
    if station.open_load is ZERO or not station.open_load.symbols.isdisjoint(moving):
        return None
    visits = [one for one in demand.visits if one.rate.symbols.isdisjoint(moving)]
    if not visits or any(one.batch is not ONE or one.rank != visits[0].rank for one in visits):
        return None
    variation = variation_of(station.resource, queueing, expressions)
    if variation is ONE and times_apart(demand.visits, expressions) == 1:
        return None
    services = _mean_squares(visits, variation, expressions) / 2 / demand.servers
    return OpenTraffic(load=station.open_load, residual=services, variation=variation)


def _mean_squares(
    visits: Sequence[QueueVisit], variation: Formula, expressions: ExpressionLowering
) -> Formula:
    """Return the mean square of services over their mean."""
    work = total(expressions.averaged(one.rate * one.service) for one in visits)
    squares = total(expressions.averaged(one.rate * one.service**2) for one in visits)
    return (1 + variation**2) * squares / maximum(_NO_TIME, work)


def _with_open_work(
    network: ClosedNetwork,
    cycles: Mapping[str, Cycle],
    at: Mapping[str, OpenTraffic],
) -> ClosedNetwork:
    demands = {one.resource: list(one.demands) for one in network.stations}
    delays = list(network.delays)
    found: dict[tuple[str, str], Formula] = {}
    for of, name in enumerate(network.names):
        finding = _findings(network, of, cycles[name], at)
        shorter = [maximum(ZERO, -one.longer) for one in finding.values()]
        # No wait is shorter by more than an absence, nor all of them by more than the delay.
        part = minimum(ONE, delays[of] / maximum(_NO_TIME, total(shorter)))
        for (resource, one), less in zip(finding.items(), shorter, strict=True):
            alone = one.whole + maximum(ZERO, one.longer) - part * less
            steep = 1 - one.busy**_STEEP
            stay = one.whole + (square_root(one.whole * alone) - one.whole) * steep
            served = stay * one.spare
            delays[of] += alone - stay
            found[name, resource] = served - demands[resource][of] + alone - stay
            demands[resource][of] = served
        delays[of] = maximum(ZERO, delays[of])
    stations = tuple(replace(one, demands=tuple(demands[one.resource])) for one in network.stations)
    return replace(network, stations=stations, delays=tuple(delays), found=found)


class _Finding(Struct, frozen=True, kw_only=True):
    """What a cycle finds at a server, which is so `busy` with users, and has so much to `spare`.

    Nobody else there, it is `whole` as long there as in product form, and so much `longer`.
    """

    whole: Formula
    longer: Formula
    busy: Formula
    spare: Formula


def _findings(
    network: ClosedNetwork,
    of: int,
    cycle: Cycle,
    at: Mapping[str, OpenTraffic],
) -> dict[str, _Finding]:
    """Return what the cycles of a class find at each station beside open traffic."""
    stays = {one.resource: _stay(one, of, cycle, at) for one in network.stations}
    found: dict[str, _Finding] = {}
    for station in network.stations:
        opened, demand = at.get(station.resource), station.demands[of]
        if opened is None or demand is ZERO:
            continue
        visits = cycle.visits[station.resource]
        spare = maximum(_LEAST, 1 - opened.load)
        elsewhere = total(stay for name, stay in stays.items() if name != station.resource)
        away = (network.delays[of] + elsewhere) * station.copies / visits
        service, busy = demand / visits, _busy(network, station, spare)
        whole = service / spare
        idle = away
        if not (network.is_of_one and network.jobs[of] is ONE):
            # Of how much there are users, so much is not by oneself.
            idle = away * minimum(ONE, (1 - busy) * (away + whole) / maximum(_NO_TIME, away))
        waits = work_found(opened, service, idle)
        longer = (waits - opened.load * whole) * visits
        found[station.resource] = _Finding(
            whole=whole * visits, longer=longer, busy=busy, spare=spare
        )
    return found


def _busy(network: ClosedNetwork, station: ClosedStation, spare: Formula) -> Formula:
    """Return which share of what open traffic leaves of a server users take in product form."""
    return minimum(
        ONE,
        total(
            network.rate(name) * demand / station.copies / spare
            for name, demand in zip(network.names, station.demands, strict=True)
            if demand is not ZERO
        ),
    )


def _stay(station: ClosedStation, of: int, cycle: Cycle, at: Mapping[str, OpenTraffic]) -> Formula:
    """Return how long a cycle is at a station at least, waits for open traffic included."""
    demand = station.demands[of]
    if demand is ZERO:
        return ZERO
    opened = at.get(station.resource)
    spare = maximum(_LEAST, 1 - station.open_load / station.servers)
    if opened is None:
        return demand / spare
    waits = opened.load * opened.residual * cycle.visits[station.resource]
    return maximum(demand, demand * spare + waits) / spare


def work_found(opened: OpenTraffic, service: Formula, away: Formula) -> Formula:
    """Return the open work that a user finds who was away for an exponential time.

    As it left, what came while it waited and was served was in the queue. The time that this took
    is taken to be gamma distributed.
    """
    variation = opened.variation
    spare = maximum(_LEAST, 1 - opened.load)
    away = maximum(service * _LEAST, away)
    ahead = spare * away
    less = ahead - opened.residual
    root = (less + square_root(less**2 + 4 * opened.residual * away)) / 2  # 1/h
    falls = opened.load / (root + opened.residual)  # h - 1/Z
    begins, factor = service + root - ahead, spare + falls * (ahead - service)
    time = 2 * begins / (factor + square_root(factor**2 + 4 * spare * falls * begins))
    if variation is ONE:
        return time - service
    varies = maximum(_EVEN, 1 + (variation**2 - 1) * (service / time) ** 2)
    base = 1 + time * falls * varies
    none_left = root * apply("exp", -apply("ln", base) / varies)
    off = spare * time - service + ahead - none_left
    return time - off / (spare + falls * none_left / base) - service
