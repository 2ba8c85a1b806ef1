"""What lies beyond the capacity: the next limit, 10 % more users, headroom."""

from __future__ import annotations

from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.losses_in_series import known_at, quality_known_at
from qps.compiler.quantities.certainty import opposite
from qps.compiler.quantities.dimension import DATA_RATE, TIME, Dimension
from qps.reports.text.answers import SolveView
from qps.reports.text.how_known import marked, marked_value, users_with
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.nouns import noun
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
    told_beyond,
)
from qps.reports.text.reasons import beyond, quality_beyond
from qps.solver.answers.headroom import FailingThere, MoreUsers, StreamThere, more_users
from qps.solver.answers.solution import Solution

_MOST_NAMED = 3


def headroom_lines(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> list[str]:
    """Return the next limit, the effect of 10 % more users, the headroom, the best changes."""
    following = next_limit_line(view, labels)
    lines = (
        following and f"Next limit: {following}.",
        *beyond_lines(view, solution, labels),
        _helps_most(view, labels),
    )
    return [line for line in lines if line]


def beyond_lines(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> list[str]:
    """Return those of them that the first screen does not tell: 10 % more users, the headroom."""
    headroom = phrase("margin", told=headroom_line(view))
    return [*more_users_lines(view, solution, labels), labels.told(headroom)]


def more_users_lines(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> list[str]:
    """Return a sentence about 10 % more users; none where that is not asked."""
    more = more_users(solution)
    return [] if more is None else [_more_users(view, solution, more, labels)]


def next_limit_line(view: SolveView, labels: Labels = PLAIN) -> str:
    """Return what would limit next, empty where that is not asked."""
    found = view.next_limit
    if found is None:
        return ""
    if found.requirement is None:
        return f"none up to {found.met_up_to:,}, the end of the range"
    mode = f" in mode {found.mode}" if found.mode else ""
    named = labels.of(found.requirement)
    if found.met_up_to is None:
        return f"{named}{mode}{phrase('next.never')}"
    return f"{named}{mode}, met up to {marked(f'{found.met_up_to:,}', found.known)}"


def headroom_line(view: SolveView) -> str:
    """Return the utilization that the spec allows: by targets, and by requirements."""
    if not view.margin:
        return phrase("margin.none")
    told = [
        phrase("margin.one", name=item.of, target=percent(item.at_most))
        + ("" if item.loaded else " (unused here)")
        for item in view.margin
    ]
    return ", ".join(told)


def _helps_most(view: SolveView, labels: Labels) -> str:
    told = ", ".join(
        f"{item.change if labels.is_plain else item.words} ({users_with(item)})"
        for item in view.helps_most
    )
    return f"Scale up: {told}." if told else ""


# -- more users --------------------------------------------------------------------------


def _more_users(view: SolveView, solution: Solution, more: MoreUsers, labels: Labels) -> str:
    """Return what happens with more users, and to whom."""
    of = {"at": f"{more.at:,}", "noun": noun(view.population.name)}
    head = phrase("more.end" if more.is_end_of_range else "more.some", **of)
    mode = phrase("in_mode", mode=view.mode) if view.mode else ""
    loads = [
        phrase(
            "loaded" if one.target == 1 else "loaded.planned",
            name=labels.of(one.resource),
            load=percent(one.utilization),
            target=percent(one.target),
        )
        for one in more.loads
    ]
    fails = [_failing(solution, one, more.at, labels) for one in more.failing]
    if more.quality is None or not _is_beyond(solution.graph, more.at):
        pass
    elif not labels.is_plain:
        if not fails:  # what fails by itself says more
            fails.append(quality_beyond(solution, more.at, labels))
    else:
        known = quality_known_at(solution.graph, more.at)
        value = marked_value(told_beyond(more.quality[1], 1), more.quality[1], known)
        fails.append(phrase("reason.above", name="quality", told=value, limit=1))
    told = [*_some(loads), *_some(fails), *map(labels.told, _to_whom(more, labels))]
    return f"{head}{mode}: {'; '.join(told)}."


def _is_beyond(graph: LoadGraph, at: int) -> bool:
    """Return whether quality of served items is beyond its limit: of overload, the loads tell."""
    return graph.quality is not None and graph.at(at).number(graph.quality) > 1


def _failing(solution: Solution, one: FailingThere, at: int, labels: Labels) -> str:
    criterion = one.criterion
    if criterion.promised_with is not None:
        name = f"`{criterion.name}`" if labels.is_plain else labels.of(criterion.name)
        return phrase("reason.promise", name=name)
    share = in_percent(criterion)
    graph, dimension = solution.graph, criterion.dimension
    told = beyond_limit(
        graph, criterion.value, criterion.limit, at, dimension, share=share, digits=3
    )
    value = marked_value(told, one.value, known_at(graph, criterion, at))
    limit = quantity(graph.number(criterion.limit), dimension, 3, share=share)
    return beyond(criterion, labels.measure(criterion.name), value, limit)


def _some(told: list[str]) -> list[str]:
    more = len(told) - _MOST_NAMED
    return [*told[:_MOST_NAMED], *([phrase("more.like", count=more)] if more > 0 else [])]


def _to_whom(more: MoreUsers, labels: Labels) -> list[str]:
    """Return what streams lose, how much later they get, at which stage; or that none does."""
    ordered = sorted(more.streams, key=lambda one: (-one.loss[1], -one.latency[1]))
    alike: dict[tuple[str, ...], list[str]] = {}
    for one in ordered:
        if one.loses_more or one.is_later or one.is_lowered:
            alike.setdefault(_how(one, labels), []).append(one.name)
    if alike:
        return _some([f"{joined_words(names)}: {', '.join(how)}" for how, names in alike.items()])
    return [phrase("more.nobody")]


def _how(one: StreamThere, labels: Labels) -> tuple[str, ...]:
    """Return in which ways a stream gets worse, and where."""
    told = []
    if one.loses_more:
        before = f", {percent(one.loss[0])} before" if one.loss[0] > 0 else ""
        lost = marked(percent(one.loss[1]), one.loss_known)
        told.append(f"{lost} lost ({one.lost_at}{before})")
    if one.is_later:
        later = quantity(one.latency[1] - one.latency[0], TIME, 3)
        told.append(f"latency +{later} ({labels.stage(one.slower_at)})")
    if one.is_lowered:
        unit = DATA_RATE if one.item == "bit" else Dimension.of(one.item) / TIME
        before, after = (quantity(rate, unit, 3) for rate in one.rate)
        told.append(f"rate {before} -> {marked(after, opposite(one.loss_known))}")
    return tuple(told)
