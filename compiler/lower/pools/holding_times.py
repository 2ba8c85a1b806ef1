"""How long something is held of a pool of open classes, and what is waited for meanwhile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.disciplines.cpu_quota import CpuQuota
from qps.compiler.lower.disciplines.loss_system import Loss
from qps.compiler.lower.disciplines.periodic_arrivals import Periodic
from qps.compiler.lower.disciplines.pool_wait import PoolLaw
from qps.compiler.lower.disciplines.single_server import OneServer
from qps.compiler.lower.pools.holding_variance import cumulants_of_calls
from qps.compiler.lower.queues.flow_equivalent_server import (
    Filled,
    PoolSubnetwork,
    SubnetworkStation,
    station_of,
    station_of_pool,
)
from qps.compiler.lower.queues.pool_holding import Hold, PoolCapacity, weighted_mean
from qps.compiler.lower.queues.station_queue import Queue
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.parallel_stages import in_line
from qps.compiler.lower.response_time.response_stages import LatencyPart, every
from qps.compiler.lower.traffic.station_queues import PlacedQueue, stages_of
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, maximum, number, total
from qps.engine.expressions.substitution import Substitution

_MOST_APART = 3
"""Times by which services differ up to which the measured errors of pools hold."""
_LEAST_UNEVEN = number(Fraction(1, 16))  # what never waits is divided by


class OpenPools(Struct, frozen=True, kw_only=True):
    """Loads and queues, those of pools with them, and what goes on in each of these.

    The `visits` of each class are those that wait for pools, too.
    """

    resources: dict[str, ResourceLoad]
    queues: dict[str, PlacedQueue]
    visits: dict[str, dict[int, QueueVisit]]
    networks: dict[str, PoolSubnetwork]
    filled: dict[str, Filled]
    holds: list[Hold]
    rooms: dict[str, PoolCapacity]


class HoldingTime(Struct, frozen=True, kw_only=True):
    """A hold: how often it begins, what is done meanwhile, and how long if any number could.

    Of the `variance` some is `between` those who do other things by chance, with a `third` central
    moment, None where that is not known. `stations` are what is waited for meanwhile, `alone` is
    all that is done without waits. Waits there are `uneven` times those for exponential services of
    random arrivals. Where first comes first services have the `variations`; their means are far
    apart at the `unlike` stations; a CPU limit pauses it at those `throttled`. It `is_delay` where
    nothing is waited for.
    """

    hold: Hold
    rate: Formula
    alone: Formula
    opened: Formula
    variance: Formula
    between: Formula
    third: Formula | None
    stations: dict[str, SubnetworkStation]
    uneven: Formula
    variations: frozenset[Formula]
    unlike: tuple[str, ...]
    throttled: tuple[str, ...]
    is_in_line: bool
    is_delay: bool
    known: Certainty


def holding_time(
    hold: Hold, result: ClassTraffic, found: OpenPools, put_in: Substitution
) -> HoldingTime:
    """Return how long a hold lasts, with the stages that wait in queues and for inner pools."""
    span = range(hold.begins, hold.ends)
    plain = result.latency[hold.begins : hold.ends]
    stages, around = stages_within(hold, result, found.queues)
    rate = put_in(hold.visit.rate)
    line = in_line(stages, hold.depth)
    is_in_line = not any(part.branches for part in line)
    uneven_holds, third = ZERO, None
    if hold.is_lossy and is_in_line:
        if not hold.finds_no_room:
            uneven_holds = _cut_short(plain, around, hold.reached)
        plain, stages = [_come_to(part) for part in plain], [_come_to(part) for part in stages]
        line, around = tuple(stages), hold.reached

    def for_each(value: Formula) -> Formula:
        return of_each(value, around)

    def times(part: LatencyPart) -> Formula:
        return part.reached if hold.is_lossy and is_in_line else part.times

    waits = [part for part in stages if part.queue is not None]
    done = in_line(plain, hold.depth)
    if not hold.is_lossy:
        uneven_holds, third = cumulants_of_calls(done, hold.depth)
    stations: dict[str, SubnetworkStation] = {}
    uneven: list[tuple[Formula, Formula]] = []
    inner = [one for one in found.holds if one.of == hold.of and one.stage in span]
    covered = {index for one in inner for index in range(one.begins, one.ends)}
    for index, part in zip(span, stages, strict=True):
        if part.queue is None or index in covered or _is_delay(part.queue):
            continue
        often = for_each(times(part))
        if hold.is_lossy and not is_in_line and part.visit is not None:
            often = apply("mean", part.visit.rate * part.visit.place.count, rate * hold.machines)
        station = _station(part, often, found)
        name = station.resource
        uneven.append((_uneven(part.queue), station.demand))
        known = stations.get(name)
        stations[name] = station if known is None else known.and_also(station)
    return HoldingTime(
        hold=hold,
        rate=rate,
        alone=for_each(total(part.value for part in done)),
        opened=for_each(total(part.value for part in line)),
        variance=for_each(total(times(part) * _variance(part) for part in waits)) + uneven_holds,
        between=uneven_holds,
        third=third,
        stations=stations,
        uneven=weighted_mean(*map(list, zip(*uneven, strict=True))) if uneven else ONE,
        variations=_variations(waits),
        unlike=_unlike(line),
        throttled=_throttled(line),
        is_in_line=is_in_line,
        is_delay=not _queues_with_waits(line),
        known=_known(hold, line, is_in_line=is_in_line),
    )


def stages_within(
    hold: Hold, result: ClassTraffic, queues: Mapping[str, PlacedQueue]
) -> tuple[list[LatencyPart], Formula]:
    """Return the stages of a hold, with how often an item comes to the calls that it stands in."""
    stages = stages_of(result, queues, hold.begins, hold.ends)
    is_in_calls = hold.depth and stages
    return stages, stages[0].calls[hold.depth - 1].reached if is_in_calls else ONE


def _station(part: LatencyPart, times: Formula, found: OpenPools) -> SubnetworkStation:
    """Return what is waited for at a stage, as a station that each item comes to so often."""
    queue, visit = part.queue, part.visit
    assert queue is not None
    assert visit is not None
    inner = found.networks.get(queue.resource)
    if queue.speeds:
        raise _refused_speeds(part)
    if inner is None:
        return station_of(queue, visit, times)
    return station_of_pool(queue, inner, visit, times)


def _uneven(queue: Queue) -> Formula:
    """Return how often as long as that for exponential services of random arrivals a wait is.

    By two moments (Kingman 1961), where who comes first is served first.
    """
    is_known = isinstance(queue.law, OneServer) and not isinstance(queue.law, Periodic)
    if not is_known or queue.has_batches or queue.variation is queue.arrivals is ONE:
        return ONE
    uneven = maximum(_LEAST_UNEVEN, (queue.arrivals + queue.variation**2) / 2)
    return uneven + queue.has_enough * (ONE - uneven)


def _refused_speeds(part: LatencyPart) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        None,
        "the holding time of a pool at "
        f"`{part.queue.resource if part.queue else part.place}` is unknown: its speed is "
        "load-dependent",
        hint="give the pool back first, or use one speed: `queueing ps`",
    )


def _variations(waits: Sequence[LatencyPart]) -> frozenset[Formula]:
    """Return the variations of services that others wait for, first come, first served."""
    queues = (part.queue for part in waits if part.queue is not None)
    return frozenset(
        queue.variation
        for queue in queues
        if not queue.traits.is_insensitive and not queue.never_waits
    )


def _variance(part: LatencyPart) -> Formula:
    """Return the variance of the work behind a wait."""
    assert part.queue is not None
    assert part.visit is not None
    return (part.visit.service * part.queue.variation) ** 2


def _cut_short(parts: Sequence[LatencyPart], around: Formula, began: Formula) -> Formula:
    """Return the variance of how long something is held of which some are lost on the way.

    Stages of lengths m, to which shares r come, are held for sum m r on average, and the square is
    sum m^2 r + 2 sum m (m' r' of those after it).
    """
    lengths = [of_each(part.value, around) for part in parts]
    shared = [of_each(part.per_visit * part.reached, began) for part in parts]
    square = total(
        length * (part + 2 * total(shared[at + 1 :]))
        for at, (length, part) in enumerate(zip(lengths, shared, strict=True))
    )
    return maximum(ZERO, square - total(shared) ** 2)


def of_each(value: Formula, of: Formula) -> Formula:
    """Return what a sum over all comes to for each of those `of` it."""
    return value if of is ONE else apply("mean", value, of)


def _come_to(part: LatencyPart) -> LatencyPart:
    """Return a stage with what it takes of all that began, those that are lost later included."""
    return replace(part, value=part.per_visit * part.reached)


def _unlike(line: Sequence[LatencyPart]) -> tuple[str, ...]:
    """Return where who waits first come, first served may wait for far longer services."""
    found: dict[str, None] = {}
    for part in every(line):
        queue = part.queue
        if queue is None or isinstance(queue.law, PoolLaw) or _is_delay(queue):
            continue
        if queue.traits.is_insensitive:
            continue
        apart = queue.times_apart
        if not queue.is_modeled_as_uniform and (apart is None or apart > _MOST_APART):
            found[queue.resource] = None
    return tuple(found)


def _throttled(line: Sequence[LatencyPart]) -> tuple[str, ...]:
    """Return where a CPU limit may pause who holds it."""
    queues = (part.queue for part in every(line) if part.queue is not None)
    return tuple(dict.fromkeys(one.resource for one in queues if isinstance(one.law, CpuQuota)))


def _queues_with_waits(line: Sequence[LatencyPart]) -> list[Queue]:
    """Return the queues that may be waited in."""
    return [part.queue for part in every(line) if part.queue and not _is_delay(part.queue)]


def _is_delay(queue: Queue) -> bool:
    """Return whether those who are served do not wait before."""
    return isinstance(queue.law, Loss) or queue.never_waits


def _known(hold: Hold, line: Sequence[LatencyPart], *, is_in_line: bool) -> Certainty:
    """Return how it is known how long something is held: what waits for nothing, exactly."""
    known = [part.certainty for part in line]
    queues = _queues_with_waits(line)
    waited = dict.fromkeys(queue.resource for queue in queues)
    if waited:
        case = "nested" if any(isinstance(queue.law, PoolLaw) for queue in queues) else ""
        known.append(known_by("pool-holding-time", hold.pool, by=list(waited), case=case))
    if unlike := _unlike(line):
        known.append(known_by("unlike-while-held", hold.pool, by=list(unlike)))
    if throttled := _throttled(line):
        known.append(known_by("held-while-throttled", hold.pool, by=list(throttled)))
    if hold.finds_no_room and is_in_line:
        known.append(known_by("loss-while-held", hold.pool))
    elif hold.is_lossy and not is_in_line:
        known.append(known_by("lost-hold-to-the-end", hold.pool))
    return together(*known)
