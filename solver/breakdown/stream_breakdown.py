"""What the users of a stream see, taken apart: stages of latency, of jitter, of loss."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import partial
from math import inf
from typing import Any

from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.ir.measure_names import literal_share, percentile_level, percentile_word
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.class_response import StreamMeasures
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.compiler.lower.response_time.response_stages import LatencyPart, every
from qps.compiler.lower.response_time.stage_sequence import Allotment
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    DIMENSIONLESS,
    INFORMATION_BASE,
    TIME,
    Dimension,
)
from qps.compiler.quantities.scales import percent
from qps.engine.expressions.formulas import ZERO, Formula, total
from qps.solver.breakdown.breakdown_types import Apart
from qps.solver.breakdown.measure_naming import NumberPart


def stream_apart(graph: LoadGraph, stream: str, measure: str, at: int) -> Apart:
    """Return a measure of a stream taken apart; QpsError where there is no such measure."""
    found = graph.streams[stream]
    name = f"{stream}.{measure}"
    scope = (stream, *found.rests_on)
    apart = partial(Apart, name=name, scope=scope)
    ways = [*found.latency, *_overloaded(graph, found, at)]
    stages = [NumberPart(part.stage, part.value, scope) for part in ways]
    variances = [NumberPart(j.resource, j.value, (j.resource, *scope)) for j in found.jitter]
    if measure == "latency":
        what = "mean time from source to user: sum of all stages"
        return apart(
            what=what,
            value=_sum(stages),
            whole=found.mean_latency,
            dimension=TIME,
            parts=stages,
            paths=ways,
        )
    if measure == "jitter":
        what = "variance of the time from source to user, by resource"
        variance = _sum(variances)
        return apart(what=what, value=variance, dimension=TIME * TIME, parts=variances)
    if measure == "buffer":
        what = "delay added by the playout buffer"
        return apart(what=what, value=found.buffer, dimension=TIME)
    if measure == "max_wait":
        what = "time to drain full queues on the path, by queue"
        full = [NumberPart(part.stage, part.value, scope) for part in found.queues]
        return apart(what=what, value=found.max_wait, dimension=TIME, parts=full)
    if measure in ("wait", "queue"):
        return apart(**_waiting(found, measure, scope))
    if measure in LOSSES:
        kinds = LOSSES[measure]
        what = "fraction of items lost, assuming independent losses at each stage"
        lost = [
            NumberPart(part.stage, part.value, (part.resource, *scope) if part.resource else scope)
            for part in found.losses
            if part.kind in kinds
        ]
        loss = found.lost_by(*kinds)
        return apart(what=what, value=loss, dimension=DIMENSIONLESS, parts=lost)
    node = called_by(found, measure)
    if node is not None and (time := found.latency_of_calls(node)) is not None:
        what = f"response time of a call to {node}"
        return apart(what=what, value=time, dimension=TIME)
    values = {"rate": found.rate, "throughput": found.throughput}
    if measure not in values:
        raise _no_such_measure(stream, measure)
    what = {"rate": "arrival rate of each flow, in items/s",
            "throughput": "throughput of each flow, in bit/s"}[measure]  # fmt: skip
    is_bits = measure == "throughput" or found.item == INFORMATION_BASE
    dimension = DATA_RATE if is_bits else Dimension.of(found.item) / TIME
    return apart(what=what, value=values[measure], dimension=dimension)


def _no_such_measure(stream: str, measure: str) -> QpsError:
    measures = stream_measures()
    hint = percentile_hint(stream, measure) or did_you_mean(measure, measures)
    return QpsError.single(
        codes.UNKNOWN_NAME,
        None,
        f"a stream has no `{measure}`",
        hint=hint or "there is " + listed(measures, "and"),
    )


def _waiting(stream: StreamMeasures, measure: str, scope: tuple[str, ...]) -> dict[str, Any]:
    """Return what a stream waits, or how many of its items do, at each of its queues."""
    if measure == "queue":
        what = "mean number of waiting items, over all queues"
        return {"what": what, "value": stream.number_waiting, "dimension": DIMENSIONLESS}
    parts = [NumberPart(part.stage, part.value, scope) for part in stream.waits.latency]
    what = "mean queueing delay, by queue"
    return {"what": what, "value": stream.mean_wait, "dimension": TIME, "parts": parts}


_ROUNDED = 1e-3
"""By such a part the parts of a quantile may add up to more than it."""
_QUANTILE = re.compile(r"quantile\(([\w.]+)\.latency,([^,()]*)\)")


def percentile_of(graph: LoadGraph, name: str) -> tuple[str, Fraction] | None:
    """Return stream and share of a percentile that is requested by name; None for all else."""
    stream, _, word = name.rpartition(".")
    share = percentile_level(word)
    percentile = _QUANTILE.fullmatch(name.replace(" ", ""))
    if percentile is not None:  # a share that no word has
        stream, share = percentile[1], literal_share(percentile[2])
    return None if share is None or stream not in graph.streams else (stream, share)


def percentile_hint(stream: str, word: str) -> str | None:
    """Return how a percentile is named that is written as `latency.p99` or `p999`; else None."""
    last = re.sub(r"\A(p\d\d)(\d+)\Z", r"\1_\2", word.removeprefix("latency."))
    return f"write `{stream}.{last}`" if percentile_level(last) is not None else None


def quantile_apart(graph: LoadGraph, stream: str, share: Fraction, at: int) -> Apart:
    """Return a quantile of a latency, each wait distinguished from the tail of its own service."""
    if not 0 <= share < 1:
        raise QpsError.single(
            codes.OUT_OF_RANGE,
            None,
            "the share of a quantile must be at least 0 and below 100 %",
            hint=f"such as `{stream}.p99_9`",
        )
    found = graph.streams[stream]
    whole = found.latency_quantile(share)
    is_mixture = found.mixture is not None
    if found.kinds and not is_mixture:
        value = graph.at(at).number
        found = max(found.kinds, key=lambda kind: value(kind.latency_quantile(share)))
    shown, word = percent(float(share), 8), percentile_word(share)
    scope = (stream, *found.rests_on)
    found = replace(found, endless=tuple(_overloaded(graph, found, at)))
    apart = partial(
        Apart,
        name=f"{stream}.{word}" if word else f"quantile({stream}.latency, {shown})",
        what=f"latency that {shown} of items do not exceed",
        value=found.latency_quantile(share),
        whole=whole,
        dimension=TIME,
        scope=scope,
    )
    if is_mixture:
        return apart(parts=_beyond_means(whole, (*found.latency, *found.endless), scope))
    if found.cycle is not None or found.paths:
        return apart(parts=_of_sum(graph, found, share, at, scope))
    if _is_refined(graph, found, share, at):
        return apart(parts=_beyond_means(whole, (*found.latency, *found.endless), scope))
    bounds = {graph.at(at).number(found.quantile_by(way)): way for way in found.allotments(share)}
    least = bounds[min(bounds)]
    stages = [
        NumberPart(stage, value, scope)
        for part in found.latency
        for stage, value in quantile_parts(found, part, least)
    ]
    if found.varies:
        resources = ", ".join(part.resource for part in found.added_jitter)
        stages.append(NumberPart(f"jitter of {resources}", found.jitter_quantile(least), scope))
    stages += [NumberPart(part.stage, part.value, scope) for part in found.endless]
    return apart(parts=stages)


def _of_sum(
    graph: LoadGraph, stream: StreamMeasures, share: Fraction, at: int, scope: tuple[str, ...]
) -> list[NumberPart]:
    """Return the means of stages, of the longest way, and by how much that share is later.

    Of users who wait it is a whole cycle. A quantile of a sum is no sum of quantiles: what late
    items meet is that of all stages together.
    """
    value = graph.at(at).number
    whole, parts = stream.latency_quantile(share), stream.latency
    if stream.cycle is None:
        ways = [(stream.quantile_of(way, share), way.parts) for way in stream.paths]
        whole, parts = max(ways, key=lambda one: value(one[0])) if len(ways) > 1 else ways[0]
    return _beyond_means(whole, (*parts, *stream.endless), scope)


def _beyond_means(
    whole: Formula, stages: Iterable[LatencyPart], scope: tuple[str, ...]
) -> list[NumberPart]:
    means = [(part.stage, part.value) for part in stages]
    beyond = whole - total(mean for _, mean in means)
    named = [*means, ("sum of all stages, above the mean", beyond)]
    return [NumberPart(stage, mean, scope) for stage, mean in named]


def _is_refined(graph: LoadGraph, stream: StreamMeasures, share: Fraction, at: int) -> bool:
    """Return whether a quantile is less than what the quantiles of its stages add up to."""
    value = graph.at(at).number
    added = min(value(stream.quantile_by(one)) for one in stream.allotments(share))
    return value(stream.latency_quantile(share)) < added * (1 - _ROUNDED)


def called_by(stream: StreamMeasures, measure: str) -> str | None:
    """Return the node of `db.latency` that a stream calls: in an instance it is a node of that."""
    node, _, last = measure.rpartition(".")
    instance = stream.name.rpartition(".")[0]
    called = {call.node for part in every(stream.latency) for call in part.calls}
    found = [name for name in (node, f"{instance}.{node}") if name in called]
    return found[0] if found and last == "latency" else None


def _overloaded(graph: LoadGraph, stream: StreamMeasures, at: int) -> list[LatencyPart]:
    """Return the endless waits of a stream that are there at a population: most are nothing."""
    return [part for part in stream.endless if graph.at(at).number(part.value) == inf]


def _own_tail(part: LatencyPart, allotment: Allotment) -> Formula:
    """Return by how much the service of a stage alone exceeds its mean in a quantile."""
    if part.queue is None or part.visit is None:
        return ZERO
    tail = part.queue.own_tail(part.visit, allotment.level(part))
    return tail if tail is ZERO else tail * allotment.times(part)


def quantile_parts(
    stream: StreamMeasures, part: LatencyPart, allotment: Allotment
) -> Iterator[tuple[str, Formula]]:
    """Yield what a stage adds to a quantile: more servers shorten waits, and no service."""
    whole, tail = stream.stage_quantile(part, allotment), _own_tail(part, allotment)
    if part.queue is not None and tail is not ZERO:
        yield f"{part.queue.resource} service time above the mean", tail
    yield part.stage, whole - tail


def _sum(parts: list[NumberPart]) -> Formula:
    return total(part.value for part in parts)


LOSSES = {
    "loss": tuple(LossKind),
    "voluntary_loss": (LossKind.VOLUNTARY,),
    "saturation_loss": (LossKind.SATURATION,),
    "transmission_loss": (LossKind.TRANSMISSION,),
}


def stream_measures() -> list[str]:
    """Return the measures of a stream."""
    return [
        "latency",
        "jitter",
        "buffer",
        "wait",
        "queue",
        "max_wait",
        *LOSSES,
        "rate",
        "throughput",
    ]
