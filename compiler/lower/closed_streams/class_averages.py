"""What the users of a stream see whose kinds are classes of their own: a mean over all kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.label_doubts import ClassDoubts
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.quantities.certainty import Certainty, together
from qps.engine.expressions.formulas import Formula, total


def put_together(
    name: str,
    kinds: Sequence[tuple[ClosedStream, StreamMeasures]],
    rate_known: Certainty,
    doubts: ClassDoubts,
) -> StreamMeasures:
    """Return what the users of a stream see, whose kinds see this.

    A mean over requests weighs kinds by how often they send them, one of each flow by how many they
    are.
    """
    first = kinds[0][1]
    if len(kinds) == 1:
        return replace(first, rate_known=rate_known)
    throughputs = [closed.throughput for closed, _ in kinds]
    flows = [closed.flows for closed, _ in kinds]
    all_throughput, all_flows = total(throughputs), total(flows)

    def mean(values: Sequence[Formula]) -> Formula:
        if len(set(values)) == 1:
            return values[0]
        weighed = [rate * value for rate, value in zip(throughputs, values, strict=True)]
        return total(weighed) / all_throughput

    def of_a_flow(values: Sequence[Formula]) -> Formula:
        weighed = [count * value for count, value in zip(flows, values, strict=True)]
        return total(weighed) / all_flows

    each = [measured for _, measured in kinds]
    return replace(
        first,
        name=name,
        latency=_stages([one.latency for one in each], mean),
        jitter=tuple(
            replace(parts[0], value=mean([part.value for part in parts]))
            for parts in zip(*(one.jitter for one in each), strict=True)
        ),
        buffer=mean([one.buffer for one in each]),
        losses=tuple(
            replace(parts[0], value=mean([part.value for part in parts]))
            for parts in zip(*(one.losses for one in each), strict=True)
        ),
        rate=of_a_flow([one.rate for one in each]),
        throughput=of_a_flow([one.throughput for one in each]),
        buffer_certainty=together(*(one.buffer_certainty for one in each)),
        rate_known=rate_known,
        late_certainty=together(*(one.late_certainty for one in each)),
        cycle_certainty=together(*(one.cycle_certainty for one in each)),
        kinds=tuple(each),
        weights=tuple(rate / all_throughput for rate in throughputs),
        doubts=doubts,
    )


def _stages(
    each: Sequence[Sequence[LatencyPart]], mean: Callable[[Sequence[Formula]], Formula]
) -> tuple[LatencyPart, ...]:
    """Return the stages of all kinds together, which are alike but for their numbers."""
    return tuple(_stage(parts, mean) for parts in zip(*each, strict=True))


def _stage(
    parts: Sequence[LatencyPart], mean: Callable[[Sequence[Formula]], Formula]
) -> LatencyPart:
    first = parts[0]
    value = mean([part.value for part in parts])
    if len({part.calls for part in parts}) == 1:
        calls = first.calls
    else:
        calls = tuple(
            replace(
                made[0],
                times=mean([call.times for call in made]),
                reached=mean([call.reached for call in made]),
            )
            for made in zip(*(part.calls for part in parts), strict=True)
        )
    single = first.single
    if single is not None:
        single = value / calls[-1].reached
    branches = tuple(
        _stages([part.branches[at] for part in parts], mean) for at in range(len(first.branches))
    )
    return replace(first, value=value, calls=calls, single=single, branches=branches)
