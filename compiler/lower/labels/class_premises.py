"""What theorems need of a class, and of the closed classes that it meets: why each premise fails.

A premise may hold up to some population: then it is a formula that is above zero where it fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from math import ceil

from qps.compiler.lower.closed_networks.closed_network_solution import ClosedNetwork
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.labeled_network import (
    Fails,
    From,
    NetworkPassages,
    NumberFacts,
    Premise,
    is_holders,
)
from qps.compiler.lower.labels.one_service_pools import DELAY, delay_case, pools_by_method
from qps.compiler.lower.labels.station_premises import (
    by_chance,
    is_by_chance,
    not_behind_a_pool,
    product_form_station,
)
from qps.compiler.lower.queues.queue_certainty import cannot_overtake
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Call, Delay, Serve
from qps.compiler.network.network import Network
from qps.compiler.network.passages import Passage
from qps.compiler.network.passages import passages as walked
from qps.compiler.network.stations_and_pools import Station, StationKind
from qps.compiler.quantities.methods import reason_of
from qps.engine.expressions.formulas import ONE, Formula, minimum, number, total
from qps.engine.expressions.point_values import EvaluationPoint

# -- of a class ------------------------------------------------------------------------------


def _chance_of(passage: Passage, numbers: NumberFacts) -> Call | None:
    node = passage.node
    is_said = isinstance(node, Call) and node.is_local  # drawn by itself, for each item
    return node if isinstance(node, Call) and not is_said and _is_chance(node, numbers) else None


def at_most_one_chance(
    passages: NetworkPassages, of: Class, numbers: NumberFacts
) -> Iterator[Premise]:
    """At most one call is made by chance: how several depend on each other is not said."""
    made = (_chance_of(one, numbers) for one in passages.passages[of.name])
    calls = [call for call in made if call is not None]
    if len(calls) > 1:
        yield Fails(reason_of("calls-by-chance", list(dict.fromkeys(call.node for call in calls))))


def one_path(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:
    """Every item takes the same steps, each as often."""
    for passage in passages.passages[of.name]:
        node = passage.node
        if isinstance(node, Serve) and is_by_chance(node, numbers):
            yield by_chance(node, passages.network.stations[node.station])
            return
        if isinstance(node, Delay) and is_by_chance(node, numbers):
            yield Fails(reason_of("delay-by-chance", node.why))
            return


def _is_chance(call: Call, numbers: NumberFacts) -> bool:
    return call.times is not None and not numbers.is_whole(call.times.often)


# -- of a component: closed classes that meet ------------------------------------------------


def product_form_stations(
    passages: NetworkPassages, of: Class, numbers: NumberFacts
) -> Iterator[Premise]:
    """All stations are in product form at which closed classes wait that a class meets.

    Open traffic comes there at random, too: a pool that is waited for makes it come later the more
    users there are.
    """
    component = passages.component(of)
    stations = {one.name: one for each in component for one in passages.stations_of(each)}
    for one in stations.values():
        if one.waits:
            yield from product_form_station(passages, one, numbers)
            yield from not_behind_a_pool(passages, one, numbers)


def no_saturation(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - populations decide
    """No station can be full at which no waiting is counted: it would hold up all who share.

    Of what a class meets alone its label says so already.
    """
    component = passages.component(of)
    if component == [of]:
        return
    names = {one.name for one in component}
    stations = {s.name: s for one in component for s in passages.stations_of(one)}
    for station in stations.values():
        if station.waits or station.kind is StationKind.STORE:
            continue
        users = [one for one in passages.closed_at(station.name) if one.name in names]
        fails = Fails(reason_of("saturation-of-others", station.name))
        yield From(_beyond(station, users), fails)


def _beyond(station: Station, users: Iterable[Class]) -> Formula:
    """Return how many more may come to a station at once than it has servers."""
    copies, found = station.place.copies, []
    for one in users:
        jobs = one.population
        assert jobs is not None
        is_own = is_holders(station.place, one)
        found.append(jobs / copies if is_own else jobs)
    return total(found) - station.servers


def free_choice(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - populations decide
    """Which of equal machines serves an item is chosen anew at each visit: no hold ties it.

    Of one class alone each machine counts by itself; where several meet, all of them as one. Of a
    pool that is never full a hold ties to nothing that counts: a network in product form rests on
    nothing but how often each machine is visited.
    """
    component = passages.component(of)
    for one in component if len(component) > 1 else ():
        for passage in passages.passages[one.name]:
            for name in passage.stations:
                station = passages.network.stations.get(name)
                pool = None if station is None else _tied_by(passages.network, station, passage)
                if station is None or pool is None or pool in passages.unfilled:
                    continue
                fails = Fails(
                    reason_of("any-of-the-copies", name, node=station.place.name, by=pool)
                )
                yield From(station.place.copies - 1, fails)


def _tied_by(network: Network, station: Station, passage: Passage) -> str | None:
    """Return the pool of the same machine that is held at a visit, None where there is none."""
    if station.place.copies is ONE:
        return None
    for hold in passage.holds:
        if network.pools[hold.pool].place.name == station.place.name:
            return hold.pool
    return None


def few_enough_users(
    passages: NetworkPassages, of: Class, numbers: NumberFacts
) -> Iterator[Premise]:
    """There are few enough users, at stations that are few enough, for exact sums."""
    networks = {one.network.names: one.network for one in passages.cycles_of(of)}
    for network in networks.values():
        if not is_summed_exactly(network, numbers.expressions):
            yield Fails(reason_of("linearizer", list(network.names), error=0))


def is_summed_exactly(network: ClosedNetwork, expressions: ExpressionLowering) -> bool:
    """Return whether an operation on a network is exact up to the highest population."""
    is_of_plain = network.is_of_one and all(one.servers is ONE for one in network.stations)
    if network.forks or network.is_nested or is_of_plain:
        return True
    from qps.engine.queueing_networks import closed_operands, multiclass_operands  # noqa: PLC0415 - seldom needed

    there = EvaluationPoint({expressions.population: number(expressions.configuration.high)})

    def at_most(formula: Formula) -> int:
        return ceil(there.number(expressions.put_in(formula)))

    most = [at_most(jobs) for jobs in network.jobs]
    beside = sum(at_most(one.copies * (one.servers - 1)) for one in network.stations)
    if network.is_of_one:
        return closed_operands.is_exact(most[0], beside)
    return multiclass_operands.is_exact(most, len(network.stations), beside)


def whole_population(
    passages: NetworkPassages, of: Class, numbers: NumberFacts
) -> Iterator[Premise]:
    """A whole number of items is under way, at any population."""
    parts = [one.name for one in passages.cycles_of(of) if not numbers.is_whole(one.jobs)]
    if parts:
        yield Fails(reason_of("fractional-population", parts))


def one_place_at_a_time(
    passages: NetworkPassages,
    of: Class,
    numbers: NumberFacts,  # noqa: ARG001 - of structure alone
) -> Iterator[Premise]:
    """An item is at one station at a time: neither on a thread and a core, nor at two ports."""
    for one in passages.cycles_of(of):
        if one.overlapping:
            yield Fails(reason_of("visits-in-sequence", list(one.overlapping)))


def no_pools(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """Pools are held for one exponential service, and load dependence is that of one class."""
    for one in passages.cycles_of(of):
        held = pools_by_method(one)
        if DELAY in held:
            yield Fails(reason_of(DELAY, held[DELAY], case=delay_case(one), error=0))
        if "" in held:
            yield Fails(reason_of("flow-equivalent-server", held[""], error=0))
        if one.network.is_nested and not one.network.is_of_one:
            names = list(one.network.names)
            yield Fails(reason_of("shared-load-dependent", names, error=0))


def no_forks(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """No calls are made in parallel."""
    for one in passages.cycles_of(of):
        if one.network.forks:
            yield Fails(reason_of("closed-fork-join", one.name, error=0))


def no_priorities(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """No class goes before another one."""
    for each in passages.cycles_of(of):
        for one in each.stations:
            if one.rank is not None:
                yield Fails(reason_of("shadow-server", one.resource))


def no_loss(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """Nothing is lost of what users wait for."""
    for one in passages.component(of):
        if passages.traffic[one.name].losses:
            yield Fails(reason_of("lost-users-think", one.name))


# -- of times and losses of one class --------------------------------------------------------


def independent_stages(
    passages: NetworkPassages,
    of: Class,
    numbers: NumberFacts,  # noqa: ARG001 - of structure alone
) -> Iterator[Premise]:
    """What is waited at one station says nothing of what is waited at another."""
    waits = [one for one in passages.waits_of(of) if not one[0].never_waits]
    names = [queue.resource for queue, _ in waits]
    if any(one.fork is not None for one in walked(of)):
        again = [name for name in names if names.count(name) > 1]
    else:  # of alternatives an item takes one: what it waited in before is on its own way
        again = [queue.resource for queue, visit in waits if queue.resource in visit.after]
    again = list(dict.fromkeys(again))
    if again:
        yield Fails(reason_of("repeat-visits", again))
    if len(set(names)) < 2:  # noqa: PLR2004 - there is no other
        return
    if not cannot_overtake([queue for queue, _ in waits]):
        yield Fails(reason_of("independent-waits", list(dict.fromkeys(names))))


def queueing_modeled(
    passages: NetworkPassages,
    of: Class,
    numbers: NumberFacts,  # noqa: ARG001 - of structure alone
) -> Iterator[Premise]:
    """Every station on the way says how it is waited for, or that it is not."""
    uncounted = list(passages.traffic[of.name].uncounted)
    if uncounted:
        yield Fails(reason_of("no-queueing-delay", uncounted))


def variance_known(passages: NetworkPassages, of: Class, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """Every station on the way that is waited for states a law of its jitter."""
    lawful = passages.traffic[of.name].jitter
    queued = dict.fromkeys(queue.resource for queue, _ in passages.waits_of(of))
    unknown = [name for name in queued if name not in lawful]
    if unknown:
        yield Fails(reason_of("no-delay-variance", unknown))


def one_saturating_station(
    passages: NetworkPassages,
    of: Class,
    numbers: NumberFacts,  # noqa: ARG001 - populations decide
) -> Iterator[Premise]:
    """At most one station on the way is overloaded: a second one has less than is offered."""
    if of.is_closed:
        return
    queues = {queue.resource: queue for queue, _ in passages.waits_of(of)}
    for one, other in combinations(queues.values(), 2):
        fails = Fails(reason_of("loss-counted-twice", [one.resource, other.resource]))
        yield From(minimum(one.load, other.load) - 1, fails)
