"""What lies beyond the answer: the next limit, and what some more users would do to whom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.losses_in_series import InSeries, in_series_at, known_at, loss_known
from qps.compiler.lower.quality_axes import axes_of, joined_axes
from qps.compiler.lower.stream_measures import StreamMeasures
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.engine.formulas import Formula
from qps.solver.answers.answer_certainty import largest_known
from qps.solver.answers.answering import (
    QUALITY,
    all_criteria,
    limiting_of,
    value_at,
    when_it_fails,
)
from qps.solver.answers.capacity import fails_at
from qps.solver.answers.saturation import judgement_of
from qps.solver.answers.solution import FirstFailure, Solution, Verdict

_NOTICEABLE_LOSS = 5e-4
_NOTICEABLE_CHANGE = 0.01
_FULL = 1 + 1e-9  # an elastic rate fills a resource up to 1


class NextLimit(Struct, frozen=True):
    """The next limit: what would limit capacity if the first limit were lifted.

    `requirement` is met up to `met_up_to`, None if it is never met. If nothing else limits
    capacity in the range, `requirement` is None and `met_up_to` is the end of the range.
    """

    requirement: str | None
    met_up_to: int | None
    mode: str | None
    known: Certainty = EXACT
    """Certainty of `met_up_to`."""


class FailingThere(Struct, frozen=True):
    """A requirement that fails with more users: its value there."""

    criterion: Criterion
    value: float


class StreamThere(Struct, frozen=True, kw_only=True):
    """What a stream's users see at the answer and with more users: shares, s, items (or bit) a s.

    `lost_at` and `slower_at` are the stages of the way to which most of the change is due.
    """

    name: str
    loss: tuple[float, float]
    lost_at: str
    latency: tuple[float, float]
    slower_at: str
    rate: tuple[float, float]
    item: str
    loss_known: Certainty
    """How the loss with more users is known; a rate is so from the other side."""

    @property
    def loses_more(self) -> bool:
        """True where noticeably more is lost."""
        return self.loss[1] - self.loss[0] > _NOTICEABLE_LOSS

    @property
    def is_later(self) -> bool:
        """True where it is noticeably later."""
        before, after = self.latency
        return after - before > _NOTICEABLE_CHANGE * before

    @property
    def is_lowered(self) -> bool:
        """True where less is sent, besides what is lost: an elastic rate gives way."""
        kept = (1 - self.loss[1]) / (1 - self.loss[0]) if self.loss[0] < 1 else 1.0
        return self.rate[1] < self.rate[0] * kept * (1 - _NOTICEABLE_CHANGE)


class LoadThere(Struct, frozen=True):
    """A resource above its target."""

    resource: str
    utilization: float
    target: float


class MoreUsers(Struct, frozen=True, kw_only=True):
    """What happens with 10 % more users, or at the end of the range where that comes first."""

    at: int
    is_end_of_range: bool
    quality: tuple[float, float] | None
    failing: tuple[FailingThere, ...]
    streams: tuple[StreamThere, ...]
    loads: tuple[LoadThere, ...]


# -- the next limit ----------------------------------------------------------------------


def next_limit(solution: Solution) -> NextLimit | None:
    """Return what fails next, in any mode, were the requirement that limits the answer lifted.

    None where nothing limits it.
    """
    if solution.limited_by is None:
        return None
    lifted = next(f.criterion for f in solution.failures if f.criterion.name == solution.limited_by)
    found = [
        (at, criterion.span is None, number, criterion)
        for number, each in enumerate((solution, *solution.others))
        for criterion, at in _first_of(each, _without(each, lifted))
    ]
    if not found:
        return NextLimit(None, solution.graph.high, None)
    at, _, number, criterion = min(found, key=lambda one: one[:3])
    graph = (solution, *solution.others)[number].graph
    failure = FirstFailure(criterion, at, known_at(graph, criterion, at))
    known = largest_known([failure], graph.low)
    return NextLimit(criterion.name, None if at == graph.low else at - 1, graph.mode, known)


def _first_of(
    solution: Solution, failures: Sequence[tuple[Criterion, int | None]]
) -> list[tuple[Criterion, int]]:
    """Return the criterion that fails first, with where that is; nothing where none does.

    Of several it is that which would limit the answer; quality only where nothing else fails.
    """
    first = min((at for _, at in failures if at is not None), default=None)
    if first is None:
        return []
    failing = [criterion for criterion, at in failures if at == first]
    among = [criterion for criterion in failing if criterion.name != QUALITY] or failing
    saturations = {resource.name: resource.saturation for resource in solution.resources}
    judgement = judgement_of(solution.graph, saturations)
    number = limiting_of(among, [True] * len(among), judgement, solution.graph)
    return [(among[number], first)]


def _without(solution: Solution, lifted: Criterion) -> list[tuple[Criterion, int | None]]:
    """Return the criteria that remain without one, each with where it first fails.

    What is no requirement any more is no axis of quality either.
    """
    kept = [
        failure
        for failure in solution.failures
        if (failure.criterion.name, failure.criterion.at_most) != (lifted.name, lifted.at_most)
    ]
    found = [(failure.criterion, failure.first) for failure in kept]
    graph = solution.graph
    if lifted.axis is None or graph.metric is ir.Metric.FORMULA:
        return found
    found = [(criterion, at) for criterion, at in found if criterion.name != QUALITY]
    left = tuple(criterion for criterion, _ in found)
    axes = axes_of(left)
    joined = joined_axes(graph.metric, axes) if axes else None
    narrowed = replace(graph, criteria=left, quality=joined)
    quality = all_criteria(narrowed)[len(left) :]
    return [*found, *((one, when_it_fails(narrowed, one)) for one in quality)]


# -- more users --------------------------------------------------------------------------


def more_users(solution: Solution) -> MoreUsers | None:
    """Return what happens with more users, in the mode that a solution is of.

    None where nothing limits the answer, or nothing is acceptable.
    """
    if solution.verdict is not Verdict.LIMITED:
        return None
    graph, now = solution.graph, solution.at
    wanted = -(-11 * now // 10)
    there = min(wanted, graph.high)
    failing = [
        FailingThere(criterion, value_at(graph, criterion.value, there))
        for criterion in graph.criteria
        if criterion.span is not None and fails_at(graph, criterion, there)
    ]
    loads = [
        LoadThere(name, value_at(graph, r.load, there), value_at(graph, r.target, there))
        for name, r in graph.resources.items()
        if value_at(graph, r.fullness, there) > _FULL
    ]
    return MoreUsers(
        at=there,
        is_end_of_range=there < wanted,
        quality=None
        if graph.quality_value is None
        else _both(graph, graph.quality_value, now, there),
        failing=tuple(failing),
        streams=_streams(graph, now, there),
        loads=tuple(sorted(loads, key=lambda one: -one.utilization / one.target)),
    )


def _both(graph: LoadGraph, expr: Formula, now: int, there: int) -> tuple[float, float]:
    return value_at(graph, expr, now), value_at(graph, expr, there)


def _streams(graph: LoadGraph, now: int, there: int) -> tuple[StreamThere, ...]:
    series = in_series_at(graph, there)
    return tuple(_stream(graph, s, now, there, series) for s in graph.streams.values())


def _stream(
    graph: LoadGraph, stream: StreamMeasures, now: int, there: int, series: InSeries
) -> StreamThere:
    def most(parts: Iterable[tuple[str, Formula]]) -> str:
        """Return the stage that grows most."""
        values = [(*_both(graph, value, now, there), stage) for stage, value in parts]
        return max(values, key=lambda one: one[1] - one[0], default=(0.0, 0.0, ""))[2]

    return StreamThere(
        name=stream.name,
        loss=_both(graph, stream.loss, now, there),
        lost_at=most((part.stage, part.value) for part in stream.losses),
        latency=_both(graph, stream.mean_latency, now, there),
        slower_at=most((part.stage, part.value) for part in (*stream.latency, *stream.endless)),
        rate=_both(graph, stream.rate, now, there),
        item=stream.item,
        loss_known=loss_known(ir.MeasureKind.LOSS, stream, series),
    )
