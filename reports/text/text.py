"""Answers as text for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from operator import attrgetter

from qps.compiler import ir
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.diagnostics.render import plain, printable
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
from qps.reports.text.giving_way import giving_way
from qps.reports.text.headroom_text import headroom_lines
from qps.reports.text.how_known import (
    known_lines,
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
    """Return the answer, the requirements, the resources, what would move it, and `warnings`.

    Lines are as long as they are, unless a `width` is given to fit them in. With `labels`, things
    are called as people call them, and tables have identifiers behind.
    """

    def line_of(text: str, indent: str = "  ") -> str:
        if markdown or width is None:
            return text if markdown else f"{indent}{text}"
        return "\n".join(wrapped(text, width, indent))

    def table_of(table: Table) -> str:
        return table.as_markdown() if markdown else table.as_text(width=width)

    head = f"{printable(title)} ({', '.join([view.file, *circumstances(view)])})"
    answered = answer_told(view, solution, labels)
    answer = f"**{answered}**" if markdown else line_of(answered)
    beyond = [*map(labels.told, odds_lines(view)), *headroom_lines(view, solution, labels)]
    if markdown:
        answer = "\n".join([answer, "", *(f"- {escaped(line)}" for line in beyond)])
    else:
        answer = "\n".join([answer, *map(line_of, beyond)])
    parts = [f"### {head}" if markdown else line_of(head, ""), answer]
    criteria = [item.criterion for item in solution.requirements]
    tables = [
        _requirements(view, criteria, labels),
        measure_table(solution, labels, named=True),
        resource_table(view, solution, labels, named=True)[0],
        carried(view, solution, labels, named=True),
        shares_table(view, labels),
    ]
    parts += [table_of(table) for table in tables if table.rows]
    told = [
        modes_line(view, labels),
        labels.told(_bottleneck(view)),
        *remarks(view, solution, labels)[1:],
        _sensitivity(view) if labels.is_plain else "",
        labels.told(_references(view, solution)),
    ]
    parts += [line_of(line) for line in told if line]
    tables = [] if labels.is_plain else [_sensitivities(view, labels)]
    tables.append(_advice(view, labels))
    parts += [table_of(table) for table in tables if table.rows]
    warned = plain((*warnings, *solution.warnings)).splitlines()
    parts += [escaped(line) if markdown else line_of(line) for line in warned]
    return joined(parts)


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
                marked(number(view.quality.at_limit), view.quality.known),
                "<= 1",
                _up_to(view.quality.met_up_to, view, view.quality.met_up_to_known),
                *_behind(QUALITY, labels),
            )
        )
    headings = ("requirement", f"at {view.at:,}", "limit", "met up to", *_behind(_NAME, labels))
    return Table(headings, tuple(rows), frozenset([1, 3]))


_NAME = "name"


def _requirement(
    item: RequirementView, criterion: Criterion, view: SolveView, labels: Labels
) -> tuple[str, ...]:
    share, dimension = in_percent(criterion), criterion.dimension
    return (
        labels.of(item.measure),
        marked_value(
            quantity(item.value_at_limit, dimension, share=share),
            item.value_at_limit,
            item.known,
        ),
        f"{item.operator} {quantity(item.limit, dimension, share=share)}",
        _up_to(item.met_up_to, view, item.met_up_to_known),
        *_behind(item.measure, labels),
    )


def _up_to(met: int | None, view: SolveView, known: Certainty) -> str:
    if met is None:
        return "never"
    return "all" if met == view.population.to else marked(f"{met:,}", known)


def resource_table(
    view: SolveView, solution: Solution, labels: Labels = PLAIN, *, named: bool = False
) -> tuple[Table, list[ResourceView]]:
    """Return what is full first as a table, and of each of its rows the resource.

    With labels, up to how many whole users it is not full, and where `named`, its identifier.
    """
    ordered = sorted(
        view.resources,
        key=lambda r: (r.saturates_at is None, r.saturates_at or 0.0, -r.load_at_limit / r.target),
    )
    is_planned = any(resource.target != 1 for resource in ordered)
    told = with_ports_together(ordered, attrgetter("name"), view, solution)
    giving = giving_way(solution)
    rows = tuple(
        (
            _named(resource.name, name, labels) + " (gives way)" * (resource.name in giving),
            percent(resource.load_at_limit),
            *([percent(resource.target)] * is_planned),
            _saturation(resource),
            _shares(resource, labels),
            *(_behind(resource.name, labels) if named else ()),
        )
        for resource, name in told
    )
    reached = f"{'reached' if is_planned else 'saturates'} at {view.population.name} ="
    headings = (
        "resource",
        f"load at {view.at:,}",
        *(["target"] * is_planned),
        reached if labels.is_plain else "reached beyond" if is_planned else "full beyond",
        "mostly",
        *(_behind(_NAME, labels) if named else ()),
    )
    right = frozenset([1, 2, 3] if is_planned else [1, 2])
    table = Table(headings, rows, right, firm=frozenset([0]))
    return table, [resource for resource, _ in told]


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
        *("carries", f"at {view.at:,}", "per hour", "per month"),
        *([""] * several),
        *(_behind(_NAME, labels) if named else ()),
    )
    return Table(headings, rows, frozenset([1, 2, 3]))


def _saturation(resource: ResourceView) -> str:
    if resource.saturates_not_below is not None:
        return undecided_point(resource.saturates_at, resource.saturates_not_below)
    if resource.saturates_at is None:
        return "never"
    if resource.method == Method.AT_START.value:
        return "from the start"
    return whole_population(resource.saturates_at)


def _shares(resource: ResourceView, labels: Labels = PLAIN) -> str:
    large = [(by, share) for by, share in resource.shares.items() if share > _SMALL_SHARE]
    return ", ".join(f"{labels.of(by)} {percent(share, 2)}" for by, share in large[:_SHOWN_SHARES])


def _bottleneck(view: SolveView) -> str:
    found = view.bottleneck
    if found is None:
        return ""
    if found.saturates_at is None:
        most = heaviest_in_words(view).lower()
        none = "none is known to saturate" if found.undecided else "none saturates"
        line = f"Bottleneck: {none}; {found.resource} is the {most}."
    else:
        line = f"Bottleneck: {_saturates_first(view, found.saturates_at)}{stays_full_text(view)}."
    line += undecided_saturations(view)
    if found.changes:
        line += f" {changes_in_words(view, found)}."
    return line


def changes_in_words(view: SolveView, found: Bottleneck) -> str:
    """Return which resource is the heaviest from where on, and from where on it is not told."""
    name, heaviest = view.population.name, heaviest_in_words(view)
    first = found.changes[0]
    if first.to is None and first.at < view.population.from_ + 1:
        return f"{heaviest} at first: {found.initially}; whether others are later is not told"
    path = [f"{found.initially} at first"]
    path += [
        f"{c.to or 'not told which'} from {name} = {whole_population(c.at)} on"
        for c in found.changes
    ]
    return f"{heaviest}: {', '.join(path)}"


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
        return f"{found.resource} is {full} already at {where}, where the range starts"
    return f"{found.resource} {'reaches its target' if planned else 'saturates'} first, at {where}"


def full_from_start(found: Bottleneck, *, is_planned: bool) -> str:
    """Return what a resource is that is full where the range starts."""
    at_target = "at_its_target" if found.stays_full else "beyond_its_target"
    return phrase(at_target if is_planned else "saturated")


def stays_full_text(view: SolveView) -> str:
    """Return that the bottleneck is full before the answer and no more: that is not beyond it."""
    found, largest = view.bottleneck, view.largest_acceptable
    if found is None or found.stays_full is None:
        return ""
    key = "full.exactly" if found.stays_full == StaysFull.EXACTLY else "full.at_most"
    return phrase(key, name=view.population.name, largest=f"{largest:,}")


def heaviest_in_words(view: SolveView) -> str:
    """Return what is meant by the heaviest load: targets may lie below 100 %."""
    is_planned = any(resource.target != 1 for resource in view.resources)
    return "Nearest to its target" if is_planned else "Most heavily loaded"


def modes_line(view: SolveView, labels: Labels = PLAIN) -> str:
    """Return what each mode comes to, where there are several."""
    if not view.modes:
        return ""
    told = []
    for mode in view.modes:
        largest = "none"
        if mode.largest_acceptable is not None:
            largest = marked(f"{mode.largest_acceptable:,}", mode.known)
        why = f" ({labels.of(mode.limited_by)})" if mode.limited_by else ""
        told.append(f"{mode.mode} {largest}{why}")
    return f"Modes: {', '.join(told)}. The worst, {view.mode}, counts and is what follows."


def cost_lines(view: SolveView, solution: Solution) -> list[str]:
    """Return what the configuration costs at the limit, bought and running."""
    lines = []
    each = noun_of_one(view.population.name)
    for cost in solution.costs:
        dimension = MONEY / TIME if cost.is_running else MONEY
        what = "Running cost" if cost.is_running else "Cost"
        told = partial(quantity, dimension=dimension)
        places = ", ".join(f"{place} {told(value)}" for place, value in cost.places.items())
        line = (
            f"{what} at {view.at:,}: {told(cost.total)}, {told(cost.per_user)} for each {each} "
            f"({places})"
        )
        if cost.unpriced and cost is solution.costs[-1]:
            line += f"; without a price: {', '.join(cost.unpriced)}"
        lines.append(f"{line}.")
    return lines


def remarks(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> tuple[str, ...]:
    """Return what is to be said of modes (perhaps nothing), elastic parameters and costs."""
    known = " ".join(known_lines(solution))
    told = (*closed_lines(view), *elastic_lines(view, solution, labels))
    return (
        modes_line(view, labels),
        *map(labels.told, (known, *told, *cost_lines(view, solution))),
    )


def _advice(view: SolveView, labels: Labels) -> Table:
    """Return what would help, in the thesis's three ways, the best of each first."""
    rows = []
    last = ""
    for item in view.advice:
        change = item.change if labels.is_plain else item.words
        if item.to is not None and item.headroom is not None:
            change += f" (to {labels.of(item.to)}, which has {percent(item.headroom)} left)"
        way = item.way if item.way != last else ""
        rows.append((way, change, users_with(item), *_behind(item.setting or "", labels)))
        last = item.way
    headings = ("what would help", "", noun(view.population.name), *_behind("--set", labels))
    return Table(headings, tuple(rows), frozenset([2]), firm=frozenset([1]))


def elastic_lines(view: SolveView, solution: Solution, labels: Labels = PLAIN) -> list[str]:
    """Return a sentence for each elastic parameter: where it yields, where it can no more."""
    lines = []
    name = view.population.name
    for item, solved in zip(view.elastic, solution.elastic, strict=True):
        told = partial(quantity, dimension=solved.dimension)
        rank = "" if item.priority is None else f", priority {item.priority}"
        told_at_limit = marked(told(item.value_at_limit), item.known)
        line = f"Elastic{rank}: {labels.of(item.parameter)} is {told_at_limit} at {view.at:,}"
        if item.yields is None:
            line += f"; nothing keeps it below {told(item.most)}."
        else:
            start = f": {told(item.most)} up to {name} = {whole_population(item.yields.at)}, then "
            if item.yields.method is Method.AT_START:
                start = ", from the start "
            if item.exhausted is not None and item.exhausted.method is Method.AT_START:
                line += f", from the start: {item.yields.resource} leaves no more."
                lines.append(line)
                continue
            line += f"{start}what {item.yields.resource} leaves"
            for change in item.changes:
                to = change.to or "one that is not told"
                line += f", from {name} = {whole_population(change.at)} on what {to} leaves"
            if item.exhausted is not None:
                line += (
                    f", {told(item.least)} at {name} = {whole_population(item.exhausted.at)} "
                    f"({item.exhausted.resource})"
                )
            line += "."
        lines.append(line)
    return lines


def _sensitivity(view: SolveView) -> str:
    if not view.sensitivity:
        return ""
    told = [
        f"{item.parameter} {item.elasticity:+.2f} %"
        for item in view.sensitivity[:_SHOWN_SENSITIVITIES]
    ]
    what = "the answer"
    if view.limited_by is None and view.sensitivity_of is not None:
        what = f"the saturation of {view.sensitivity_of.removesuffix('.load')}"
    return f"1 % more of each moves {what} by: {', '.join(told)}."


def _sensitivities(view: SolveView, labels: Labels) -> Table:
    """Return the same as a table: words may be many, and identifiers stand behind them."""
    rows = tuple(
        (labels.of(item.parameter), f"{item.elasticity:+.2f} %", item.parameter)
        for item in view.sensitivity[:_SHOWN_SENSITIVITIES]
    )
    moved = "moves the answer by"
    if view.limited_by is None and view.sensitivity_of is not None:
        moved = f"moves the saturation of {labels.of(view.sensitivity_of.removesuffix('.load'))} by"
    return Table(("1 % more of", moved, _NAME), rows, frozenset([1]))


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
    told = f"{' and '.join(names)} {'rate machines' if names[1:] else 'rates the machine'}"
    return (
        f"{told} that costs were measured on: rated higher, the same costs weigh more. "
        "A machine that is also in use has both numbers."
    )
