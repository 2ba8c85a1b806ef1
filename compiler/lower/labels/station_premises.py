"""What theorems need of a station: each premise yields why it fails there, and nothing if it holds.

Where a premise fails, the reason is the method that stands instead of the theorem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.lower.labels.labeled_network import (
    Fails,
    NetworkPassages,
    NumberFacts,
    Premise,
)
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.network.arrivals import ArrivalProcess
from qps.compiler.network.itinerary import Delay, Serve
from qps.compiler.network.place_limits import most_within
from qps.compiler.network.stations_and_pools import Station
from qps.compiler.quantities.methods import reason_of
from qps.engine.expressions.formulas import ONE, ZERO

OfQueue: TypeAlias = Callable[[Queue], Iterator[Premise]]


# -- arrivals --------------------------------------------------------------------------------


def poisson(passages: NetworkPassages, station: Station, numbers: NumberFacts) -> Iterator[Premise]:  # noqa: ARG001 - of structure alone
    """Arrivals are a Poisson process: not stated otherwise, in no bursts, as at their sources."""
    name, visits = station.name, passages.queues[station.name].visits
    if any(visit.variation is not None for visit in visits):
        yield Fails(reason_of("arrivals-as-poisson", name))
    if any(visit.is_bursty for visit in visits):
        yield Fails(reason_of("bursts-averaged", name))
    if any(visit.is_of_kinds for visit in visits):
        yield Fails(reason_of("kinds-averaged", name))
    if name in passages.shaped:
        yield Fails(reason_of("departures-as-poisson", name, by=passages.shaped[name]))
    resends = dict.fromkeys(visit.of[0] for visit in visits if visit.is_retransmitted)
    if resends:
        yield Fails(reason_of("closed-as-open", list(resends)))


def periodic(
    passages: NetworkPassages,
    station: Station,
    numbers: NumberFacts,  # noqa: ARG001 - of structure alone
) -> Iterator[Premise]:
    """The items of each flow arrive periodically, all of them, at one of equal machines."""
    name, visits = station.name, passages.queues[station.name].visits
    processes = {passages.network.classes[visit.of[0]].arrivals.process for visit in visits}
    if processes != {ArrivalProcess.PERIODIC}:
        yield Fails(reason_of("arrivals-as-poisson", name))
    if name in passages.shaped:
        yield Fails(reason_of("departures-as-poisson", name, by=passages.shaped[name]))
    if any(visit.is_thinned for visit in visits):
        yield Fails(reason_of("share-of-periodic", name))
    if any(visit.is_spread and visit.place.count is not ONE for visit in visits):
        yield Fails(reason_of("copies-picked-at-random", name))


def one_period(queue: Queue) -> Iterator[Premise]:
    """All flows have one period."""
    if len(queue.visits) > 1 and not queue.is_in_step:
        yield Fails(reason_of("longest-period", queue.resource))


def single(queue: Queue) -> Iterator[Premise]:
    """Items arrive one by one: no copies leave together, or meet."""
    if queue.has_batches:
        yield Fails(reason_of("whole-batch", queue.resource))
    yield from _meeting(queue)


def independent_batches(queue: Queue) -> Iterator[Premise]:
    """Copies of an item come all at once, or do not meet."""
    if any(v.batch is not ONE and v.before and v.before.batch is not ONE for v in queue.visits):
        yield Fails(reason_of("batch-behind-a-batch", queue.resource))
    yield from _meeting(queue)


def _meeting(queue: Queue) -> Iterator[Premise]:
    if any(visit.meets for visit in queue.visits):
        yield Fails(reason_of("copies-that-meet", queue.resource, case="waits"))


def not_behind_a_pool(
    passages: NetworkPassages,
    station: Station,
    numbers: NumberFacts,  # noqa: ARG001 - of structure alone
) -> Iterator[Premise]:
    """Open traffic comes at random: no pool that is waited for lets it through.

    Who waits for a place comes when another one leaves.
    """
    through = passages.pools_before.get(station.name)
    if through:
        pools = list(dict.fromkeys(through.values()))
        yield Fails(reason_of("pool-lets-through-poisson", station.name, by=pools))


def random_or_room(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Iterator[Premise]:
    """What finds no room is known: none where all do, else of visits that come at random."""
    if not fits(passages, station, numbers):
        yield from not_behind_a_pool(passages, station, numbers)
        yield from poisson(passages, station, numbers)
        yield from _by_chance_at(passages, station, numbers)


def fits(passages: NetworkPassages, station: Station, numbers: NumberFacts) -> bool:
    """Return whether all who may be at a station find room: each holds one of fewer places."""
    visits = passages.visits.get(station.name, ())
    most = most_within(visits, station.place, passages.network.pools)
    capacity = station.servers if station.room is None else station.room
    return most is not None and not numbers.is_above_zero(most - capacity)


def whole_visits(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Iterator[Premise]:
    """Every visit has the law that is stated: no step in it is taken by a share of the items.

    Where all present are served at once nothing but the mean work matters, and so it is of users
    who wait for answers in product form. So it is where a visit is one step that some make and
    others do not, of an exponential time: those who make it come at random, too.
    """
    if station.queueing is not None and not station.queueing.traits.is_insensitive:
        yield from _by_chance_at(passages, station, numbers)
    if any(visit.is_uneven for visit in passages.queues[station.name].visits):
        yield Fails(reason_of("visits-by-their-mean", station.name))


def _by_chance_at(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Iterator[Premise]:
    for run in passages.runs.get(station.name, ()):
        chances = [one for one in run.services if is_by_chance(one, numbers)]
        is_visit = len(run.services) == 1 and is_exponential(station)
        if run.of.is_closed or (is_visit and all(_is_share(one, numbers) for one in chances)):
            continue
        if chances:
            yield by_chance(chances[0], station)
            return


def is_exponential(station: Station) -> bool:
    """Return whether service times at a station are exponential, whatever the numbers are."""
    queueing = station.queueing
    if queueing is None or queueing.traits.variation != 1:
        return False
    return queueing.variation is None or queueing.variation.expr == ir.Constant(Fraction(1))


def _is_share(served: Serve, numbers: NumberFacts) -> bool:
    return not numbers.is_above_zero(served.times.often - 1)


def by_chance(served: Serve, station: Station) -> Fails:
    """Return that a step is taken by some items only."""
    return Fails(reason_of("step-by-chance", station.name, step=served.by))


def is_by_chance(node: Serve | Delay, numbers: NumberFacts) -> bool:
    """Return whether a step or delay is taken by some items only."""
    if isinstance(node, Serve) and node.work is ZERO:
        return False  # what a flow keeps for good is an amount, not a chance
    often = node.times.often
    return often is not ONE and not numbers.is_whole(often)


def product_form_station(
    passages: NetworkPassages, station: Station, numbers: NumberFacts
) -> Iterator[Premise]:
    """Where users who wait for answers meet others, all are served alike: it is in product form.

    So it is of whatever law where all present are served at once, else of exponential times.
    """
    queueing = station.queueing
    if queueing is None or queueing.traits.is_insensitive or queueing.traits.has_ranks:
        return
    runs = passages.runs.get(station.name, [])
    if len({run.of.name for run in runs}) == 1 or not any(run.of.is_closed for run in runs):
        return
    first, *others = runs
    if is_exponential(station) and all(numbers.are_equal(first.mean, one.mean) for one in others):
        return
    yield Fails(reason_of("unequal-beside-closed", station.name))


# -- servers and services --------------------------------------------------------------------


def one_server(queue: Queue) -> Iterator[Premise]:
    """One server does the work, and no thread of it is waited for besides."""
    if queue.servers is not ONE:
        yield Fails(reason_of("one-fast-core", queue.resource))
    if any(thread is not None for visit in queue.visits for thread in visit.threads):
        yield Fails(reason_of("core-and-thread", queue.resource))


def one_server_or_equal(queue: Queue) -> Iterator[Premise]:
    """There is one server, or services are exponential and of one mean."""
    is_equal = queue.variation is ONE and queue.is_modeled_as_uniform
    if queue.servers is not ONE and not is_equal:
        yield Fails(reason_of("priority-scaled", queue.resource))


def exponential_service(queue: Queue) -> Iterator[Premise]:
    """Service times are exponential, whatever the numbers are."""
    if queue.variation is not ONE:
        yield Fails(reason_of("exponential-service-times", queue.resource))


def fixed_service(queue: Queue) -> Iterator[Premise]:
    """Service times are fixed, whatever the numbers are."""
    if queue.variation is not ZERO:
        yield Fails(reason_of("gamma-service-bound", queue.resource))


def fixed_or_exponential_service(queue: Queue) -> Iterator[Premise]:
    """Service times of each kind are fixed, or exponential, whatever the numbers are."""
    if queue.variation not in (ZERO, ONE):
        yield Fails(reason_of("gamma-service-bound", queue.resource))


def few_services(queue: Queue) -> Iterator[Premise]:
    """Each service counts by itself: items of a flow do not differ, and services are not many."""
    if not queue.is_modeled_as_uniform and not queue.work_parts:
        yield Fails(reason_of("gamma-mixture", queue.resource, apart=queue.times_apart))


def equal_service(queue: Queue) -> Iterator[Premise]:
    """All visits have one mean service time, and so have all batches, of all kinds of items."""
    if not queue.is_modeled_as_uniform:
        yield Fails(reason_of("visits-by-their-mean", queue.resource))
    elif any(visit.is_varied for visit in queue.visits):
        yield Fails(reason_of("sizes-in-one-flow", queue.resource))


def no_other_load(queue: Queue) -> Iterator[Premise]:
    """Visits cause all of the load."""
    if queue.background is not ZERO:
        yield Fails(reason_of("other-load-as-visits", queue.resource))


OF_QUEUES: Mapping[str, OfQueue] = {
    "one-period": one_period,
    "single": single,
    "independent-batches": independent_batches,
    "one-server": one_server,
    "one-server-or-equal": one_server_or_equal,
    "exponential-service": exponential_service,
    "fixed-service": fixed_service,
    "equal-service": equal_service,
    "fixed-or-exponential-service": fixed_or_exponential_service,
    "few-services": few_services,
    "no-other-load": no_other_load,
}
"""By id, of a station with what visits it."""
