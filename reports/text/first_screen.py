"""The first screen of `qps solve`: capacity, bottleneck, what raises it, and the busiest resources.

Title and file first, labeled facts below, one table, notes last. `--all` (`solve_text`) has the
rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import floor
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import plain
from qps.compiler.ir.measure_names import percentile_level, resource_in
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.lower.losses_in_series import known_at
from qps.compiler.quantities.dimension import TIME
from qps.reports.text.answers import AdviceView, ResourceView, SolveView
from qps.reports.text.facts import fact_lines, title_lines
from qps.reports.text.giving_way import giving_way
from qps.reports.text.how_known import (
    MARKS,
    marked,
    marked_value,
    merged,
    users_as_known,
    users_with,
)
from qps.reports.text.labels import Labels
from qps.reports.text.measures import measure_table
from qps.reports.text.nouns import counted, noun
from qps.reports.text.odds_text import rounded_ends, samples_text
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import (
    beside_limit,
    beyond_limit,
    in_percent,
    joined_words,
    percent,
    quantity,
    rounded_down,
)
from qps.reports.text.reasons import behind_quality, criteria_behind_quality, value_and_limit
from qps.reports.text.table import Table, joined, text_width
from qps.reports.text.text import cost_facts, elastic_facts, mode_facts, resource_table
from qps.reports.text.tones import Tone, toned
from qps.reports.text.view import circumstances
from qps.reports.text.worded_changes import Wording, cost_told, price_asked
from qps.reports.text.wrapping import held, wrapped
from qps.solver.answers.answering import QUALITY, rests_on_users, value_at
from qps.solver.answers.solution import CriterionSolution, Solution, Verdict

_MOST_ROWS = 8
_MOST_NAMED = 3
_MOST_REASONS = 2
_DIGITS = 3
_COLUMN = 15
"""Columns before the value of a fact."""
_BARS = 1
"""The column of a table that has bars."""
_NARROW = 72
"""Columns below which a table does without what loads a resource most."""
_WIDE = 100
"""Columns from which on a table has all that loads a resource."""
_TONES = {"Bottleneck": Tone.LIMIT, "Limit": Tone.LIMIT, "Violated": Tone.MISS}


def first_screen(
    view: SolveView,
    solution: Solution,
    title: str,
    words: Wording,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return the answer as a terminal of a width shows it, at most eight resources behind it."""
    head = screen_head(view, solution, title, words.labels, width=width, color=color)
    return head + screen_body(view, solution, words, width=width, color=color)


def screen_head(
    view: SolveView,
    solution: Solution,
    title: str,
    labels: Labels,
    *,
    width: int = 80,
    color: bool = False,
) -> str:
    """Return title and capacity: printed before advice is known, which may take long."""
    head = title_lines(title, ", ".join([view.file, *circumstances(view)]), width)
    facts = [("Capacity", capacity(view, solution, labels)), ("Uncertainty", _uncertainty(view))]
    tone = Tone.MISS if _count(view) is None else Tone.ANSWER
    capacity_lines, *others = fact_lines([fact for fact in facts if fact[1]], width)
    shown = [toned(line, tone, color=color) for line in capacity_lines]
    shown += [toned(line, None, color=color) for lines in others for line in lines]
    return "".join(f"{line}\n" for line in [*head, "", *shown])


def screen_body(
    view: SolveView, solution: Solution, words: Wording, *, width: int = 80, color: bool = False
) -> str:
    """Return what stands below the capacity: facts, changes with their settings, a table, notes."""
    labels = words.labels
    facts = [fact for fact in _facts(view, solution, words) if fact[1]]
    lines: list[str] = []
    rows = {_HELPS: _changes(view, solution, width), _MEASURES: _measures(solution, labels, width)}
    for (label, _), shown in zip(facts, fact_lines(facts, width), strict=True):
        tone = _TONES.get(label)
        lines += [toned(line, tone, color=color) for line in rows.get(label, shown)]
    table = _resources(view, solution, labels, width, color=color)
    warned = plain(solution.warnings).splitlines()
    warnings = [line for one in warned for line in wrapped(one, width, "  ", "    ")]
    notes = [toned(line, Tone.ASIDE, color=color) for line in _notes(view, width)]
    facts_shown = "".join(f"{line}\n" for line in lines)
    rest = joined([table, "\n".join(warnings), "\n".join(notes)])
    return f"{facts_shown}\n{rest}" if rest else facts_shown


class Decision(Struct, frozen=True):
    """What one must know first: how many, and facts under their labels."""

    headline: str
    facts: tuple[tuple[str, str], ...]


def decision(view: SolveView, solution: Solution, words: Wording) -> Decision:
    """Return what the first screen tells, for a page and a notebook."""
    labels = words.labels
    reliability = _certainty(view, solution, labels)
    facts = [
        ("Reliability", reliability),
        ("Uncertainty", _uncertainty(view)),
        *_facts(view, solution, words),
    ]
    named = tuple(
        (label, _in_one_line(view) if label == _HELPS else text)
        for label, text in facts
        if text and label != _MEASURES
    )
    return Decision(headline(view, solution), named)


def headline(view: SolveView, solution: Solution) -> str:
    """Return the capacity in a few words: `≤ 7,462 users`, `100 users at 95 % confidence`."""
    return _many(view, solution)


_HELPS, _MEASURES = "Scale up", "Measures"


# -- capacity ---------------------------------------------------------------------------------


def capacity(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return the capacity with how reliable it is, in a few words."""
    many = _many(view, solution)
    known = _certainty(view, solution, labels)
    return f"{many}{held('   ')}{known}" if known else many


def _count(view: SolveView) -> int | None:
    """Return the capacity; with uncertain inputs, the one that most samples support."""
    return view.capacity if view.odds is None else view.odds.promise.largest


def _many(view: SolveView, solution: Solution) -> str:
    count, name, odds = _count(view), view.population.name, view.odds
    sure = "" if odds is None else percent(odds.promise.certainty)
    if count is None:
        if odds is not None:
            return phrase("capacity.none.samples", sure=sure)
        return phrase("capacity.none", users=counted(view.population.from_, name))
    if odds is None and not rests_on_users(solution.graph):
        return phrase("capacity.any", noun=noun(name))
    users = counted(count, name) if odds is None else f"{rounded_down(count)} {noun(name)}"
    if count == view.population.to and view.population.from_ < count:
        users = users.replace(" ", "+ ", 1)
    if odds is not None and view.known.is_exact:
        return phrase("capacity.confident", users=users, sure=sure)
    return MARKS[view.known.kind] + users


def _certainty(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return how reliable a capacity is: exact, or which side and why."""
    if _count(view) is None:
        return ""
    known = users_as_known(view.known)
    if view.known.is_exact:
        return "" if view.odds is not None else known
    reasons = dict.fromkeys(reason.partition(": ")[0] for reason in view.known.reasons)
    told = merged(tuple(reasons), solution.graph.ports)
    more = len(told) - _MOST_REASONS
    shown = "; ".join(told[:_MOST_REASONS]) + (f"; {more} more" if more > 0 else "")
    return f"{known}: {labels.told(shown)}" if shown else known


def _uncertainty(view: SolveView) -> str:
    """Return what uncertain inputs do to the capacity: an interval, from samples."""
    odds = view.odds
    if odds is None:
        return ""
    ends = rounded_ends(odds.interval, view.population.to)
    stated = view.capacity
    nominal = "none" if stated is None else f"{stated:,}"
    return phrase(
        "uncertainty",
        share=percent(odds.interval.probability),
        ends=ends,
        nominal=nominal,
        samples=samples_text(odds.samples, len(odds.shares)),
    )


# -- facts ------------------------------------------------------------------------------------


def _facts(view: SolveView, solution: Solution, words: Wording) -> Iterator[tuple[str, str]]:
    """Yield facts under their labels; changes and measures have lines of their own."""
    labels = words.labels
    told = labels.told
    if solution.verdict is Verdict.NOWHERE:
        for label, text in _violated(solution, labels):
            yield label, told(text)
    elif solution.verdict is Verdict.LIMITED:
        label, text = _limit(view, solution, labels)
        yield label, told(text + _in_samples(view, label))
        if label != "Bottleneck":
            yield "Bottleneck", told(_busiest(view, labels))
    else:
        yield "Bottleneck", told(_busiest(view, labels))
    yield "Next limit", told(_next(view, solution, labels))
    yield _others_label(view, solution), told(_others(view, solution, labels))
    yield "Elastic", told(" ".join(elastic_facts(view, solution)))
    yield "Measure next", told(_measure_next(view))
    yield _HELPS, "…" if view.helps_most else ""
    yield "Cost", "; ".join(cost_facts(view, solution)) or _price_hint(solution, words)
    yield "Modes", mode_facts(view, labels)
    yield _MEASURES, "…" if measure_table(solution, labels).rows else ""
    yield "Fixed inputs", "; ".join(_counted_as_known(view))


def _price_hint(solution: Solution, words: Wording) -> str:
    return price_asked(words) if solution.verdict is Verdict.LIMITED else ""


def _limit(view: SolveView, solution: Solution, labels: Labels) -> tuple[str, str]:
    """Return what limits the capacity, with its value there and one user further on."""
    name, further = solution.limited_by or "", solution.at + 1
    if name == QUALITY:
        return "Limit", _behind_quality(solution, labels)
    named = [item for item in solution.requirements if item.criterion.name == name]
    found = solution.graph.resources.get(resource_in(name))
    for item in sorted(named, key=lambda item: item.met_up_to or 0)[:1]:
        criterion = item.criterion
        if criterion.promised_with is not None:
            return "Limit", f"{labels.of(name)}: not met at {further:,}"
        if found is not None:
            at = value_at(solution.graph, criterion.value, solution.at)
            limit = solution.graph.number(criterion.limit)
            then = _further(criterion, solution, further)
            return "Bottleneck", _utilization(labels.of(found.name), at, limit, "limit", then)
        told = f"{labels.measure(name)}: {value_and_limit(criterion, solution, solution.at)}"
        then = _further(criterion, solution, further)
        return "Limit", f"{told}, {then}"
    mine = [one for one in view.resources if found is not None and one.name == found.name]
    if found is None or not mine:
        return "Limit", labels.of(name)
    then = beyond_limit(
        solution.graph, found.load, found.target, further, share=True, digits=_DIGITS
    )
    target = solution.graph.number(found.target)
    then = f"{_or_just(then, percent(target), 'over')} at {further:,}"
    of = "target" if target != 1 else ""
    return "Bottleneck", _utilization(
        labels.of(found.name), mine[0].utilization_at_limit, target, of, then
    )


def _utilization(name: str, at: float, limit: float, of: str, then: str) -> str:
    """Return the utilization of a bottleneck beside its limit, and beyond it."""
    if percent(at, _DIGITS) != percent(limit, _DIGITS):
        behind = f" ({of} {percent(limit)})" if of else ""
        return f"{name}: utilization {percent(at, _DIGITS)}{behind}, {then}"
    if of:
        return f"{name}: utilization at its {percent(limit)} {of}"
    return f"{name}: saturated, {then}"


def _in_samples(view: SolveView, label: str) -> str:
    """Return which other resources saturate first in some samples of uncertain inputs."""
    if view.odds is None or label != "Bottleneck":
        return ""
    name = resource_in(view.limited_by or "")
    others = [one for one in view.odds.bottlenecks if one.name != name]
    told = [
        f"`{one.name}` saturates first in {percent(one.probability, 2)}"
        for one in others[:_MOST_NAMED]
    ]
    return f"; {joined_words(told)} of samples" if told else ""


def _busiest(view: SolveView, labels: Labels) -> str:
    """Return which resource saturates first, and where."""
    found = view.bottleneck
    mine = [one for one in view.resources if found is not None and one.name == found.resource]
    if found is None or not mine:
        return ""
    one, verb = mine[0], "saturates"
    if one.target != 1:
        verb = f"reaches its {percent(one.target)} target"
    at = f"{labels.of(one.name)}: utilization {percent(one.utilization_at_limit, _DIGITS)}"
    if one.saturates_at is None:
        return f"{at}, never {verb}" if not found.undecided else at
    if found.from_start:
        return at
    return f"{at}, {verb} at {floor(one.saturates_at * (1 + _ROUNDINGS)):,}"


_ROUNDINGS = 1e-12
_LEAST_SHARE = 1e-3
"""Of the largest part of a latency; smaller parts are not named."""


def _violated(solution: Solution, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield what fails already for the smallest population, and what a latency is made of there."""
    graph = solution.graph
    name, at = solution.limited_by or "", graph.low
    users = counted(at, str(graph.population))
    named = [item.criterion for item in solution.requirements if item.criterion.name == name]
    if name == QUALITY:
        yield "Violated", f"{_behind_quality(solution, labels)} with {users}"
        return
    for criterion in named[:1]:
        if criterion.promised_with is not None:
            yield "Violated", f"{labels.of(name)}: not met with {users}"
            return
        share = in_percent(criterion)
        amount = graph.at(at).number(criterion.value)
        value = beyond_limit(
            graph, criterion.value, criterion.limit, at, criterion.dimension,
            share=share, digits=_DIGITS,
        )  # fmt: skip
        value = marked_value(value, amount, known_at(graph, criterion, at))
        limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
        side = "" if criterion.at_most and not criterion.strict else _SIDES[criterion.at_most]
        yield "Violated", f"{labels.measure(name)}: {value} with {users}, limit {side}{limit}"
        yield "", _made_of(solution, criterion, labels)
        return
    found = graph.resources.get(resource_in(name))
    if found is None:
        yield "Violated", labels.of(name)
        return
    told = beyond_limit(graph, found.load, found.target, at, share=True, digits=_DIGITS)
    target = graph.number(found.target)
    of = f", target {percent(target)}" if target != 1 else ""
    yield "Violated", f"{labels.of(found.name)}: utilization {told} with {users}{of}"


_SIDES = {True: "below ", False: "at least "}


def _made_of(solution: Solution, criterion: Criterion, labels: Labels) -> str:
    """Return the largest parts of the mean latency behind a requirement; empty for others."""
    graph = solution.graph
    found = [graph.streams[one] for one in _timed(criterion.name) if one in graph.streams]
    if len(found) != 1:
        return ""
    point = graph.at(graph.low)
    parts: dict[str, float] = {}
    for part in found[0].latency:
        parts[part.stage] = parts.get(part.stage, 0.0) + point.number(part.value)
    ordered = sorted(parts.items(), key=lambda pair: -pair[1])
    told = [
        f"{labels.stage(stage)} {quantity(value, TIME, _DIGITS)}"
        for stage, value in ordered[:_MOST_NAMED]
        if value > _LEAST_SHARE * ordered[0][1]
    ]
    return f"mean latency there: {', '.join(told)}" if told else ""


def _timed(requirement: str) -> list[str]:
    """Return the streams of which a requirement limits the latency, its mean or a percentile."""
    named = (word.rpartition(".") for word in re.findall(r"[\w.]+", requirement))
    return [
        stream
        for stream, _, measure in named
        if measure == "latency" or percentile_level(measure) is not None
    ]


def _behind_quality(solution: Solution, labels: Labels) -> str:
    told = behind_quality(solution, solution.at, labels)
    if not told:
        return phrase("limit.needs")
    return phrase("limit.together" if len(told) > 1 else "limit.alone", told=joined_words(told))


def _further(criterion: Criterion, solution: Solution, at: int) -> str:
    """Return the value of a requirement for more users, distinguishable from its limit."""
    share, graph = in_percent(criterion), solution.graph
    told = beyond_limit(
        graph, criterion.value, criterion.limit, at, criterion.dimension,
        share=share, digits=_DIGITS,
    )  # fmt: skip
    limit = quantity(graph.number(criterion.limit), criterion.dimension, _DIGITS, share=share)
    known = known_at(graph, criterion, at)
    side = "over" if criterion.at_most else "under"
    value = graph.at(at).number(criterion.value)
    return f"{marked_value(_or_just(told, limit, side), value, known)} at {at:,}"


def _or_just(told: str, limit: str, side: str) -> str:
    """Return a value beyond a limit; `just over` it where it takes many digits to tell them."""
    digits = sum(character.isdigit() for character in told.partition("×")[0].lstrip("0.,"))
    return f"just {side} {limit}" if digits > _DIGITS else told


def _next(view: SolveView, solution: Solution, labels: Labels) -> str:
    """Return what would limit next: its value now, and up to which population it is met."""
    found = view.next_limit
    if found is None:
        return ""
    name = f"`users {view.population.name}`"
    if found.requirement is None:
        return f"none up to {found.met_up_to:,}, the end of {name}"
    mode = phrase("in_mode", mode=found.mode) if found.mode else ""
    called = labels.of(found.requirement)
    if found.met_up_to is None:
        return f"{called}{mode}{phrase('next.never')}"
    now = "" if found.mode else _now(view, solution, found.requirement)
    met = marked(f"{found.met_up_to:,} {noun(view.population.name)}", found.known)
    return f"{called}{mode}: {now}met up to {met}"


def _now(view: SolveView, solution: Solution, name: str) -> str:
    """Return the value of a requirement or a utilization at the capacity, beside its limit."""
    for item in solution.requirements:
        if item.criterion.name == name and item.criterion.promised_with is None:
            return f"{value_and_limit(item.criterion, solution, solution.at)} now, "
    for one in view.resources:
        if one.name == resource_in(name):
            at = beside_limit(one.utilization_at_limit, one.target, share=True)
            target = f" (target {percent(one.target)})" if one.target != 1 else ""
            return f"utilization {at} now{target}, "
    return ""


def _other_items(view: SolveView, solution: Solution) -> list[CriterionSolution]:
    """Return the requirements that other facts do not show, the nearest to its limit first."""
    shown = {view.limited_by, None if view.next_limit is None else view.next_limit.requirement}
    items = [
        item
        for item in solution.requirements
        if item.criterion.name not in shown and item.criterion.promised_with is None
    ]
    if view.limited_by == QUALITY:
        behind = criteria_behind_quality(solution, solution.at)
        items = [one for one in items if one.criterion not in behind]
    items.sort(key=lambda item: (item.met_up_to is None, item.met_up_to or 0))
    return items


def _others_label(view: SolveView, solution: Solution) -> str:
    names = [item.criterion.name for item in _other_items(view, solution)]
    return "Latency" if all(map(_timed, names)) else "Other limits"


def _others(view: SolveView, solution: Solution, labels: Labels) -> str:
    items = _other_items(view, solution)
    of = " latency" if _others_label(view, solution) == "Latency" else ""
    told = []
    for item in items:
        called = labels.measure(item.criterion.name).removesuffix(of)
        told.append(f"{called} {value_and_limit(item.criterion, solution, solution.at)}")
    more = len(told) - _MOST_NAMED
    return ", ".join([*told[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _measure_next(view: SolveView) -> str:
    """Return which uncertain input moves the capacity most, and what measuring it would give."""
    if view.odds is None or not view.odds.shares:
        return ""
    one = view.odds.shares[0]
    told = f"`{one.number}` causes {percent(one.first_order, 2)} of the variance"
    least = view.odds.interval.least
    if one.promise_if_halved is None or one.promise_if_halved == least:
        return told
    halved = rounded_down(one.promise_if_halved)
    return (
        f"{told}; half its spread would raise the lower end to {halved} "
        f"{noun(view.population.name)}"
    )


def _counted_as_known(view: SolveView) -> Iterator[str]:
    for one in view.counted_as_known:
        yield (
            f"{joined_words(one.numbers)} treated as exact: too few rows in `{one.table}` to "
            "estimate their variance"
        )


# -- changes ----------------------------------------------------------------------------------


def _with_users(one: AdviceView, view: SolveView) -> str:
    """Return a change with its capacity and its cost: `web: 2 -> 4 servers (≤ 14,925)`."""
    cost = _cost(one, view)
    return f"{one.words} ({users_with(one)}{f', {cost}' if cost else ''})"


def _in_one_line(view: SolveView) -> str:
    return "; ".join(_with_users(one, view) for one in view.helps_most)


def _cost(one: AdviceView, view: SolveView) -> str:
    """Return what a change costs; that it has no price is said where other things have one."""
    cost = cost_told(one)
    return cost if view.cost or cost != phrase("price.none") else ""


def _changes(view: SolveView, solution: Solution, width: int) -> list[str]:
    """Return changes as rows: what changes, the capacity with it, its cost, how to set it."""
    if not view.helps_most:
        return []
    label = "To fix" if solution.capacity is None else _HELPS
    rows = [
        (one.words, _users(one, view), _cost(one, view), _pasted(one)) for one in view.helps_most
    ]
    change, users, cost, pasted = (max(text_width(row[i]) for row in rows) for i in range(4))
    room = max(20, width - _COLUMN)
    end = room - pasted - 2 - (cost + 2 if cost else 0)  # of the capacities, if all is in one line
    is_one_line = all(text_width(row[0]) + 1 + text_width(row[1]) <= end for row in rows)
    end = min(end, change + 2 + users) if is_one_line else change + 2 + users
    lines = []
    stated = view.capacity
    if view.odds is not None and stated is not None:
        lines.append(f"with nominal inputs, {counted(stated, view.population.name)} now:")
    for words, many, costs, setting in rows:
        row = (
            words + _right(many, end - text_width(words)) + (f"  {_left(costs, cost)}" * bool(cost))
        )
        if is_one_line:
            lines.append(f"{row}  {setting}".rstrip())
            continue
        fits = text_width(row.rstrip()) <= room
        lines += [row.rstrip()] if fits else wrapped(f"{words}  {many}  {costs}", room, "")
        lines += [f"    {setting}"] if setting else []
    heads = [f"  {label:12} ", *[" " * _COLUMN] * (len(lines) - 1)]
    return [head + line for head, line in zip(heads, lines, strict=True)]


def _users(one: AdviceView, view: SolveView) -> str:
    """Return the capacity with a change; its mark where it is not that of the capacity itself."""
    users = users_with(one)
    return users.removeprefix(MARKS[one.known.kind]) if one.known.kind is view.known.kind else users


def _pasted(one: AdviceView) -> str:
    return f"--set {quote(one.setting)}" if one.setting else ""


def _left(text: str, width: int) -> str:
    return text + " " * (width - text_width(text))


def _right(text: str, width: int) -> str:
    return " " * (width - text_width(text)) + text


# -- tables -----------------------------------------------------------------------------------


def _measures(solution: Solution, labels: Labels, width: int) -> list[str]:
    """Return the measures of the spec's own, at most eight of them."""
    table = measure_table(solution, labels)
    rows = table.rows[:_MOST_ROWS]
    if not rows:
        return []
    lines = Table(("", ""), rows, table.right).as_text("", width=max(20, width - _COLUMN))
    shown = lines.splitlines()[1:]
    more = len(table.rows) - len(rows)
    if more > 0:
        shown.append(f"{more} more: --all")
    heads = [f"  {_MEASURES:12} ", *[" " * _COLUMN] * (len(shown) - 1)]
    return [head + line for head, line in zip(heads, shown, strict=True)]


def _resources(
    view: SolveView, solution: Solution, labels: Labels, width: int, *, color: bool
) -> str:
    """Return the resources that saturate first, and those that limit, in their colors."""
    shares = _MOST_NAMED if width >= _WIDE else 1
    table, resources = resource_table(view, solution, labels, bars=True, shares=shares)
    if not resources:
        return ""
    mattering = _mattering(view)
    shown = list(range(min(_MOST_ROWS, len(resources))))
    for place, one in enumerate(resources[_MOST_ROWS:], _MOST_ROWS):
        if one.name in mattering and shown[-1] < place:
            shown = [*shown[:-1], place]
    rows = tuple(table.rows[place] for place in shown)
    least_first = [_BARS, len(table.headings) - 1] if width < _NARROW else [_BARS]
    fitting = replace(table, rows=rows)
    text = fitting.with_columns(fitting.fitting(width, least_first)).as_lines(width=width)
    giving = giving_way(solution)
    lines = text[0]
    for place, row in zip(shown, text[1:], strict=True):
        tone = _tone_of(resources[place], mattering, giving)
        lines += [toned(line, tone, color=color) for line in row]
    rest = [one for place, one in enumerate(resources) if place not in shown]
    if rest:
        more = f"  {len(rest)} more below {_above(rest)} utilization"
        lines.append(toned(more, Tone.ASIDE, color=color))
    return "\n".join(lines)


def _mattering(view: SolveView) -> frozenset[str]:
    found = {resource_in(view.limited_by)} if view.limited_by else set()
    return frozenset(found | ({view.bottleneck.resource} if view.bottleneck else set()))


def _tone_of(
    resource: ResourceView, mattering: frozenset[str], giving: frozenset[str]
) -> Tone | None:
    if resource.name in giving:
        return Tone.GIVES_WAY
    if resource.utilization_at_limit > resource.target:
        return Tone.MISS
    return Tone.LIMIT if resource.name in mattering else None


def _above(resources: Sequence[ResourceView]) -> str:
    """Return a whole share that all loads lie below."""
    return f"{floor(max(one.utilization_at_limit for one in resources) * 100) + 1} %"


def _notes(view: SolveView, width: int) -> list[str]:
    """Return what checks the result and where there is more, in one line where that fits."""
    checked = "" if view.known.is_exact else f"Check by simulation: `qps simulate {view.file}`."
    lines = wrapped(f"{checked} {_MORE}", width)
    return lines if len(lines) == 1 else [*wrapped(checked, width), *wrapped(_MORE, width)]


_MORE = "Full detail: --all"
