"""How much longer users of one class wait where services are more uneven than exponential ones.

A network in product form has each user wait for mean services. As first comes first it waits for
the rest of the service that it finds, and long ones are found more often: in open traffic that is
`ratio` times as long (`unlike_services`). Users who wait bring no more work, so that in a network
it is less. By mean value analysis (Schweitzer 1979), N - 1 others come once in a cycle, of which
they spend A elsewhere and W waiting: with so much work B = (N - 1) service / servers of theirs,

    W (A + W - B) = ratio K,    where K = W1 (A + W1 - B) is that of the wait W1 in product form.

The part of W that is not the wait of product form, 1 - 1/ratio of it, is a delay of the network.

Another user who is away for a mean time T comes at most once while a service of length s goes on,
with a chance of s/(s + T): long services are found less often than in open traffic, where that is
in proportion to s. Each visit that waits came while as many were served as there are servers: for
each of these, no more of them wait than come of the N - 1 others in a service S where all are away
at its start, each with a chance of 1 - E exp(-S/T).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.closed_networks.closed_stations import ClosedStation, UnlikeWork
from qps.compiler.lower.closed_networks.cycle import Cycle
from qps.compiler.lower.closed_streams.unlike_pools import (
    NEARLY_FULL,
    NO_TIME,
    has_plain_pools,
    longer_wait,
    with_unlike_holds,
)
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.pool_holding import weighted_mean
from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.compiler.lower.queues.unlike_services import ServiceMoments, lengths_of, unlike_ratio
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.station_queues import known_value, times_apart, variation_of
from qps.compiler.lower.traffic.traffic_parts import StationTraffic
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    total,
)
from qps.engine.expressions.substitution import Substitution

_NEARLY_FIXED = number(Fraction(1, 10**4))


def with_unlike_work(
    networks: Mapping[str, ClosedNetwork],
    cycles: Mapping[str, Cycle],
    demands: Mapping[str, StationTraffic],
    in_a_cycle: Mapping[str, Substitution],
    expressions: ExpressionLowering,
) -> dict[str, ClosedNetwork]:
    """Return networks, by their classes, in which users find unlike services.

    `in_a_cycle` makes the rates of a class those of one cycle a second.
    """
    found = dict(networks)
    for name, network in networks.items():
        if not _is_plain(network):
            continue

        def unlike_of(
            there: ClosedNetwork, more: Mapping[str, Formula], name: str = name
        ) -> dict[str, UnlikeWork]:
            services = {
                one.resource: _services(one, demands[one.resource], in_a_cycle[name], expressions)
                for one in there.stations
            }
            return {
                one.resource: _found(there, one, cycles[name], of, more.get(one.resource, ZERO))
                for one in there.stations
                if (of := services[one.resource]) is not None
            }

        if network.is_nested:
            if has_plain_pools(network, cycles[name]):
                found[name] = with_unlike_holds(network, unlike_of)
        elif unlike := unlike_of(network, {}):
            delay = network.delays[0] + total(one.longer for one in unlike.values())
            found[name] = replace(network, delays=(delay,), unlike=unlike)
    return found


def _is_plain(network: ClosedNetwork) -> bool:
    """Return whether one class goes after nobody, makes no parallel calls, and has no speeds."""
    is_apart = any(one.rank is not None or one.speeds for one in network.stations)
    return network.is_of_one and not (network.forks or is_apart)


class _Services(Struct, frozen=True, kw_only=True):
    """Services at so many `servers`: each kind has a rate and a mean, all of them a `variation`."""

    kinds: Sequence[tuple[Formula, Formula]]
    variation: Formula
    servers: Formula

    @property
    def mean(self) -> Formula:
        """The mean service."""
        return weighted_mean([one for _, one in self.kinds], [rate for rate, _ in self.kinds])

    def ratio(self, load: Formula) -> Formula:
        """Return how many times as long as for exponential services one waits in open traffic."""
        uneven = self.variation**2
        means = [ServiceMoments(mean=one) for _, one in self.kinds]
        of = lengths_of(means, [rate for rate, _ in self.kinds], uneven)
        if of is None:
            return wait_ratio(uneven, self.servers, load)
        return unlike_ratio(of, self.servers, load)

    def found_less(self, away: Formula) -> Formula:
        """Return by which factor work of users who are away so long is found less often."""
        squares = total(rate * one**2 for rate, one in self.kinds)
        found = total(
            rate * one**2 * apply("mean", away + self.mean, away + self._rest(one))
            for rate, one in self.kinds
        )
        return minimum(ONE, apply("mean", found, squares))

    def _rest(self, service: Formula) -> Formula:
        """Return what is left of services of a mean that are found, in open traffic."""
        return service * (1 + self.variation**2) / 2

    def chance_to_arrive(self, away: Formula) -> Formula:
        """Return by which chance one who is away for an exponential time comes in a service.

        Services of a kind are gamma distributed.
        """
        uneven = maximum(_NEARLY_FIXED, self.variation**2)
        chances = []
        for _, mean in self.kinds:
            none = apply("exp", -apply("ln", 1 + uneven * mean / away) / uneven)
            chances.append(1 - none)
        return weighted_mean(chances, [rate for rate, _ in self.kinds])

    def left(self, away: Formula) -> Formula:
        """Return what is left of a service that is found, weighed by how long it is waited for.

        Of two lengths far apart that is the long one.
        """
        rests = [self._rest(one) for _, one in self.kinds]
        found = [
            rate * one**2 * apply("mean", away, away + rest)
            for (rate, one), rest in zip(self.kinds, rests, strict=True)
        ]
        return weighted_mean(rests, found) / self.servers


def _services(
    station: ClosedStation,
    demand: StationTraffic,
    in_a_cycle: Substitution,
    expressions: ExpressionLowering,
) -> _Services | None:
    """Return the services of a station; None where they are no more uneven than exponential ones.

    Or where it is not known how they differ: beside open traffic, in batches, of kinds of items.
    """
    queueing = demand.queueing
    if queueing is None or queueing.traits.is_insensitive or station.open_load is not ZERO:
        return None
    variation = variation_of(station.resource, queueing, expressions)
    if times_apart(demand.visits, expressions) == 1:
        varies = known_value(variation, expressions)
        if varies is not None and varies <= 1:
            return None
    visits = [replace(one, rate=in_a_cycle(one.rate)) for one in demand.visits]
    if any(one.batch is not ONE or not _is_known(one, expressions) for one in visits):
        return None
    faster = ONE if station.servers is demand.servers else demand.servers
    return _Services(
        kinds=[(one.rate, one.service / faster) for one in visits],
        variation=variation,
        servers=station.servers,
    )


def _is_known(visit: QueueVisit, expressions: ExpressionLowering) -> bool:
    """Return whether a visit takes one service time, by chance around it, for all items."""
    both = (visit.rate, visit.service)
    return visit.others is None and all(expressions.averaged(one) is one for one in both)


def _found(
    network: ClosedNetwork,
    station: ClosedStation,
    cycle: Cycle,
    services: _Services,
    more: Formula,
) -> UnlikeWork:
    """Return what users find of unlike services at a station.

    For it they wait `more` than there: for a pool that is held meanwhile.
    """
    (name,), visits = network.names, cycle.visits[station.resource]
    rate, demand = network.rate(name), station.demand
    alike = network.wait(name, station.resource) + more
    (jobs,) = network.jobs
    whole, many = jobs / rate, station.servers * station.copies
    away = maximum(NO_TIME, whole - alike - demand) / visits
    ratio = services.ratio(minimum(NEARLY_FULL, rate * demand / many))
    ratio = maximum(ONE, ratio * services.found_less(away))
    others = maximum(ZERO, jobs - 1)
    work = others * demand / many
    longer = longer_wait(alike, whole=whole, work=work, ratio=ratio)
    arriving = others * services.chance_to_arrive(away) / many
    return UnlikeWork(
        longer=longer,
        left=services.left(away),
        found=apply("mean", others, maximum(ONE, jobs)),
        arriving=arriving,
    )
