"""The numbers of incidents, of autoscalers, and of clients that retry, with their bounds."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded, bounded
from qps.compiler.quantities.allowed_values import Bound

_RETRYING = {
    "timeout": ("the timeout", Bound.POSITIVE),
    "retries": ("the number of retries", Bound.NUMBER),
    "backoff": ("the backoff", Bound.NOT_NEGATIVE),
    "budget": ("the retry budget", Bound.SHARE),
}
_AUTOSCALING = {
    "target": ("the target utilization", Bound.TARGET),
    "startup": ("the startup time", Bound.NOT_NEGATIVE),
    "sync": ("the sync period", Bound.POSITIVE),
    "stabilization": ("the stabilization window", Bound.NOT_NEGATIVE),
    "tolerance": ("the tolerance", Bound.SHARE),
    "step": ("the number of machines added in a period", Bound.NUMBER),
    "growth": ("the growth in a period", Bound.NOT_NEGATIVE),
    "period": ("the period", Bound.POSITIVE),
}


def values_of_incidents(model: ir.Model) -> Iterator[Bounded]:
    """Yield the values of what happens for a time, and of what acts then."""
    for one in model.retrying:
        for name, value in one.settings.items():
            yield from bounded(value, *_RETRYING[name])
    for scaler in model.autoscalers:
        for name, value in scaler.settings.items():
            yield from bounded(value, *_AUTOSCALING[name])
        yield from bounded(scaler.least, "the least number of machines", Bound.COUNT)
        yield from bounded(scaler.most, "the largest number of machines", Bound.COUNT)
    for incident in model.incidents:
        for disturbance in incident.disturbances:
            is_slow = disturbance.kind is ir.DisturbanceKind.SLOW
            what = "the part of the capacity that is lost" if is_slow else "the additional traffic"
            bound = Bound.SHARE if is_slow else Bound.NOT_NEGATIVE
            yield from bounded(disturbance.amount, what, bound)
            yield from bounded(disturbance.start, "a start", Bound.NOT_NEGATIVE)
            yield from bounded(disturbance.length, "a duration", Bound.POSITIVE)
