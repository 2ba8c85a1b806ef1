"""What the walk of the streams left, with its formulas changed: by kinds, or by what is settled."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from qps.compiler.lower.flows import StreamResult
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.mixtures import kind_by_kind
from qps.compiler.lower.queueing import Visit
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.walk.lower_transport import averaged_losses
from qps.engine.formulas import Formula


def average(
    expressions: ExpressionLowering, streams: StreamDemands, results: list[StreamResult]
) -> None:
    """Count what the walks came to kind by kind, where parameters have values for each kind."""
    if not expressions.mixtures:
        return
    mean, most = expressions.averaged, expressions.largest
    of_items = {symbol for symbol, of in expressions.mixtures.items() if not of.of_users}
    for result in results:
        result.latency = [part.of_kinds(most) for part in result.latency]
        result.losses = averaged_losses(result.losses, mean)
        for index, visit in result.visits.items():
            service, batch = mean(visit.service), mean(visit.batch)
            longest, widest = most(visit.service), most(visit.batch)
            known = (longest or service, widest or batch) if longest or widest else None
            result.visits[index] = replace(visit, service=service, batch=batch, most=known)
    for demand in streams.demands.values():
        demand.parts = {by: [mean(load) for load in loads] for by, loads in demand.parts.items()}
        demand.servers, demand.count = mean(demand.servers), mean(demand.count)
        demand.background = [mean(load) for load in demand.background]
        demand.carried = [mean(rate) for rate in demand.carried]
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


def rewrite(change: Callable[[Formula], Formula], results: list[StreamResult]) -> None:
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
