"""What the users of all streams see: response times, jitter, losses and rates."""

from __future__ import annotations

from qps.compiler.lower.all_pools import Pools
from qps.compiler.lower.closed_streams.class_averages import put_together
from qps.compiler.lower.closed_streams.elastic_labels import Known
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_labels import LoadLabels
from qps.compiler.lower.requirements.lower_measures import Measures, stream_measures
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.traffic.build_network import SpecNetwork


def response_times(
    spec: SpecNetwork,
    pools: Pools,
    known: Known,
    labels: LoadLabels,
    measures: Measures,
    expressions: ExpressionLowering,
) -> dict[str, StreamMeasures]:
    """Return what the users of each stream see, of all their kinds together."""
    found, traffic, closed = dict[str, StreamMeasures](), pools.traffic, known.closed
    for stream in (one.stream for one in spec.classes):
        if stream.emission.think is not None:
            each = [
                (closed.streams[one.name], one)
                for one in traffic.closed
                if one.stream == stream.name
            ]
            seen = put_together(
                stream.name,
                [
                    (of, stream_measures(stream, one, measures, expressions, pools.queues, of))
                    for of, one in each
                ],
                known.rates[stream.name],
                measures.gate.of(stream.name),
            )
        else:
            alone = traffic.classes[stream.name]
            seen = stream_measures(stream, alone, measures, expressions, pools.queues)
        found[stream.name] = labels.points.put_on(seen)
    return found
