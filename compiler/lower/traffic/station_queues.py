"""The queues of a lowered model: what visits each resource that is waited for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.closed_networks.closed_stream_solution import Closed
from qps.compiler.lower.disciplines.closed_uneven import Uneven
from qps.compiler.lower.disciplines.closed_waits import InClosedNetwork
from qps.compiler.lower.disciplines.discipline_laws import law_of
from qps.compiler.lower.disciplines.feedback import FeedbackQueue
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.arrival_variability import with_arrivals
from qps.compiler.lower.queues.station_queue import Queue, Quota
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.on_off_stages import passed_bursts
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, StationTraffic
from qps.engine.expressions.formulas import ONE, Formula, number, total
from qps.engine.expressions.monomials import expanded
from qps.engine.expressions.point_values import in_floats
from qps.engine.expressions.substitution import Substitution


class PlacedQueue(Struct, frozen=True):
    """A queue with what elastic parameters come to, for the visits that are still without."""

    queue: Queue
    put_in: Substitution

    def stage(self, part: LatencyPart, visit: QueueVisit) -> LatencyPart:
        """Return a stage of a latency, in which a visit waits in this queue."""
        return part.waits(self.queue, visit.changed(self.put_in))

    def lost(self, visit: QueueVisit) -> Formula:
        """Return which share of a stream is beyond what the resource can do."""
        return self.queue.law.lost(self.queue, visit.changed(self.put_in))


def stages_of(
    one: ClassTraffic, queues: Mapping[str, PlacedQueue], begins: int = 0, ends: int | None = None
) -> list[LatencyPart]:
    """Return stages of the latency of a class: those that are waits, in their queues."""
    return [
        queues[one.visits[at].resource].stage(part, one.visits[at]) if at in one.visits else part
        for at, part in enumerate(one.latency[begins:ends], begins)
    ]


def stations_of(
    demands: Mapping[str, StationTraffic],
    resources: Mapping[str, ResourceLoad],
    put_in: Substitution,
    expressions: ExpressionLowering,
) -> dict[str, Queue]:
    """Return every resource that states how it is waited for, with its visits, as if all were open.

    `put_in` is what elastic parameters come to: the loads have it already.
    """
    return {
        name: queue_of(name, demand, demand.queueing, resources[name].load, put_in, expressions)
        for name, demand in demands.items()
        if demand.queueing is not None
    }


def queues_of(
    stations: Mapping[str, Queue],
    demands: Mapping[str, StationTraffic],
    put_in: Substitution,
    expressions: ExpressionLowering,
    closed: Closed,
) -> dict[str, PlacedQueue]:
    """Return the queues of stations, as closed streams and what is before them leave them."""
    found = dict(stations)
    finding = {name for one in closed.streams.values() for name in one.finds_open_work}
    residual = {name for one in closed.streams.values() for name in one.network.unlike}
    uneven = {
        name: Uneven(
            resource=name,
            is_exponential=queue.is_exponential,
            times=times_apart(queue.visits, expressions),
            varies=known_value(queue.variation, expressions),
            finds_open_work=name in finding and len(closed.waiting_for(name)) == 1,
            counts_residual=name in residual,
        )
        for name, queue in found.items()
        if closed.streams
        and not queue.is_in_product_form
        and not _is_to_itself(name, queue, closed)
    }
    for name, queue in found.items():
        streams = closed.waiting_for(name)
        if streams:
            met = {one.resource for stream in streams for one in stream.network.stations}
            met |= {one for stream in streams for one in stream.alone}
            others = tuple(one for name, one in uneven.items() if name in met)
            found[name] = replace(queue, law=InClosedNetwork(queue.law, streams, others))
    shaped = shaped_by(found, demands)
    found = with_arrivals(found, put_in)
    placed = {}
    for name, queue in found.items():
        known = replace(queue, shaped_by=shaped.get(name), passed=passed_bursts(found, queue))
        placed[name] = PlacedQueue(known, put_in)
    return placed


def _is_to_itself(name: str, queue: Queue, closed: Closed) -> bool:
    """Return whether one item of a closed stream is at a station by itself: it never waits there.

    Beside open traffic it is one of many, and the station like any other.
    """
    alone = {stream.name for stream in closed.streams.values() if name in stream.alone}
    return bool(alone) and {visit.of[0] for visit in queue.visits} <= alone


def shaped_by(queues: Mapping[str, Queue], demands: Mapping[str, StationTraffic]) -> dict[str, str]:
    """Return the queues at which arrivals are not those of the sources, with one that shapes them.

    What leaves a queue of random arrivals and equal exponential service is random again (Burke
    1956), also where streams return (Jackson 1957): such queues shape nothing. A switch forwards
    while it receives: what comes to its next port is what begins at this one, never two at once.
    Items whose calls were made together go on when the last of these, or so many, have ended: that
    is no random time of queues that let go at random.
    """
    shaping = {
        name
        for name, queue in queues.items()
        if not queue.keeps_randomness or demands[name].port_of is not None
    }
    shaped = {
        name: visit.joined
        for name in queues
        for visit in demands[name].visits
        if visit.joined is not None
    }
    shaping |= shaped.keys()
    while True:
        more = {
            name: before
            for name in queues
            if name not in shaped
            for visit in demands[name].visits
            for before in visit.after
            if before in shaping and not (before == name and _is_feedback(queues[name]))
        }
        if not more:
            return shaped
        shaped |= more
        shaping |= more.keys()


def _is_feedback(queue: Queue) -> bool:
    """Return whether it is counted what comes back to a queue."""
    return isinstance(queue.law, FeedbackQueue)


def queue_of(
    name: str,
    demand: StationTraffic,
    queueing: ir.Queueing,
    load: Formula,
    put_in: Substitution,
    expressions: ExpressionLowering,
) -> Queue:
    """Return the queue of a resource of a load, with what visits it."""
    traits, law = queueing.traits, law_of(queueing)
    variation = variation_of(name, queueing, expressions)
    visits = tuple(visit.changed(put_in) for visit in demand.visits)
    periods = [visit.flows / visit.rate for visit in visits]
    if law.rests_on_periods and len(set(periods)) > 1:
        expressions.weigh(periods)
    return Queue(
        resource=name,
        law=law,
        traits=traits,
        variation=variation,
        servers=demand.servers,
        load=load,
        speeds=speeds_of(name, queueing, expressions),
        quota=quota_of(name, queueing, expressions),
        visits=visits,
        background=put_in(total(demand.background)),
        offered=demand.offered and demand.offered.changed(put_in),
        is_in_step=len(set(_evaluated(periods, expressions))) == 1,
        most_uneven=_most_uneven(visits, expressions),
        times_apart=times_apart(visits, expressions),
        is_alike=not expressions.sizes_move
        and len(set(_sizes(visits, expressions))) == 1
        and all(visit.others is None for visit in visits),
    )


def variation_of(name: str, queueing: ir.Queueing, expressions: ExpressionLowering) -> Formula:
    """Return the coefficient of variation of the service times at a resource."""
    if queueing.variation is None:
        return number(Fraction(queueing.traits.variation or 0))
    known = queueing.variation.expr
    if isinstance(known, ir.Constant) and known.value in (0, 1):
        # The law of the service times is known then: fixed or exponential.
        return number(known.value)
    return expressions.symbol(f"{name}.cv", queueing.variation)


def speeds_of(
    name: str, queueing: ir.Queueing, expressions: ExpressionLowering
) -> tuple[Formula, ...]:
    """Return how fast all who are at a resource are served, by how many they are."""
    return tuple(
        expressions.symbol(f"{name}.speed{n}", speed) for n, speed in enumerate(queueing.speeds, 1)
    )


def host_cores_of(name: str, stated: ir.Quantity, expressions: ExpressionLowering) -> Formula:
    """Return how many cores of a host work at once under a CPU limit."""
    if stated.expr == ir.Constant(Fraction(1)):
        return ONE
    return expressions.symbol(f"{name}.host_cores", stated)


def quota_of(name: str, queueing: ir.Queueing, expressions: ExpressionLowering) -> Quota | None:
    """Return the period and the cores of a host under a CPU limit, None where there is none."""
    if queueing.period is None or queueing.host_cores is None:
        return None
    return Quota(
        period=expressions.symbol(f"{name}.period", queueing.period),
        host_cores=host_cores_of(name, queueing.host_cores, expressions),
    )


def _most_uneven(visits: tuple[QueueVisit, ...], expressions: ExpressionLowering) -> float | None:
    """Return the largest stated coefficient of variation of arrivals, None where nobody knows."""
    stated = [visit.variation for visit in visits if visit.variation is not None]
    values = [one.exact for one in _evaluated(stated, expressions, always=True)]
    known = [float(one) for one in values if one is not None]
    return max(known, default=1.0) if len(known) == len(values) else None


def times_apart(visits: Sequence[QueueVisit], expressions: ExpressionLowering) -> float | None:
    """Return how many times as long as the shortest the longest visit is served, where known."""
    services = list({visit.service for visit in visits})
    if len(services) == 1:
        return 1.0
    if expressions.sizes_move:
        return None
    known = [one.exact for one in _evaluated(services, expressions)]
    numbers = [one for one in known if one is not None]
    if len(numbers) < len(known) or min(numbers) <= 0:
        return None
    return float(max(numbers) / min(numbers))


def known_value(value: Formula, expressions: ExpressionLowering) -> float | None:
    """Return a formula at the numbers that the spec gives; None where these are moving."""
    (known,) = _evaluated([value], expressions, always=True)
    return in_floats(known) if known.is_constant else None


def _sizes(
    visits: tuple[QueueVisit, ...], expressions: ExpressionLowering
) -> list[tuple[Formula, Formula]]:
    """Return the service times and batches of visits, at the numbers that the spec gives."""
    services = _evaluated([visit.service for visit in visits], expressions)
    return list(
        zip(services, _evaluated([visit.batch for visit in visits], expressions), strict=True)
    )


def _evaluated(
    formulas: list[Formula], expressions: ExpressionLowering, *, always: bool = False
) -> list[Formula]:
    """Return formulas at the numbers that the spec gives, in a form in which equal ones are equal.

    Where numbers move they must be equal whatever these are.
    """
    if len(set(formulas)) <= (not always):
        return formulas
    values = expressions.values_in(*formulas)
    stays = {one: value for one, value in values.items() if one.name not in expressions.moving}
    put_in = Substitution(stays)
    return [expanded(put_in(formula), {expressions.population}) for formula in formulas]
