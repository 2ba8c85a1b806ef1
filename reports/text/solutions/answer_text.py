"""Answers as text for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter

from qps.compiler import ir
from qps.compiler.diagnostics.render import plain, printable
from qps.compiler.ir.measure_names import is_utilization, resource_in
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import (
    DATA_RATE,
    INFORMATION,
    MONEY,
    TIME,
)
from qps.reports.text.layout.facts import COLUMNS, facts_text, title_lines
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.solutions.capacity_text import accuracy, capacity, nominal_line, uncertainty
from qps.reports.text.solutions.change_wording import PLAIN_WORDS, Wording
from qps.reports.text.solutions.closed_workload_text import closed_lines
from qps.reports.text.solutions.headroom_text import headroom_line, more_users_lines
from qps.reports.text.solutions.limit_facts import next_limit
from qps.reports.text.solutions.limit_reasons import limit_reached
from qps.reports.text.solutions.measure_rows import measure_table
from qps.reports.text.solutions.uncertainty_text import odds_lines, shares_table
from qps.reports.text.words.certainty_marks import (
    known_lines,
    known_list,
    marked,
    marked_value,
    users_with,
)
from qps.reports.text.words.estimates import limit_of
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import noun, noun_of_one
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    number,
    percent,
    population_text,
    quantity,
    undecided_point,
    whole_population,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import (
    QUALITY,
    Bottleneck,
    ElasticSolution,
    ResourceSolution,
    StaysFull,
)
from qps.solver.search.method import Method

_DIGITS = 3
_SHOWN_SHARES = 4
_SHOWN_SENSITIVITIES = 6
_SMALL_SHARE = 0.005
GIVES_WAY = phrase("elastic.saturated")
"""The state of a resource that elastic traffic fills."""


def solve_text(
    answer: Answer,
    title: str,
    words: Wording = PLAIN_WORDS,
    *,
    markdown: bool = False,
    width: int | None = None,
) -> str:
    """Return all that is known of a capacity: facts, tables, notes; in Markdown also warnings.

    Lines fit a `width`, 80 unless one is given. With labels, tables have identifiers behind.
    """
    columns, labels = COLUMNS if width is None else width, words.labels

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

    place = ", ".join([answer.file, *circumstances(answer)])
    many = capacity(answer)
    head = [(phrase("accuracy"), accuracy(answer, labels)), ("Uncertainty", uncertainty(answer))]
    if markdown:
        parts = [f"### {printable(title)} ({place})", f"**{escaped(many)}**"]
    else:
        parts = ["\n".join(title_lines(title, place, columns))]
        head.insert(0, ("Capacity", many))
    facts, nominal = list(_all_facts(answer, labels)), line_of(nominal_line(answer))
    if nominal:
        parts += [facts_of(head), f"{nominal}\n{facts_of(facts)}"]
    else:
        parts.append(facts_of([*head, *facts]))
    tables = [
        _requirements(answer, labels),
        measure_table(answer, labels, named=True),
        resource_table(answer, labels, named=True)[0],
        carried(answer, labels, named=True),
        _advice(answer, words),
        _sensitivities(answer, labels),
        shares_table(answer, labels),
    ]
    parts += [table_of(table) for table in tables if table.rows]
    notes = [
        *map(labels.told, (*odds_lines(answer), *known_list(answer))),
        labels.told(_references(answer)),
    ]
    parts.append(("\n\n" if markdown else "\n").join(line_of(line) for line in notes if line))
    warnings = (*answer.spec_warnings, *answer.warnings) if markdown else answer.warnings
    warned = plain(warnings).splitlines()
    parts += [line_of(line) for line in warned]
    return joined(parts)


def circumstances(answer: Answer) -> tuple[str, ...]:
    """Return what was asked for otherwise than as the spec stands: scenario, case, settings."""
    told = [f"scenario {answer.scenario}"] if answer.scenario else []
    is_set = any(setting.split("=")[0].strip() == "case" for setting in answer.settings)
    if answer.case not in (None, ir.Case.AVERAGE.value) and not is_set:
        told.append(f"case {answer.case}")
    return (*told, *answer.settings)


def _all_facts(answer: Answer, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the facts of `--all` below the capacity: with uncertain inputs, of nominal ones."""
    told = labels.told
    yield "Limit", limit_reached(answer, labels)
    yield "Next limit", told(next_limit(answer, labels))
    yield "More users", " ".join(more_users_lines(answer, labels))
    yield "Targets", told(headroom_line(answer))
    yield "Bottleneck", told(_bottleneck(answer))
    for label, lines in (
        ("Elastic", elastic_lines(answer, labels)),
        ("Closed", closed_lines(answer)),
        ("Cost", cost_lines(answer)),
    ):
        yield from ((label, told(line)) for line in lines)
    yield "Modes", mode_facts(answer, labels)


def title_of(model: ir.Model) -> str:
    """Return the first line of a model's doc string, else its name."""
    return model.doc.splitlines()[0].rstrip(".") if model.doc else model.name


def _behind(name: str, labels: Labels) -> tuple[str, ...]:
    """Return the identifier that stands behind a row of words: no cell where all is plain."""
    return () if labels.is_plain else (name,)


def _requirements(answer: Answer, labels: Labels) -> Table:
    rows = [_requirement(one, answer, labels) for one in answer.requirements]
    if answer.quality.at_limit is not None:
        rows.append(
            (
                f"{labels.of(QUALITY)} ({phrase(f'quality.{answer.quality.metric}')})",
                marked_value(
                    number(answer.quality.at_limit), answer.quality.at_limit, answer.quality.known
                ),
                "≤ 1",
                _up_to(answer.quality.met_up_to, answer, answer.quality.met_up_to_known),
                *_behind(QUALITY, labels),
            )
        )
    headings = ("Requirement", f"At {answer.at:,}", "Limit", "Met up to", *_behind(_NAME, labels))
    return Table(headings, tuple(rows), frozenset([1, 2, 3]), long=frozenset([0, 4]))


_NAME = "Name"


def _requirement(one: RequirementAnswer, answer: Answer, labels: Labels) -> tuple[str, ...]:
    share, dimension, now = in_percent(one), one.dimension, one.now
    return (
        labels.measure(one.name),
        marked_value(
            quantity(now.value, dimension, share=share, beside=one.limit), now.value, now.known
        ),
        limit_of(one, one.limit, share=share),
        _up_to(one.met_up_to, answer, one.met_up_to_known),
        *_behind(one.name, labels),
    )


def _up_to(met: int | None, answer: Answer, known: Certainty) -> str:
    if met is None:
        return "not met"
    return f"{met:,}+" if met == answer.high else marked(f"{met:,}", known)


_BAR = 8
"""Signs of a bar that shows a utilization of 100 %."""
_NONE = "–"


def resource_table(
    answer: Answer,
    labels: Labels = PLAIN,
    *,
    named: bool = False,
    bars: bool = False,
    shares: int = _SHOWN_SHARES,
) -> tuple[Table, list[ResourceSolution]]:
    """Return the resources, the first to saturate first, and of each row the resource.

    `named` puts identifiers behind, `bars` a bar before each utilization; the largest `shares` of
    what loads a resource are shown.
    """
    ordered = sorted(
        answer.resources,
        key=lambda r: (
            r.saturation.at is None,
            r.saturation.at or 0.0,
            -r.utilization_at_limit / r.target,
        ),
    )
    is_planned = any(resource.target != 1 for resource in ordered)
    limits = _utilization_limits(answer)
    has_limits = is_planned or bool(limits)
    told = with_ports_together(ordered, attrgetter("name"), answer)
    giving = answer.saturated_by_elastic
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
    at = f"{answer.at:,}"
    headings = (
        "Utilization",
        *([""] * bars),
        f"At {at}",
        *(["Target" if is_planned else "Limit"] * has_limits),
        phrase("table.most"),
        "Consumed by",
        *(_behind(_NAME, labels) if named else ()),
    )
    first = 2 if bars else 1
    right = frozenset(range(first, first + 2 + has_limits))
    demand = first + 2 + has_limits
    long = frozenset([0, demand, demand + 1] if named else [0, demand])
    table = Table(headings, tuple(rows), right, firm=frozenset([1]), long=long)
    return table, [resource for resource, _ in told]


def _utilization_limits(answer: Answer) -> dict[str, float]:
    """Return the lowest utilization that requirements allow each resource."""
    found: dict[str, float] = {}
    for one in answer.requirements:
        resource = resource_in(one.name)
        if is_utilization(one.name) and one.at_most:
            found[resource] = min(one.limit, found.get(resource, one.limit))
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


def carried(answer: Answer, labels: Labels = PLAIN, *, named: bool = False) -> Table:
    """Return what links and network cards carry, as rates and as volumes."""
    found = with_ports_together(answer.traffic, attrgetter("resource"), answer)
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
        *("Traffic", f"At {answer.at:,}", "Per hour", "Per month"),
        *([""] * several),
        *(_behind(_NAME, labels) if named else ()),
    )
    return Table(headings, rows, frozenset([1, 2, 3]), long=frozenset([0, len(headings) - 1]))


def _saturation(resource: ResourceSolution) -> str:
    found = resource.saturation
    if found.not_below is not None:
        return undecided_point(found.at, found.not_below)
    if found.at is None:
        return phrase("table.no_limit")
    return "none" if found.method is Method.AT_START else whole_population(found.at)


def _shares(resource: ResourceSolution, labels: Labels = PLAIN, most: int = _SHOWN_SHARES) -> str:
    large = [(by, share) for by, share in resource.shares.items() if share > _SMALL_SHARE]
    return ", ".join(f"{labels.of(by)} {percent(share, 2)}" for by, share in large[:most])


def _bottleneck(answer: Answer) -> str:
    found = answer.bottleneck
    if found is None:
        return ""
    if found.saturates_at is None:
        most = heaviest_in_words(answer).lower()
        none = "no resource is known to saturate" if found.undecided else "no resource saturates"
        if answer.closed and not found.undecided:
            none = "no resource is overloaded (closed workload)"
        line = f"{none}; {most}: {found.resource}."
    else:
        line = f"{_saturates_first(answer, found.saturates_at)}{stays_full_text(answer)}."
    line += undecided_saturations(answer)
    if found.changes:
        line += f" {changes_in_words(answer, found)}."
    return line


def changes_in_words(answer: Answer, found: Bottleneck) -> str:
    """Return which resource has the highest utilization from which population on."""
    name, heaviest = answer.population, heaviest_in_words(answer)
    first = found.changes[0]
    if first.to is None and first.at < answer.low + 1:
        return f"{heaviest} at first: {found.initially}; unknown for larger populations"
    path = [f"{found.initially} at the start"]
    path += [f"{c.to or 'unknown'} above {whole_population(c.at)}" for c in found.changes]
    hidden = len(path) - _MOST_CHANGES
    if hidden > 1:  # JSON has all of them
        path = [*path[: _MOST_CHANGES - 1], f"{hidden} more changes", path[-1]]
    users = noun_of_one if path[-1].endswith(" 1") else noun
    return f"{heaviest}: {', '.join(path)} {users(name)}"


_MOST_CHANGES = 4
"""Resources of the highest utilization that are named one after the other."""


def undecided_saturations(answer: Answer) -> str:
    """Return of which resources it cannot be told whether they saturate before the bottleneck."""
    found = answer.bottleneck
    if found is None or not found.undecided:
        return ""
    name = answer.population
    told = (
        phrase("undecided.one", resource=r.name, name=name, least=population_text(least))
        for r in answer.resources
        if r.name in found.undecided and (least := r.saturation.not_below) is not None
    )
    does = phrase("undecided.ever" if found.saturates_at is None else "undecided.before")
    return phrase("undecided", told=" or ".join(told), does=does)


def _saturates_first(answer: Answer, at: float) -> str:
    """Return which resource saturates first, and where; that is not known before the range."""
    found = answer.bottleneck
    assert found is not None
    planned = any(r.name == found.resource and r.target != 1 for r in answer.resources)
    count = whole_population(at)
    users = noun_of_one if count == "1" else noun
    where = f"{count} {users(answer.population)}"
    if found.from_start:
        full = full_from_start(found, is_planned=planned)
        if answer.low == answer.high:
            return f"{found.resource} is {full} with {where}"
        return f"{found.resource} is {full} with {where}, the start of the range"
    reaches = "exceeds its target" if planned else "saturates"
    return f"{found.resource} {reaches} first, above {where}"


def full_from_start(found: Bottleneck, *, is_planned: bool) -> str:
    """Return what a resource is that is full where the range starts."""
    at_target = "at_its_target" if found.stays_full else "beyond_its_target"
    return phrase(at_target if is_planned else "saturated")


def stays_full_text(answer: Answer) -> str:
    """Return that the bottleneck is full before the answer and no more: that is not beyond it."""
    found, largest = answer.bottleneck, answer.capacity
    if found is None or found.stays_full is None:
        return ""
    key = "full.exactly" if found.stays_full == StaysFull.EXACTLY else "full.at_most"
    return phrase(key, name=answer.population, largest=f"{largest:,}")


def heaviest_in_words(answer: Answer) -> str:
    """Return what is meant by the heaviest load: targets may lie below 100 %."""
    is_planned = any(resource.target != 1 for resource in answer.resources)
    return "Nearest to its target" if is_planned else "Highest utilization"


def mode_facts(answer: Answer, labels: Labels = PLAIN) -> str:
    """Return the capacity of each mode, and which one counts; empty where there is none."""
    if not answer.modes:
        return ""
    told = []
    for mode in answer.modes:
        largest = "none"
        if mode.capacity is not None:
            largest = marked(f"{mode.capacity:,}", mode.known)
        why = f" ({labels.of(mode.limited_by)})" if mode.limited_by else ""
        told.append(f"{mode.mode} {largest}{why}")
    return f"{', '.join(told)}; mode {answer.mode} limits capacity"


def cost_facts(answer: Answer) -> list[str]:
    """Return what the configuration costs at the capacity, in all and for each user."""
    each = noun_of_one(answer.population)
    lines = []
    for cost in answer.costs:
        told = partial(quantity, dimension=MONEY / TIME if cost.is_running else MONEY)
        lines.append(f"{told(cost.total)}, {told(cost.per_user)} per {each}")
    if lines and answer.costs[-1].unpriced:
        lines.append(f"no price for {', '.join(answer.costs[-1].unpriced)}")
    return lines


def cost_lines(answer: Answer) -> list[str]:
    """Return the same with the cost of each place."""
    lines = []
    each = noun_of_one(answer.population)
    for cost in answer.costs:
        told = partial(quantity, dimension=MONEY / TIME if cost.is_running else MONEY)
        places = ", ".join(f"{place} {told(value)}" for place, value in cost.places.items())
        line = f"{told(cost.total)} at {answer.at:,}, {told(cost.per_user)} per {each} ({places})"
        if cost.unpriced and cost is answer.costs[-1]:
            line += f"; no price for {', '.join(cost.unpriced)}"
        lines.append(f"{line}.")
    return lines


def remarks(answer: Answer, labels: Labels = PLAIN) -> tuple[str, ...]:
    """Return what is to be said of modes (perhaps nothing), elastic parameters and costs."""
    known = " ".join(known_lines(answer))
    elastic = [f"Elastic: {line}" for line in elastic_lines(answer, labels)]
    costs = [f"Cost: {line}" for line in cost_lines(answer)]
    modes = mode_facts(answer, labels)
    told = (known, *closed_lines(answer), *elastic, *costs)
    return (f"Modes: {modes}." if modes else "", *map(labels.told, told))


def _advice(answer: Answer, words: Wording) -> Table:
    """Return changes that raise the capacity, by their effects, the best of each first."""
    rows, labels = [], words.labels
    last = ""
    for item in words.changes:
        change = item.change if labels.is_plain else item.words
        if item.to is not None and item.headroom is not None:
            change += f" (moves load to {labels.of(item.to)}, {percent(item.headroom)} headroom)"
        way = item.way if item.way != last else ""
        rows.append((way, change, users_with(item), *_behind(item.setting or "", labels)))
        last = item.way
    users = noun(answer.population).capitalize()
    headings = (phrase("changes"), "", users, *_behind("--set", labels))
    return Table(headings, tuple(rows), frozenset([2]), frozenset([1]), long=frozenset([0, 1, 3]))


def elastic_facts(answer: Answer) -> list[str]:
    """Return which resources elastic traffic saturates, and what is left to it there."""
    lines = zip(answer.elastic, elastic_lines(answer), strict=True)
    told = [line for item, line in lines if item.is_lowered]
    full = sorted(answer.saturated_by_elastic)
    if full:
        told[:-1] = [f"{line.removesuffix('.')};" for line in told[:-1]]
        end = ":" if told else "."
        told.insert(0, f"{joined_words(full)} {'is' if len(full) == 1 else 'are'} {GIVES_WAY}{end}")
    return told


def elastic_lines(answer: Answer, labels: Labels = PLAIN) -> list[str]:
    """Return a sentence for each elastic parameter: its value, and from where on it yields."""
    return [_elastic(answer, item, labels) for item in answer.elastic]


def _elastic(answer: Answer, item: ElasticSolution, labels: Labels) -> str:
    told = partial(quantity, dimension=item.dimension)
    rank = "" if item.priority is None else f" (priority {item.priority})"
    name = f"{labels.of(item.name)}{rank}"
    value = marked(told(item.value_at_limit), item.known)
    if item.yields is None:
        return f"{name} is {value}, its maximum, at every population."
    if item.exhausted is not None and item.exhausted.method is Method.AT_START:
        return (
            f"{name} is {value}, its minimum, at every population: {item.yields.resource} is "
            "saturated."
        )
    line = f"{name} is {value} at {answer.at:,}, limited by {_limited_by(answer, item)}"
    if item.yields.method is not Method.AT_START:
        most = _people(answer, item.yields.at)
        line = (
            f"{name} is {value} at {answer.at:,}: at its maximum of {told(item.most)} up to "
            f"{most}, then limited by {_limited_by(answer, item)}"
        )
    if item.exhausted is not None:
        line += (
            f", and at its minimum of {told(item.least)} from "
            f"{_people(answer, item.exhausted.at)} on ({item.exhausted.resource})"
        )
    return f"{line}."


def _people(answer: Answer, at: float) -> str:
    """Return a population that need not be whole: `382 users`."""
    count = whole_population(at)
    return f"{count} {(noun_of_one if count == '1' else noun)(answer.population)}"


def _limited_by(answer: Answer, item: ElasticSolution) -> str:
    """Return the resources that limit an elastic parameter, each up to which population."""
    assert item.yields is not None
    by = [item.yields.resource, *(one.to or "an unknown resource" for one in item.changes)]
    ends = [f" up to {_people(answer, one.at)}" for one in item.changes]
    parts = [f"{one}{end}" for one, end in zip(by, ends, strict=False)]
    if not parts:
        return by[-1]
    first, *others = [*parts, f"{by[-1]} above that"]
    return joined_words([first, *(f"by {one}" for one in others)])


def _sensitivities(answer: Answer, labels: Labels) -> Table:
    """Return by how much 1 % more of each input changes the capacity, the largest effect first."""
    rows = tuple(
        (
            labels.of(item.parameter),
            f"{item.elasticity:+.2f} %",
            *_behind(item.parameter, labels),
        )
        for item in answer.sensitivity[:_SHOWN_SENSITIVITIES]
    )
    moved = "Effect of +1 % on capacity"
    if answer.limited_by is None and answer.sensitivity_of is not None:
        resource = labels.of(resource_in(answer.sensitivity_of))
        moved = f"Effect of +1 % on the saturation point of {resource}"
    headings = ("Sensitivity to", moved, *_behind(_NAME, labels))
    return Table(headings, rows, frozenset([1]), long=frozenset([0, 2]))


def _references(answer: Answer) -> str:
    """Return which of the shown numbers are ratings of machines that costs were measured on."""
    shown = (one.parameter for one in answer.sensitivity[:_SHOWN_SENSITIVITIES])
    names = [name for name in shown if name in answer.reference_ratings]
    if not names:
        return ""
    verb = "are ratings of machines" if names[1:] else "is the rating of the machine"
    return (
        f"{joined_words(names)} {verb} that service demands were measured on: a higher rating "
        "scales those demands up. If the spec also uses that machine, its own speed is a "
        "separate input."
    )
