"""The rows of the report's tables as plain values: needs, resources, numbers, claims."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.measure_names import resource_in, utilization_of
from qps.compiler.lower.load_graph import Assumption, Cited
from qps.compiler.quantities.certainty import Certainty, CertaintyKind
from qps.compiler.quantities.limit_use import limit_used
from qps.reports.text.solutions.bottleneck_text import (
    changes_in_words,
    full_from_start,
    heaviest_in_words,
    stays_full_text,
    undecided_saturations,
)
from qps.reports.text.solutions.capacity_text import has_nominal
from qps.reports.text.solutions.elastic_text import SATURATED
from qps.reports.text.words.certainty_marks import MARKS, marked, marked_value
from qps.reports.text.words.estimates import limit_of
from qps.reports.text.words.limit_states import LimitState, limit_state
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import (
    in_percent,
    percent,
    quantity_at_limit,
    undecided_point,
    whole_population,
)
from qps.reports.text.words.spec_units import interval_text, range_text
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import QUALITY, ResourceSolution
from qps.solver.search.method import SearchMethod


class RequirementRow(Struct, frozen=True, kw_only=True):
    """A requirement at the answer: its value, how near that is to its limit, what is left of it."""

    measure: str
    limit: str
    value: str
    headroom: str
    met_up_to: str
    state: LimitState


class ResourceRow(Struct, frozen=True, kw_only=True):
    """A resource: load at the answer, saturation and how it was found, main shares."""

    name: str
    load: str
    saturates_at: str
    method: str
    shares: str
    is_first: bool
    state: str


class FactRow(Struct, frozen=True, kw_only=True):
    """A fact with its value, where it is stated, and who says so."""

    name: str
    value: str
    place: str
    source: str
    range: str = ""


def requirement_rows(answer: Answer, called: Callable[[str], str]) -> tuple[RequirementRow, ...]:
    """Return every stated requirement as it is called, and quality as the last.

    An upper limit of a utilization is the tick of its gauge.
    """
    loads = {utilization_of(one.name) for one in answer.resources}
    rows = [
        _requirement(answer, one, called)
        for one in answer.requirements
        if one.name not in loads or not one.at_most or one.confidence is not None
    ]
    quality = answer.quality
    if (
        quality.at_limit is not None and quality.metric != ir.Metric.WORST.value
    ):  # each row says that
        value = quantity_at_limit(quality.at_limit, 1)
        rows.append(
            RequirementRow(
                measure=f"{called(QUALITY)} ({phrase(f'quality.{quality.metric}')})",
                limit="≤ 1",
                value=marked_value(value, quality.at_limit, quality.known),
                met_up_to=_up_to(quality.met_up_to, answer, quality.met_up_to_known),
                headroom=headroom_text(quality.at_limit),
                state=limit_state(quality.at_limit, limits_capacity=answer.limited_by == QUALITY),
            )
        )
    return tuple(rows)


def _requirement(
    answer: Answer, one: RequirementAnswer, called: Callable[[str], str]
) -> RequirementRow:
    share, name = in_percent(one), called(one.name)
    text = quantity_at_limit(one.now.value, one.limit, one.dimension, share=share)
    used, may_exceed = _used_by(one), _may_exceed(one)
    return RequirementRow(
        # Of a latency it is the mean: percentiles have names of their own.
        measure=f"{name} {phrase('table.mean')}" if one.name.endswith(".latency") else name,
        limit=limit_of(one, one.limit, share=share, digits=3),
        value=marked_value(text, one.now.value, one.now.known),
        met_up_to=_up_to(one.met_up_to, answer, one.met_up_to_known),
        headroom=_marked_headroom(used, may_exceed=may_exceed),
        state=_state_of(one, used, answer, may_exceed=may_exceed),
    )


def requirement_states(answer: Answer) -> tuple[LimitState, ...]:
    """Return the states of all stated requirements, also of utilizations and of quality."""
    states = [
        _state_of(one, _used_by(one), answer, may_exceed=_may_exceed(one))
        for one in answer.requirements
    ]
    quality = answer.quality
    if quality.at_limit is not None and quality.metric != ir.Metric.WORST.value:
        limits_capacity = answer.limited_by == QUALITY
        states.append(limit_state(quality.at_limit, limits_capacity=limits_capacity))
    return tuple(states)


def _used_by(one: RequirementAnswer) -> float:
    return limit_used(one.now.value, one.limit, at_most=one.at_most)


def _marked_headroom(used: float, *, may_exceed: bool) -> str:
    """Return how much of a limit is left; at most that where the value is at least what it is."""
    text = headroom_text(used)
    return MARKS[CertaintyKind.UPPER_BOUND] + text if text and may_exceed else text


def _state_of(
    one: RequirementAnswer, used: float, answer: Answer, *, may_exceed: bool
) -> LimitState:
    """Return the state of a requirement; whether it is met decides where floats do not."""
    if one.met_up_to is None or one.met_up_to < answer.at:
        return LimitState.OVER
    is_limit = answer.limited_by == one.name
    if one.confidence is not None:  # its value here is that of nominal inputs
        return LimitState.LIMIT if is_limit else LimitState.WITHIN
    state = limit_state(min(used, 1.0), limits_capacity=is_limit)
    is_open = may_exceed and state in (LimitState.WITHIN, LimitState.CLOSE)
    return LimitState.UNKNOWN if is_open else state


def _may_exceed(one: RequirementAnswer) -> bool:
    """Return whether a value is a bound on the side that proves no limit to be met."""
    side = CertaintyKind.LOWER_BOUND if one.at_most else CertaintyKind.UPPER_BOUND
    return one.confidence is None and one.now.known.kind is side


def headroom_text(used: float) -> str:
    """Return which part of a limit is left, in whole percents; nothing where there are no parts.

    >>> headroom_text(0.747), headroom_text(1.5), headroom_text(0.9999)
    ('25 %', '−50 %', '<1 %')
    """
    left = 100 * (1 - used)
    if not isfinite(left):
        return ""
    if 0 < left < 1:
        return "<1 %"
    return f"{'−' if round(left) < 0 else ''}{abs(round(left)):,} %"


def _up_to(population: int | None, answer: Answer, known: Certainty) -> str:
    if population is None:
        return "never"
    return (
        phrase("page.full_range") if population == answer.high else marked(f"{population:,}", known)
    )


_NOT_FOUND = (SearchMethod.NONE, SearchMethod.AT_START, SearchMethod.UNDECIDED)
"""Methods that say no more of a saturation point than what stands in its place."""


def resource_row(
    answer: Answer,
    resource: ResourceSolution,
    name: str,
    called: Callable[[str], str],
    state: str = "",
) -> ResourceRow:
    """Return a resource of a name with its load, for how many it is enough, what it is made of."""
    saturation = resource.saturation
    saturates = phrase("table.never") if saturation.at is None else whole_population(saturation.at)
    if saturation.not_below is not None:
        saturates = undecided_point(saturation.at, saturation.not_below)
    if resource.target != 1 and saturation.at is not None:
        saturates += f" ({percent(resource.target)})"
    if saturation.method is SearchMethod.AT_START:
        saturates = phrase("table.at_start", low=whole_population(saturation.at or 0))
    shares = [
        f"{called(by)} {percent(share)}" for by, share in resource.shares.items() if share > 0
    ]
    first = answer.bottleneck
    is_first = (
        first is not None and first.saturates_at is not None and first.resource == resource.name
    )
    return ResourceRow(
        name=name,
        load=percent(resource.utilization_at_limit),
        saturates_at=saturates,
        method="" if saturation.method in _NOT_FOUND else saturation.method.value,
        shares=", ".join(shares),
        is_first=is_first,
        state=state,
    )


def resource_rows(answer: Answer, called: Callable[[str], str]) -> tuple[ResourceRow, ...]:
    """Return the resources, the first to saturate first; ports of a switch that are alike once."""
    return tuple(
        resource_row(
            answer,
            resource,
            called(resource.name) + name.removeprefix(resource.name),
            called,
            SATURATED if resource.name in answer.saturated_by_elastic else "",
        )
        for resource, name in with_ports_together(answer.by_saturation, attrgetter("name"), answer)
    )


def first_to_saturate(answer: Answer) -> str:
    """Return which resource saturates first, in a sentence."""
    if not answer.resources:
        return ""
    found = answer.bottleneck
    if found is None or found.saturates_at is None:
        is_planned = any(r.target != 1 for r in answer.resources)
        planned = ".planned" if is_planned else ""
        if found is not None and found.undecided:
            return phrase(f"saturates.unknown{planned}") + undecided_saturations(answer)
        return phrase(f"saturates.none{planned}")
    first = next(r for r in answer.resources if r.name == found.resource)
    found_first = {"resource": found.resource, "stays": stays_full_text(answer)}
    if first.saturation.method is SearchMethod.AT_START:
        full = full_from_start(found, is_planned=first.target != 1)
        return phrase("saturates.start", full=full, **found_first)
    key = "saturates.first" if first.target == 1 else "saturates.first.planned"
    at, of = whole_population(found.saturates_at), noun(answer.population)
    if has_nominal(answer):
        of += f" {phrase('with_nominal')}"
    return phrase(key, noun=of, at=at, **found_first) + undecided_saturations(answer)


def bottleneck_text(answer: Answer) -> str:
    """Return which resource is the most heavily loaded where."""
    found = answer.bottleneck
    if found is None:
        return ""
    if not found.changes:
        return phrase(
            "report.at_all_populations",
            resources=heaviest_in_words(answer),
            initially=found.initially,
        )
    return f"{changes_in_words(answer, found)}."


def sensitivity_of(answer: Answer) -> str:
    """Return what the sensitivities move, in words."""
    if answer.limited_by is None and answer.sensitivity_of is not None:
        return phrase("report.saturation_point_of", resource=resource_in(answer.sensitivity_of))
    return phrase("sensitivity.of", noun=noun(answer.population))


def setting_rows(model: ir.Model, in_force: Configuration, answer: Answer) -> tuple[FactRow, ...]:
    """Return the choices in force: population, mode, options, machines and networks in place."""
    name, span = answer.population, model.population.span
    set_from = in_force.case_from
    source = model.population.source
    rows = [_fact(name, f"{answer.low:,} to {answer.high:,}", span, source)]
    rows += [
        _fact("mode", mode.name, mode.span, mode.doc)
        for mode in model.modes
        if mode.name == answer.mode
    ]
    if answer.case is not None:
        rows.append(_fact("case", _chosen(answer.case, [case.value for case in ir.Case]), set_from))
    for option in model.options:
        chosen = _chosen(in_force.options[option.name], option.choices)
        rows.append(_fact(option.name, chosen, option.span, option.source or option.doc))
    for node in in_force.nodes.values():
        machine = model.machines[node.machine]
        source = node.source or machine.source or machine.doc
        rows.append(_fact(node.name, node.machine, node.span, source))
    for link in in_force.links.values():
        network = model.networks[link.network]
        source = link.source or network.source or network.doc
        rows.append(_fact(link.name, link.network, link.span, source))
    return tuple(rows)


def _chosen(choice: str, choices: Iterable[str]) -> str:
    """Return a choice, and what was not chosen."""
    return f"{choice} (alternatives: {', '.join(other for other in choices if other != choice)})"


def _fact(name: str, value: str, span: Span | None, source: str | None = None) -> FactRow:
    place = "" if span is None else span.place
    return FactRow(name=name, value=value, place=place, source=" ".join((source or "").split()))


def assumption_rows(
    model: ir.Model, assumptions: Iterable[Assumption], cited: Iterable[Cited]
) -> tuple[FactRow, ...]:
    """Return numbers, then what is made of numbers, each with its place and its source."""
    return (
        *(_assumption_row(model, one) for one in assumptions),
        *(_fact(one.name, one.text, one.span, one.source) for one in cited),
    )


def _assumption_row(model: ir.Model, assumption: Assumption) -> FactRow:
    """Return a number with its range or interval, where it has one, its place and its source."""
    row = _fact(assumption.name, assumption.text, assumption.span, assumption.source)
    return replace(row, range=range_text(model, assumption) or interval_text(model, assumption))
