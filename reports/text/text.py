"""Answers as text for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.render import plain, printable
from qps.compiler.ir.measure_names import is_utilization, resource_in
from qps.compiler.lower.load_graph import Criterion
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    INFORMATION,
    MONEY,
    TIME,
)
from qps.reports.text.answers import RequirementView, ResourceView, SolveView
from qps.reports.text.closed_text import closed_lines
from qps.reports.text.facts import COLUMNS, facts_text, title_lines
from qps.reports.text.giving_way import GIVES_WAY, giving_way
from qps.reports.text.headroom_text import headroom_line, more_users_lines, next_limit_line
from qps.reports.text.how_known import (
    known_lines,
    known_list,
    marked,
    marked_value,
    users_with,
)
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.measures import measure_table
from qps.reports.text.nouns import noun, noun_of_one
from qps.reports.text.odds_text import odds_lines, shares_table
from qps.reports.text.phrases import phrase
from qps.reports.text.ports import with_ports_together
from qps.reports.text.quantities import (
    in_percent,
    joined_words,
    number,
    percent,
    population_text,
    quantity,
    undecided_point,
    whole_population,
)
from qps.reports.text.reasons import answer_told
from qps.reports.text.table import Table, escaped, joined
from qps.reports.text.view import circumstances
from qps.reports.text.wrapping import wrapped
from qps.solver.answers.answering import QUALITY
from qps.solver.answers.judgement import StaysFull
from qps.solver.answers.solution import Bottleneck, Solution
from qps.solver.search.method import Method

_DIGITS = 3
_SHOWN_SHARES = 4
_SHOWN_SENSITIVITIES = 6
_SMALL_SHARE = 0.005


def solve_text(
    view: SolveView,
    solution: Solution,
    title: str,
    warnings: Sequence[Diagnostic] = (),
    *,
    markdown: bool = False,
    width: int | None = None,
    labels: Labels = PLAIN,
) -> str:
    """Return all that is known of a capacity: facts, tables, notes, and `warnings`.

    Lines fit a `width`, 80 unless one is given. With `labels`, tables have identifiers behind.
    """
    columns = COLUMNS if width is None else width

    def line_of(text: str) -> str:
        if markdown:
            return escaped(text)
        is_item = text.startswith("- ")
        return "\n".join(wrapped(text, columns, others="    " if is_item else None))

    def table_of(table: Table) -> str:
        return table.as_markdown() if markdown else table.as_text(width=columns)

    def facts_of(facts: Sequence[tuple[str, str]]) -> str:
        if not markdown:
            return facts_text(facts, columns)
        return "".join(f"- {label}: {escaped(text)}\n" for label, text in facts if text)

    place = ", ".join([view.file, *circumstances(view)])
    answered = answer_told(view, solution, labels)
    facts = list(_all_facts(view, solution, labels))
    if markdown:
        parts = [
            f"### {printable(title)} ({place})",
            f"**{escaped(answered)}**",
            facts_of(facts),
        ]
    else:
        parts = [
            "\n".join(title_lines(title, place, columns)),
            facts_of([("Capacity", answered), *facts]),
        ]
    criteria = [item.criterion for item in solution.requirements]
    tables = [
        _requirements(view, criteria, labels),
        measure_table(solution, labels, named=True),
        resource_table(view, solution, labels, named=True)[0],
        carried(view, solution, labels, named=True),
        _advice(view, labels),
        _sensitivities(view, labels),
        shares_table(view, labels),
    ]
    parts += [table_of(table) for table in tables if table.rows]
    notes = [
        *map(labels.told, (*odds_lines(view), *known_list(solution))),
        labels.told(_references(view, solution)),
    ]
    parts.append(("\n\n" if markdown else "\n").join(line_of(line) for line in notes if line))
    warned = plain((*warnings, *solution.warnings)).splitlines()
    parts += [line_of(line) for line in warned]
    return joined(parts)


def _all_facts(view: SolveView, solution: Solution, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the facts of `--all` under their labels."""
    told = labels.told
    yield "Next limit", next_limit_line(view, labels)
    yield "More users", " ".join(more_users_lines(view, solution, labels))
    yield "Headroom", told(headroom_line(view))
    yield "Bottleneck", told(_bottleneck(view))
    for label, lines in (
        ("Elastic", elastic_lines(view, solution, labels)),
        ("Closed", closed_lines(view)),
        ("Cost", cost_lines(view, solution)),
    ):
        yield from ((label, told(line)) for line in lines)
    yield "Modes", mode_facts(view, labels)


def title_of(model: ir.Model) -> str:
    """Return the first line of a model's doc string, else its name."""
    return model.doc.splitlines()[0].rstrip(".") if model.doc else model.name


def _behind(name: str, labels: Labels) -> tuple[str, ...]:
    """Return the identifier that stands behind a row of words: no cell where all is plain."""
    return () if labels.is_plain else (name,)


def _requirements(view: SolveView, criteria: Sequence[Criterion], labels: Labels) -> Table:
    rows = [
        _requirement(item, criterion, view, labels)
        for item, criterion in zip(view.requirements, criteria, strict=True)
    ]
    if view.quality.at_limit is not None:
        rows.append(
            (
                f"{labels.of(QUALITY)} ({view.quality.metric})",
                marked_value(
                    number(view.quality.at_limit), view.quality.at_limit, view.quality.known
                ),
                "≤ 1",
                _up_to(view.quality.met_up_to, view, view.quality.met_up_to_known),
                *_behind(QUALITY, labels),
            )
        )
    headings = ("Requirement", f"At {view.at:,}", "Limit", "Met up to", *_behind(_NAME, labels))
    return Table(headings, tuple(rows), frozenset([1, 2, 3]), long=frozenset([0, 4]))


_NAME = "Name"


def _sign(operator: str) -> str:
    return {"<=": "≤", ">=": "≥"}.get(operator, operator)


def _requirement(
    item: RequirementView, criterion: Criterion, view: SolveView, labels: Labels
) -> tuple[str, ...]:
    share, dimension = in_percent(criterion), criterion.dimension
    return (
        labels.measure(item.measure),
        marked_value(
            quantity(item.value_at_limit, dimension, share=share),
            item.value_at_limit,
            item.known,
        ),
        f"{_sign(item.operator)} {quantity(item.limit, dimension, share=share)}",
        _up_to(item.met_up_to, view, item.met_up_to_known),
        *_behind(item.measure, labels),
    )


def _up_to(met: int | None, view: SolveView, known: Certainty) -> str:
    if met is None:
        return "never"
    return f"{met:,}+" if met == view.population.to else marked(f"{met:,}", known)


_BAR = 8
"""Signs of a bar that shows a utilization of 100 %."""
_NONE = "–"


def resource_table(
    view: SolveView,
    solution: Solution,
    labels: Labels = PLAIN,
    *,
    named: bool = False,
    bars: bool = False,
    shares: int = _SHOWN_SHARES,
) -> tuple[Table, list[ResourceView]]:
    """Return the resources, the first to saturate first, and of each row the resource.

    `named` puts identifiers behind, `bars` a bar before each utilization; the largest `shares` of
    what loads a resource are shown.
    """
    ordered = sorted(
        view.resources,
        key=lambda r: (
            r.saturates_at is None,
            r.saturates_at or 0.0,
            -r.utilization_at_limit / r.target,
        ),
    )
    is_planned = any(resource.target != 1 for resource in ordered)
    limits = _utilization_limits(solution)
    has_limits = is_planned or bool(limits)
    told = with_ports_together(ordered, attrgetter("name"), view, solution)
    giving = giving_way(solution)
    rows = []
    for resource, name in told:
        limit = min(resource.target, limits.get(resource.name, 1.0))
        rows.append(
            (
                _named(resource.name, name, labels) + " (elastic)" * (resource.name in giving),
                *([_bar(resource.utilization_at_limit)] * bars),
                percent(resource.utilization_at_limit, _DIGITS),
                *([percent(limit) if is_planned or limit < 1 else _NONE] * has_limits),
                _saturation(resource),
                _shares(resource, labels, shares),
                *(_behind(resource.name, labels) if named else ()),
            )
        )
    at = f"{view.at:,}"
    headings = (
        "Utilization of",
        *([""] * bars),
        f"At {at}",
        *(["Target" if is_planned else "Limit"] * has_limits),
        "Reached at" if is_planned else "Saturates",
        "Main demand",
        *(_behind(_NAME, labels) if named else ()),
    )
    first = 2 if bars else 1
    right = frozenset(range(first, first + 2 + has_limits))
    demand = first + 2 + has_limits
    long = frozenset([0, demand, demand + 1] if named else [0, demand])
    table = Table(headings, tuple(rows), right, firm=frozenset([1]), long=long)
    return table, [resource for resource, _ in told]


def _utilization_limits(solution: Solution) -> dict[str, float]:
    """Return the lowest utilization that requirements allow each resource."""
    found: dict[str, float] = {}
    for item in solution.requirements:
        resource = resource_in(item.criterion.name)
        if is_utilization(item.criterion.name) and item.criterion.at_most:
            limit = solution.graph.number(item.criterion.limit)
            found[resource] = min(limit, found.get(resource, limit))
    return found


def _bar(load: float) -> str:
    """Return a bar of a utilization.

    >>> _bar(0.75), _bar(2.0)
    ('██████░░', '████████')
    """
    full = round(_BAR * min(1.0, max(0.0, load))) if load == load else 0  # noqa: PLR0124 - nan
    return "█" * full + "░" * (_BAR - full)


def _named(resource: str, name: str, labels: Labels) -> str:
    """Return what a resource is called, with what its name says of other ports."""
    return f"{labels.of(resource)}{name.removeprefix(resource)}"


_MOST_CARRIED = 6


def carried(
    view: SolveView, solution: Solution, labels: Labels = PLAIN, *, named: bool = False
) -> Table:
    """Return what links and network cards carry, as rates and as volumes."""
    found = with_ports_together(view.carries, attrgetter("resource"), view, solution)
    shown = found[:_MOST_CARRIED]
    several = any(item.count != 1 for item, _ in shown)
    rows = tuple(
        (
            _named(item.resource, name, labels),
            quantity(item.bit_per_s, DATA_RATE, 3),
            quantity(item.byte_per_hour * 8, INFORMATION, 3),
            quantity(item.byte_per_month * 8, INFORMATION, 3),
            *([f"each of {number(item.count)}" if item.count != 1 else ""] * several),
            *(_behind(item.resource, labels) if named else ()),
        )
        for item, name in shown
    )
    headings = (
        *("Traffic", f"At {view.at:,}", "Per hour", "Per month"),
        *([""] * several),
        *(_behind(_NAME, labels) if named else ()),
    )
    return Table(headings, rows, frozenset([1, 2, 3]), long=frozenset([0, len(headings) - 1]))


def _saturation(resource: ResourceView) -> str:
    if resource.saturates_not_below is not None:
        return undecided_point(resource.saturates_at, resource.saturates_not_below)
    if resource.saturates_at is None:
        return "never"
    if resource.method == Method.AT_START.value:
        return "at start"
    return whole_population(resource.saturates_at)


def _shares(resource: ResourceView, labels: Labels = PLAIN, most: int = _SHOWN_SHARES) -> str:
    large = [(by, share) for by, share in resource.shares.items() if share > _SMALL_SHARE]
    return ", ".join(f"{labels.of(by)} {percent(share, 2)}" for by, share in large[:most])


def _bottleneck(view: SolveView) -> str:
    found = view.bottleneck
    if found is None:
        return ""
    if found.saturates_at is None:
        most = heaviest_in_words(view).lower()
        none = "none is known to saturate" if found.undecided else "none saturates"
        if view.closed and not found.undecided:
            none = "none is overloaded, as users wait for their response"
        line = f"{none}; {most}: {found.resource}."
    else:
        line = f"{_saturates_first(view, found.saturates_at)}{stays_full_text(view)}."
    line += undecided_saturations(view)
    if found.changes:
        line += f" {changes_in_words(view, found)}."
    return line


def changes_in_words(view: SolveView, found: Bottleneck) -> str:
    """Return which resource has the highest utilization from which population on."""
    name, heaviest = view.population.name, heaviest_in_words(view)
    first = found.changes[0]
    if first.to is None and first.at < view.population.from_ + 1:
        return f"{heaviest} at first: {found.initially}; unknown for larger populations"
    path = [f"{found.initially} at first"]
    path += [f"{c.to or 'unknown'} from {name} = {whole_population(c.at)}" for c in found.changes]
    hidden = len(path) - _MOST_CHANGES
    if hidden > 1:  # JSON has all of them
        path = [*path[: _MOST_CHANGES - 1], f"{hidden} more changes", path[-1]]
    return f"{heaviest}: {', '.join(path)}"


_MOST_CHANGES = 4
"""Resources of the highest utilization that are named one after the other."""


def undecided_saturations(view: SolveView) -> str:
    """Return of which resources it cannot be told whether they saturate before the bottleneck."""
    found = view.bottleneck
    if found is None or not found.undecided:
        return ""
    name = view.population.name
    told = (
        phrase("undecided.one", resource=r.name, name=name, least=population_text(least))
        for r in view.resources
        if r.name in found.undecided and (least := r.saturates_not_below) is not None
    )
    does = phrase("undecided.ever" if found.saturates_at is None else "undecided.before")
    return phrase("undecided", told=" or ".join(told), does=does)


def _saturates_first(view: SolveView, at: float) -> str:
    """Return which resource saturates first, and where; that is not known before the range."""
    found = view.bottleneck
    assert found is not None
    planned = any(r.name == found.resource and r.target != 1 for r in view.resources)
    where = f"{view.population.name} = {whole_population(at)}"
    if found.from_start:
        full = full_from_start(found, is_planned=planned)
        if view.population.from_ == view.population.to:
            return f"{found.resource} is {full} at {where}"
        return f"{found.resource} is {full} at {where}, the start of the range"
    return f"{found.resource} {'reaches its target' if planned else 'saturates'} first, at {where}"


def full_from_start(found: Bottleneck, *, is_planned: bool) -> str:
    """Return what a resource is that is full where the range starts."""
    at_target = "at_its_target" if found.stays_full else "beyond_its_target"
    return phrase(at_target if is_planned else "saturated")


def stays_full_text(view: SolveView) -> str:
    """Return that the bottleneck is full before the answer and no more: that is not beyond it."""
    found, largest = view.bottleneck, view.capacity
    if found is None or found.stays_full is None:
        return ""
    key = "full.exactly" if found.stays_full == StaysFull.EXACTLY else "full.at_most"
    return phrase(key, name=view.population.name, largest=f"{largest:,}")


def heaviest_in_words(view: SolveView) -> str:
    """Return what is meant by the heaviest load: targets may lie below 100 %."""
    is_planned = any(resource.target != 1 for resource in view.resources)
    return "Nearest to its target" if is_planned else "Highest utilization"


def mode_facts(view: SolveView, labels: Labels = PLAIN) -> str:
    """Return the capacity of each mode, and which one counts; empty where there is none."""
    if not view.modes:
        return ""
    told = []
    for mode in view.modes:
        largest = "none"
        if mode.capacity is not None:
            largest = marked(f"{mode.capacity:,}", mode.known)
        why = f" ({labels.of(mode.limited_by)})" if mode.limited_by else ""
        told.append(f"{mode.mode} {largest}{why}")
    return f"{', '.join(told)}; {view.mode} is the worst and sets the capacity"


def cost_facts(view: SolveView, solution: Solution) -> list[str]:
    """Return what the configuration costs at the capacity, in all and for each user."""
    each = noun_of_one(view.population.name)
    lines = []
    for cost in solution.costs:
        told = partial(quantity, dimension=MONEY / TIME if cost.is_running else MONEY)
        lines.append(f"{told(cost.total)}, {told(cost.per_user)} per {each}")
    if lines and solution.costs[-1].unpriced:
        lines.append(f"no price for {', '.join(solution.costs[-1].unpriced)}")
    return lines


def cost_lines(view: SolveView, solution: Solution) -> list[str]:
    """Return the same with the cost of each place."""
    lines = []
    each = noun_of_one(view.population.name)
    for cost in solution.costs:
        told = partial(quantity, dimension=MONEY / TIME if cost.is_running else MONEY)
        places = ", ".join(f"{place} {told(value)}" for place, value in cost.places.items())
        line = f"{told(cost.total)} at {view.at:,}, {told(cost.per_user)} per {each} ({places})"
        if cost.unpriced and cost is solution.costs[-1]:
            line += f"; no price for {', '.join(cost.unpriced)}"
        lines.append(f"{line}.")
    return lines


def remarks(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> tuple[str, ...]:
    """Return what is to be said of modes (perhaps nothing), elastic parameters and costs."""
    known = " ".join(known_lines(solution))
    elastic = [f"Elastic: {line}" for line in elastic_lines(view, solution, labels)]
    costs = [f"Cost: {line}" for line in cost_lines(view, solution)]
    modes = mode_facts(view, labels)
    told = (known, *closed_lines(view), *elastic, *costs)
    return (f"Modes: {modes}." if modes else "", *map(labels.told, told))


def _advice(view: SolveView, labels: Labels) -> Table:
    """Return changes that raise the capacity, in three ways, the best of each first."""
    rows = []
    last = ""
    for item in view.advice:
        change = item.change if labels.is_plain else item.words
        if item.to is not None and item.headroom is not None:
            change += f" (moves load to {labels.of(item.to)}, {percent(item.headroom)} left)"
        way = item.way if item.way != last else ""
        rows.append((way, change, users_with(item), *_behind(item.setting or "", labels)))
        last = item.way
    headings = ("Scale up", "", noun(view.population.name).capitalize(), *_behind("--set", labels))
    return Table(headings, tuple(rows), frozenset([2]), frozenset([1]), long=frozenset([0, 1, 3]))


def elastic_facts(view: SolveView, solution: Solution) -> list[str]:
    """Return which resources elastic traffic saturates, and what is left to it there."""
    lines = zip(view.elastic, elastic_lines(view, solution), strict=True)
    told = [line for item, line in lines if item.lowered]
    full = sorted(giving_way(solution))
    if full:
        told.insert(0, f"{joined_words(full)} {'is' if len(full) == 1 else 'are'} {GIVES_WAY}:")
    return told


def elastic_lines(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> list[str]:
    """Return a sentence for each elastic parameter: its value, and from where on it yields."""
    lines = []
    name = view.population.name
    for item, solved in zip(view.elastic, solution.elastic, strict=True):
        told = partial(quantity, dimension=solved.dimension)
        rank = "" if item.priority is None else f" (priority {item.priority})"
        at_limit = marked(told(item.value_at_limit), item.known)
        line = f"{labels.of(item.parameter)}{rank} is {at_limit} at {view.at:,}"
        if item.yields is None:
            lines.append(f"{line}, its maximum throughout.")
            continue
        if item.exhausted is not None and item.exhausted.method is Method.AT_START:
            lines.append(f"{line}, its minimum throughout: {item.yields.resource} is saturated.")
            continue
        if item.yields.method is Method.AT_START:
            line += f", limited by {item.yields.resource} throughout"
        else:
            line += (
                f": {told(item.most)} up to {name} = {whole_population(item.yields.at)}, then "
                f"limited by {item.yields.resource}"
            )
        for change in item.changes:
            to = change.to or "an unknown resource"
            line += f", from {name} = {whole_population(change.at)} by {to}"
        if item.exhausted is not None:
            line += (
                f", at its minimum of {told(item.least)} from "
                f"{name} = {whole_population(item.exhausted.at)} ({item.exhausted.resource})"
            )
        lines.append(f"{line}.")
    return lines


def _sensitivities(view: SolveView, labels: Labels) -> Table:
    """Return by how much 1 % more of each input changes the capacity, the largest effect first."""
    rows = tuple(
        (
            labels.of(item.parameter),
            f"{item.elasticity:+.2f} %",
            *_behind(item.parameter, labels),
        )
        for item in view.sensitivity[:_SHOWN_SENSITIVITIES]
    )
    moved = "Changes capacity by"
    if view.limited_by is None and view.sensitivity_of is not None:
        resource = labels.of(resource_in(view.sensitivity_of))
        moved = f"Changes the saturation point of {resource} by"
    headings = ("Sensitivity: +1 % of", moved, *_behind(_NAME, labels))
    return Table(headings, rows, frozenset([1]), long=frozenset([0, 2]))


def _references(view: SolveView, solution: Solution) -> str:
    """Return which of the shown numbers are ratings of machines that costs were measured on."""
    known = solution.graph.assumptions
    rated = {one.dimension for one in known.values() if one.is_capacity}
    shown = [known[item.parameter] for item in view.sensitivity[:_SHOWN_SENSITIVITIES]]
    names = [
        one.name
        for one in shown
        if not one.is_capacity
        and one.dimension in rated
        and one.name.split(".")[1:] == [one.dimension.single_base]
    ]
    if not names:
        return ""
    verb = "are ratings of machines" if names[1:] else "is the rating of the machine"
    return (
        f"{joined_words(names)} {verb} that service demands were measured on: a higher rating "
        "scales the same demands up. A machine that is also in use has both numbers."
    )
