"""What a report shows, made of a solution."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite

from msgspec import Struct, to_builtins

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.render import as_view
from qps.compiler.ir.measure_names import is_utilization
from qps.compiler.lower.losses_in_series import known_at, quality_known_at
from qps.compiler.quantities.certainty import Certainty, opposite, together
from qps.compiler.quantities.dimension import Dimension
from qps.reports.text.answers import (
    CarriedView,
    ElasticView,
    FailingView,
    MarginView,
    MoreUsersView,
    PopulationView,
    QualityView,
    RequirementView,
    ResourceView,
    SolveView,
    StreamThereView,
)
from qps.reports.text.formula_text import formula
from qps.reports.text.measures import measure_views
from qps.reports.text.reasons import answer
from qps.reports.text.worded_changes import changes_of
from qps.solver.answers.answer_certainty import (
    answer_known,
    largest_known,
    met_up_to_known,
    saturation_known,
)
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.class_mixes import class_mixes
from qps.solver.answers.headroom import MoreUsers, more_users, next_limit
from qps.solver.answers.solution import (
    CriterionSolution,
    ElasticSolution,
    ResourceSolution,
    Solution,
)
from qps.solver.answers.too_few_rows import counted_as_known
from qps.solver.odds.told import Odds
from qps.solver.search.method import Method
from qps.solver.what_if.advice import Advice

_MOST_HELPFUL = 3


def solve_view(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    settings: tuple[str, ...] = (),
    advice: Sequence[Advice] = (),
    warnings: Sequence[Diagnostic] = (),
    odds: Odds | None = None,
) -> SolveView:
    """Return the answers as plain values; `warnings` are those of the spec itself."""
    graph = solution.graph
    changes = changes_of(model, configuration, graph)
    told = tuple(changes.viewed(item) for item in advice)
    ranked = sorted(told, key=lambda item: -item.capacity)
    return SolveView(
        schema="qps/solve/2",
        file=model.file,
        model=model.name,
        scenario=configuration.scenario,
        mode=graph.mode,
        case=graph.case.value if graph.varied else None,
        settings=settings,
        answer=answer(solution),
        population=PopulationView(str(graph.population), graph.low, graph.high),
        resources=tuple(_resource(solution, resource) for resource in solution.resources),
        carries=_carried(solution),
        bottleneck=solution.bottleneck,
        requirements=tuple(_requirement(solution, item) for item in solution.requirements),
        measures=measure_views(solution),
        quality=_quality(solution),
        capacity=solution.capacity,
        known=answer_known(solution),
        capacity_interval=None if odds is None else odds.interval,
        odds=odds,
        counted_as_known=counted_as_known(model, graph),
        limited_by=solution.limited_by,
        at=solution.at,
        next_limit=next_limit(solution),
        more_users=_more_users(solution, more_users(solution)),
        margin=(*_margin(solution), *_idle_margin(model, configuration, solution)),
        helps_most=tuple(ranked[:_MOST_HELPFUL]),
        sensitivity=solution.sensitivity,
        sensitivity_of=solution.sensitivity_of,
        elastic=tuple(_elastic(item) for item in solution.elastic),
        closed=solution.closed,
        mixes=class_mixes(solution.graph, solution.at),
        cost=solution.costs,
        modes=solution.modes,
        advice=told,
        warnings=tuple(as_view(warning) for warning in (*warnings, *solution.warnings)),
    )


def _more_users(solution: Solution, item: MoreUsers | None) -> MoreUsersView | None:
    if item is None:
        return None
    return MoreUsersView(
        at=item.at,
        range_ends=item.is_end_of_range,
        quality=None if item.quality is None else item.quality[1],
        fails=tuple(
            FailingView(
                requirement=one.criterion.name,
                value=one.value,
                limit=solution.graph.number(one.criterion.limit),
                unit=str(one.criterion.dimension),
                known=known_at(solution.graph, one.criterion, item.at),
            )
            for one in item.failing
        ),
        streams=tuple(
            StreamThereView(
                stream=one.name,
                loss=one.loss[1],
                loss_before=one.loss[0],
                lost_at=one.lost_at if one.loses_more else "",
                latency=one.latency[1],
                latency_before=one.latency[0],
                slower_at=one.slower_at if one.is_later else "",
                rate=one.rate[1],
                rate_before=one.rate[0],
                latency_known=solution.graph.streams[one.name].latency_certainty,
                loss_known=one.loss_known,
                rate_known=together(
                    opposite(one.loss_known), solution.graph.streams[one.name].rate_known
                ),
            )
            for one in item.streams
        ),
        beyond_target=item.loads,
    )


def _margin(solution: Solution) -> tuple[MarginView, ...]:
    """Return the loads that are planned with: targets, and requirements that loads stay below 1."""
    graph = solution.graph
    planned = {name: graph.number(value) for name, value in graph.targets.items()}
    for criterion in graph.criteria:
        if criterion.span is not None and criterion.at_most and is_utilization(criterion.name):
            limit = graph.number(criterion.limit)
            planned[criterion.name] = min(limit, planned.get(criterion.name, limit))
    return tuple(MarginView(name, value) for name, value in planned.items() if value < 1)


def _idle_margin(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[MarginView]:
    """Yield the targets of what nothing loads in this configuration."""
    graph = solution.graph
    loaded = [(name, configuration.place_of(name)) for name in graph.resources]
    links = configuration.links
    folder = Folder(configuration=in_force(configuration), population=Fraction(graph.low))
    for target in model.targets:
        ranks = [target.rank(name, place, is_link=place in links) for name, place in loaded]
        if not any(map(any, ranks)):
            value = folder.fold(target.value.expr)
            if value is not None and value < 1:
                yield MarginView(target.told, float(value), loaded=False)


def _elastic(item: ElasticSolution) -> ElasticView:
    return ElasticView(
        parameter=item.name,
        priority=item.priority,
        least=item.least,
        most=item.most,
        unit=str(item.dimension),
        value_at_limit=item.value_at_limit,
        lowered=item.value_at_limit < item.most,
        yields=item.yields,
        exhausted=item.exhausted,
        changes=item.changes,
        known=item.known,
    )


def _quality(solution: Solution) -> QualityView:
    graph = solution.graph
    judged = [failure for failure in solution.failures if failure.criterion.name == QUALITY]
    return QualityView(
        metric=graph.metric.value,
        at_limit=solution.quality_at_limit,
        met_up_to=solution.quality_met_up_to,
        known=quality_known_at(graph, solution.at),
        met_up_to_known=largest_known(judged, graph.low),
    )


def _resource(solution: Solution, resource: ResourceSolution) -> ResourceView:
    return ResourceView(
        name=resource.name,
        utilization=formula(resource.load),
        utilization_at_limit=resource.utilization_at_limit,
        target=resource.target,
        saturates_at=resource.saturation.at,
        saturates_not_below=resource.saturation.not_below,
        closed_form=resource.saturation.method is Method.CLOSED_FORM,
        method=resource.saturation.method.value,
        shares=resource.shares,
        known=saturation_known(resource, solution.graph),
    )


_BYTE = 8
_HOUR = 3600.0
MONTH = 365.25 * 86_400 / 12
"""Seconds of a month, on average."""


def _carried(solution: Solution) -> tuple[CarriedView, ...]:
    """Return what is carried, the most first."""
    found = [
        CarriedView(
            resource=r.name,
            bit_per_s=rate,
            byte_per_hour=rate * _HOUR / _BYTE,
            byte_per_month=rate * MONTH / _BYTE,
            count=r.count,
            known=solution.graph.resources[r.name].known,
        )
        for r in solution.resources
        if (rate := r.throughput) is not None
    ]
    return tuple(sorted(found, key=lambda carried: -carried.bit_per_s))


def _requirement(solution: Solution, item: CriterionSolution) -> RequirementView:
    criterion = item.criterion
    operator = ("<" if criterion.at_most else ">") + ("" if criterion.strict else "=")
    return RequirementView(
        measure=criterion.name,
        operator=operator,
        limit=solution.graph.number(criterion.limit),
        unit=str(criterion.dimension),
        met_up_to=item.met_up_to,
        value_at_limit=item.value_at_limit,
        value_beyond=item.value_beyond,
        certainty=criterion.promised_with,
        known=known_at(solution.graph, criterion, solution.at),
        met_up_to_known=met_up_to_known(solution, criterion),
    )


def circumstances(view: SolveView) -> tuple[str, ...]:
    """Return what was asked for otherwise than as the spec stands: scenario, case, settings."""
    told = [f"scenario {view.scenario}"] if view.scenario else []
    is_set = any(setting.split("=")[0].strip() == "case" for setting in view.settings)
    if view.case not in (None, ir.Case.AVERAGE.value) and not is_set:
        told.append(f"case {view.case}")
    return (*told, *view.settings)


def as_json(value: object) -> object:
    """Return a view as JSON values; a trailing underscore of a name is Python's, not ours."""
    if isinstance(value, Dimension):
        return str(value)
    if isinstance(value, Method):
        return value is Method.CLOSED_FORM
    if isinstance(value, Certainty):
        return {key: told for key, told in value.printed.items() if told is not None}
    if isinstance(value, Struct):
        if value.__struct_config__.omit_defaults:
            return as_json(to_builtins(value))
        named = zip(value.__struct_encode_fields__, value.__struct_fields__, strict=True)
        return {key.rstrip("_"): as_json(getattr(value, name)) for key, name in named}
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [as_json(item) for item in value]
    if isinstance(value, float) and not isfinite(value):
        return None
    return value
