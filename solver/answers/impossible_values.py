"""What cannot be: loads that divide by zero, and values beyond what they can be."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.response_time.response_parts import LossKind
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import NOT_FINITE, Formula
from qps.engine.expressions.point_values import NoSignError, sign
from qps.solver.answers.capacity import first_failure


def refuse_undefined(loads: dict[str, Formula], graph: LoadGraph) -> None:
    """Refuse a model whose loads divide by zero whatever the population is."""
    for name, load in loads.items():
        if not NOT_FINITE.isdisjoint(parts_first(load)):
            raise QpsError.single(
                codes.NO_ANSWER,
                graph.resources[name].span,
                f"the utilization of {name} divides by zero",
                hint="one of its inputs is zero: see `qps explain … " + name + "`",
            )


def refuse_impossible(graph: LoadGraph, high: int) -> None:
    """Refuse what cannot be at any population up to the answer."""
    for over, message, span in impossible(graph):
        _refuse_beyond(graph, over, message, span, high)


def impossible(graph: LoadGraph) -> Iterator[tuple[Formula, str, Span | None]]:
    """Yield what cannot be where it is above zero, what that is, and where it stands.

    A jitter or buffer below zero, or more dropped than there is.
    """
    for stream in graph.streams.values():
        for jitter in stream.jitter:
            what = f"the jitter of {jitter.resource} is negative"
            yield -jitter.value, what, jitter.span
        yield -stream.buffer, f"the playout buffer of `{stream.name}` is negative", stream.playout
        for queue in stream.queues:
            what = f"a queue of `{stream.name}` ({queue.stage}) is negative"
            yield -queue.value, what, queue.span
        for part in stream.losses:
            shares = {"recovers": part.restored}
            if part.kind is LossKind.VOLUNTARY:
                shares["drops"] = part.value
            for does, share in shares.items():
                if share is not None:
                    what = f"the share that `{stream.name}` {does} ({part.stage}) is"
                    yield -share, f"{what} negative", part.span
                    yield share - 1, f"{what} above 100 %", part.span


def _refuse_beyond(
    graph: LoadGraph, over: Formula, message: str, span: Span | None, high: int
) -> None:
    """Refuse a model where a value is beyond what it can be at some population up to the answer."""
    put_in = graph.valued(over)
    population, low = graph.population, graph.low
    if not put_in.symbols:
        # Most fixed values were checked where they stand, but not laws that name a rate.
        is_beyond, where = _is_above_zero(put_in), ""
    else:
        failure = first_failure(put_in, population, low, max(low, high), name=message, span=span)
        is_beyond = failure is not None
        where = f" at {population} = {failure}"
    if is_beyond:
        hint = "bound it with `max` or `min`"
        raise QpsError.single(codes.OUT_OF_RANGE, span, f"{message}{where}", hint=hint)


def _is_above_zero(constant: Formula) -> bool:
    """Return whether a value is above zero for certain."""
    try:
        return sign(constant) == 1
    except NoSignError:
        return False
