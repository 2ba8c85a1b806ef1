"""What the walk of the streams left, with its formulas changed: by kinds, or by what is settled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.mixtures import kind_by_kind
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.lower.transport_recovery import averaged_losses
from qps.engine.formulas import Formula


def average(
    expressions: ExpressionLowering,
    demands: Mapping[str, StationTraffic],
    results: list[ClassTraffic],
) -> None:
    """Count what the walks came to kind by kind, where parameters have values for each kind.

    What an item meets is a mean over items, so that who sends more counts more: of those that
    arrive, or of all that are sent where it tells what is lost. A rate is that of a user, on
    average over users.
    """
    if not expressions.mixtures:
        return
    mean, most, by = expressions.averaged, expressions.largest, expressions.averaged_by
    holding = {hold.stream for demand in demands.values() for hold in demand.holds}
    of_items = {symbol for symbol, of in expressions.mixtures.items() if not of.of_users}
    for result in results:
        over_arriving = partial(by, weight=result.arriving)
        over_sent = partial(by, weight=result.sent)
        passing = {index: result.arriving * result.latency[index].times for index in result.visits}
        result.latency = [part.of_kinds(most, over_arriving) for part in result.latency]
        result.losses = averaged_losses(result.losses, over_sent)
        result.queues = [replace(one, value=over_arriving(one.value)) for one in result.queues]
        result.passes = {name: over_sent(share) for name, share in result.passes.items()}
        for index, visit in result.visits.items():
            service, batch = by(visit.service, passing[index]), by(visit.batch, passing[index])
            longest, widest = most(visit.service), most(visit.batch)
            known = (longest or service, widest or batch) if longest or widest else None
            own = replace(visit, service=service, batch=batch, most=known)
            if result.name in holding:  # how long places are held is told of all kinds together
                own = replace(own, rate=mean(visit.rate), flows=mean(visit.flows))
            result.visits[index] = own
    for demand in demands.values():
        demand.parts = {by: [mean(load) for load in loads] for by, loads in demand.parts.items()}
        demand.servers, demand.count = mean(demand.servers), mean(demand.count)
        demand.background = [mean(load) for load in demand.background]
        demand.carried = [mean(rate) for rate in demand.carried]
        demand.holds = [
            replace(
                hold,
                visit=replace(hold.visit, rate=mean(hold.visit.rate), flows=mean(hold.visit.flows)),
                amount=by(hold.amount, hold.visit.rate),
            )
            for hold in demand.holds
        ]
        demand.visits = [
            replace(
                visit,
                rate=share * rate,
                flows=share * flows,
                service=service,
                batch=batch,
                is_varied=any(symbol in of_items for symbol in _sizes(visit)),
            )
            for visit in demand.visits
            for share, (rate, flows, service, batch) in kind_by_kind(
                (visit.rate, visit.flows, visit.service, visit.batch), expressions.mixtures
            )
        ]
    rewrite(mean, results)


def _sizes(visit: Visit) -> frozenset[Formula]:
    return visit.service.symbols | visit.batch.symbols


def rewrite(change: Callable[[Formula], Formula], results: list[ClassTraffic]) -> None:
    """Change every formula that the walk of the streams left."""
    for result in results:
        result.latency = [part.changed(change) for part in result.latency]
        result.losses = [
            replace(
                part,
                value=change(part.value),
                restored=part.restored and change(part.restored),
            )
            for part in result.losses
        ]
        result.queues = [replace(part, value=change(part.value)) for part in result.queues]
        result.passes = {name: change(share) for name, share in result.passes.items()}
        result.rate = change(result.rate)
        result.throughput = change(result.throughput)
