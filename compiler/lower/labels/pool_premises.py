"""What theorems need of a pool that is waited for: why each premise fails, nothing if it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeAlias

from qps.compiler.lower.labels.enough_servers import has_enough_servers
from qps.compiler.lower.labels.labeled_network import (
    Fails,
    NetworkPassages,
    NumberFacts,
    Premise,
)
from qps.compiler.lower.labels.station_premises import is_exponential
from qps.compiler.network.arrivals import ArrivalProcess
from qps.compiler.network.itinerary import At, Call, Cross, Delay, Give, Resize, Serve, Take
from qps.compiler.network.passages import Passage
from qps.compiler.network.stations_and_pools import Pool, Station
from qps.compiler.quantities.methods import reason_of
from qps.engine.expressions.formulas import ONE, Formula

_OfPool: TypeAlias = Callable[[NetworkPassages, Pool, NumberFacts], Iterator[Premise]]


def poisson_at_pool(
    passages: NetworkPassages, pool: Pool, numbers: NumberFacts
) -> Iterator[Premise]:
    """Items come to a pool as a Poisson process, once each, as they leave their sources."""
    for each in passages.passages.values():
        found = [at for at, one in enumerate(each) if _take_of(one, pool)]
        if len(found) > 1 or any(not _is_random(passages, each, at, numbers) for at in found):
            yield _as_flow_equivalent(pool)
            return


def exponential_holds(
    passages: NetworkPassages, pool: Pool, numbers: NumberFacts
) -> Iterator[Premise]:
    """A place is held for one exponential service at which nobody waits, of one mean for all."""
    means, amounts = list[Formula](), list[Formula]()
    for each in passages.passages.values():
        for at, passage in enumerate(each):
            take = _take_of(passage, pool)
            if take is None:
                continue
            served = only_service(passages, each[at + 1 :], take, numbers, _is_delay)
            if served is None:
                yield _as_flow_equivalent(pool)
                return
            means.append(served.service)
            amounts.append(take.amount)
    of_all = (means, amounts)
    are_alike = all(numbers.are_equal(of[0], one) for of in of_all for one in of[1:])
    is_single = all(numbers.expressions.largest(one) is None for of in of_all for one in of)
    if pool.background or not are_alike or not is_single:
        yield _as_flow_equivalent(pool)


OF_POOLS: Mapping[str, _OfPool] = {
    "poisson-at-pool": poisson_at_pool,
    "exponential-holds": exponential_holds,
}
"""By id, of pools that are waited for."""


def _as_flow_equivalent(pool: Pool) -> Fails:
    return Fails(reason_of("pool-wait", pool.name, case="alike"))


def _take_of(passage: Passage, pool: Pool) -> Take | None:
    """Return the step if some of a pool is taken there."""
    node = passage.node
    return node if isinstance(node, Take) and node.pool == pool.name else None


def _is_random(
    passages: NetworkPassages, each: Sequence[Passage], at: int, numbers: NumberFacts
) -> bool:
    """Return whether items come to a step at random: once at most, with nothing that shapes them.

    What leaves a station at random does so from one that has random arrivals, and keeps them so.
    """
    here, of = each[at], each[at].of
    if of.is_closed or of.arrivals.process is not ArrivalProcess.POISSON:
        return False
    if of.arrivals.variation is not None or here.fork is not None or here.is_merged:
        return False
    if any(_is_repeated(call, numbers) for call in here.calls):
        return False
    return all(one.fork is None and _keeps_randomness(passages, one) for one in each[:at])


def _is_repeated(call: Call, numbers: NumberFacts) -> bool:
    times = call.times
    if times is None:
        return False
    is_single = times.copies is ONE and times.merged is ONE
    return not is_single or not numbers.is_never_above_zero(times.often - 1)


def _keeps_randomness(passages: NetworkPassages, passage: Passage) -> bool:
    match passage.node:
        case At() | Call() | Delay() | Give() | Resize():
            return True
        case Take(pool=name):
            return passages.network.pools[name].is_unmodeled
        case Cross():
            return not any(name in passages.queues for name in passage.stations)
        case Serve():
            waited = [name for name in passage.stations if name in passages.queues]
            return all(
                passages.queues[name].keeps_randomness and name not in passages.shaped
                for name in waited
            )
        case _:
            return False


def following_holds(following: Iterable[Passage], take: Take) -> Iterator[Passage]:
    """Return what is passed while a place is held."""
    return takewhile(lambda passage: take in passage.holds, following)


def takes_no_time(passage: Passage) -> bool:
    """Return whether what is passed takes no time, whatever its numbers are."""
    match passage.node:
        case At() | Give() | Resize():
            return True
        case Call(times=times):
            return times is None
        case Cross(ports=ports):
            return not ports
    return False


def only_service(
    passages: NetworkPassages,
    following: Sequence[Passage],
    take: Take,
    numbers: NumberFacts,
    serves: Callable[[NetworkPassages, Station, NumberFacts], bool],
) -> Serve | None:
    """Return the one service that a place is held for; None where there is more.

    The station `serves` as it is to.
    """
    found: Serve | None = None
    for passage in following_holds(following, take):
        if takes_no_time(passage):
            continue
        match passage.node:
            case Delay(time=time) if numbers.is_never_above_zero(time):
                continue
            case Serve(station=name) as served if found is None and _is_single_visit(
                served, numbers
            ):
                if not serves(passages, passages.network.stations[name], numbers):
                    return None
                found = served
            case _:
                return None
    return found


def _is_delay(passages: NetworkPassages, station: Station, numbers: NumberFacts) -> bool:
    """Return whether nobody waits at a station, where services are exponential."""
    return is_exponential(station) and has_enough_servers(passages, station, numbers)


def _is_single_visit(served: Serve, numbers: NumberFacts) -> bool:
    return numbers.are_equal(served.times.mean, ONE) and served.times.often is ONE
