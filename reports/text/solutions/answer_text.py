"""Answers as text for a terminal, and as Markdown for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from qps.compiler import ir
from qps.compiler.diagnostics.render import plain, printable
from qps.compiler.ir.measure_names import resource_in
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.clock_times import is_moment
from qps.compiler.quantities.dimension import MONEY, TIME
from qps.reports.text.layout.facts import COLUMNS, Fact, facts_text, title_lines
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.solutions.accuracy_facts import accuracy_rows
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.availability_text import availability_fact
from qps.reports.text.solutions.bottleneck_text import bottleneck_line
from qps.reports.text.solutions.calendar_text import current_month, holds_until, months_table
from qps.reports.text.solutions.capacity_text import (
    at_headline,
    capacity,
    nominal_line,
)
from qps.reports.text.solutions.change_wording import KINDS, PLAIN_WORDS, Wording
from qps.reports.text.solutions.closed_workload_text import closed_lines
from qps.reports.text.solutions.course_text import course_labels, course_rows, moments_table
from qps.reports.text.solutions.elastic_text import elastic_lines
from qps.reports.text.solutions.headroom_text import headroom_line, more_users_lines
from qps.reports.text.solutions.limit_facts import next_limit, percentiles
from qps.reports.text.solutions.limit_reasons import limit_reached
from qps.reports.text.solutions.measure_rows import measure_table
from qps.reports.text.solutions.resource_tables import (
    identifier_cells,
    resource_table,
    traffic_table,
)
from qps.reports.text.solutions.rewrite_wording import lines_to_write
from qps.reports.text.solutions.uncertainty_text import shares_table, uncertainty_lines
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
from qps.reports.text.words.quantities import (
    in_percent,
    joined_words,
    number,
    percent,
    planning_money,
    quantity,
)
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.solution import QUALITY, CapacityVerdict

_SHOWN_SENSITIVITIES = 6


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
    head = [fact.pair for fact in headline_rows(answer, labels)]
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
    parts += [table_of(table) for table in _tables(answer, words) if table.rows]
    notes = [
        *map(labels.sentence, (*uncertainty_lines(answer), *known_list(answer))),
        labels.sentence(_references(answer)),
    ]
    parts.append(("\n\n" if markdown else "\n").join(line_of(line) for line in notes if line))
    warnings = (*answer.spec_warnings, *answer.warnings) if markdown else answer.warnings
    warned = plain(warnings).splitlines()
    parts += [line_of(line) for line in warned]
    return joined(parts)


def _tables(answer: Answer, words: Wording) -> Iterator[Table]:
    labels = words.labels
    yield _requirements(answer, labels)
    yield measure_table(answer, labels, named=True)
    yield resource_table(answer, labels, named=True)[0]
    yield traffic_table(answer, labels, named=True)
    yield _advice(answer, words)
    yield _sensitivities(answer, labels)
    yield months_table(answer)
    yield moments_table(answer, labels)
    yield shares_table(answer, labels)


def headline_rows(answer: Answer, labels: Labels) -> list[Fact]:
    """Return what stands beside the capacity: p99 there, and what it covers."""
    shown = at_headline(answer)
    return [
        *time_rows(answer, labels),
        percentile_row(answer, labels),
        *accuracy_rows(shown, labels),
    ]


def time_rows(answer: Answer, labels: Labels) -> list[Fact]:
    """Return until when a forecast is supported, and when in a profile the capacity is lowest."""
    until = labels.sentence(holds_until(answer, labels))
    courses = (Fact(*row) for row in course_rows(answer, labels))
    return [Fact(phrase("forecast.until"), until), *courses]


def percentile_row(answer: Answer, labels: Labels) -> Fact:
    """Return p99 of the streams that people wait for, at the headline."""
    return Fact(phrase("p99"), labels.sentence(percentiles(at_headline(answer), labels)))


def circumstances(answer: Answer) -> tuple[str, ...]:
    """Return what was requested otherwise than as the spec stands: scenario, case, settings."""
    parts = [f"scenario {answer.scenario}"] if answer.scenario else []
    is_set = any(setting.split("=")[0].strip() == "case" for setting in answer.settings)
    if answer.case not in (None, ir.Case.AVERAGE.value) and not is_set:
        parts.append(f"case {answer.case}")
    month = current_month(answer)
    return (*parts, *([month] if month else []), *answer.settings)


def _all_facts(answer: Answer, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the facts of `--all` below the capacity: with uncertain inputs, of nominal ones."""
    sentence = labels.sentence
    yield "Limit", limit_reached(answer, labels)
    yield phrase("term.next_limit"), sentence(next_limit(answer, labels))
    yield phrase("answer.more_users"), " ".join(more_users_lines(answer, labels))
    yield "Targets", sentence(headroom_line(answer))
    yield "Bottleneck", sentence(bottleneck_line(answer))
    for label, lines in (
        ("Elastic", elastic_lines(answer, labels)),
        (phrase("answer.closed_load"), closed_lines(answer)),
        ("Cost", cost_lines(answer)),
    ):
        yield from ((label, sentence(line)) for line in lines)
    yield modes_label(answer), mode_facts(answer, labels)
    yield phrase("availability"), sentence(availability_fact(answer, labels))


def title_of(model: ir.Model) -> str:
    """Return the first line of a model's doc string, else its name."""
    return model.doc.splitlines()[0].rstrip(".") if model.doc else model.name


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
                *identifier_cells(QUALITY, labels),
            )
        )
    headings = (
        "Requirement",
        f"At {answer.at:,}",
        "Limit",
        phrase("table.met"),
        *identifier_cells("Name", labels),
    )
    return Table(headings, tuple(rows), frozenset([1, 2, 3]), long=frozenset([0, 4]))


def _requirement(one: RequirementAnswer, answer: Answer, labels: Labels) -> tuple[str, ...]:
    share, dimension, now = in_percent(one), one.dimension, one.now
    return (
        labels.measure(one.name),
        marked_value(
            quantity(now.value, dimension, share=share, other=one.limit), now.value, now.known
        ),
        limit_of(one, one.limit, share=share),
        _up_to(one.met_up_to, answer, one.met_up_to_known),
        *identifier_cells(one.name, labels),
    )


def _up_to(population: int | None, answer: Answer, known: Certainty) -> str:
    if population is None:
        return phrase("answer.not_met")
    return f"{population:,}+" if population == answer.high else marked(f"{population:,}", known)


def mode_facts(answer: Answer, labels: Labels = PLAIN) -> str:
    """Return the capacity of each mode, and which one counts; empty where there is none."""
    if not answer.modes:
        return ""
    lines = []
    for mode in answer.modes:
        largest = "none"
        if mode.capacity is not None:
            largest = marked(f"{mode.capacity:,}", mode.known)
        why = phrase("answer.limited_by", of=labels.of(mode.limited_by)) if mode.limited_by else ""
        lines.append(f"{mode.mode} {largest}{why}")
    key = "moments.limit" if is_moment(answer.mode or "") else "modes.limit"
    return phrase(key, mode=answer.mode, names=", ".join(lines))


def mode_table(answer: Answer, labels: Labels = PLAIN) -> Table:
    """Return the capacity of each mode or time, and what limits it."""
    is_of_times = is_moment(answer.mode or "")
    headings = (
        phrase("modes.time" if is_of_times else "modes.mode"),
        phrase("modes.capacity", noun=noun(answer.population)),
        phrase("modes.limited"),
    )
    rows = (
        (
            one.mode,
            "none" if one.capacity is None else marked(f"{one.capacity:,}", one.known),
            labels.of(one.limited_by) if one.limited_by else phrase("modes.range"),
        )
        for one in answer.modes
    )
    return Table(headings, tuple(rows), frozenset([1]))


def time_labels() -> frozenset[str]:
    """Return the labels of facts about times, dates and failures."""
    return frozenset([phrase("forecast.until"), phrase("availability"), *course_labels()])


def modes_label(answer: Answer) -> str:
    """Return the label of what modes come to."""
    return phrase("moments.title") if is_moment(answer.mode or "") else "Modes"


def cost_facts(answer: Answer) -> list[str]:
    """Return what the configuration costs at the capacity, in all and for each supported user."""
    each = noun_of_one(answer.population)
    is_nobody = answer.verdict is CapacityVerdict.NOWHERE
    lines = []
    for cost in answer.costs:
        formatted = partial(planning_money, dimension=MONEY / TIME if cost.is_running else MONEY)
        per_user = "" if is_nobody else f", {formatted(cost.per_user)} per {each}"
        lines.append(f"{formatted(cost.total)}{per_user}")
    if lines and answer.costs[-1].unpriced:
        lines.append(phrase("cost.unpriced", names=", ".join(answer.costs[-1].unpriced)))
    return lines


def cost_lines(answer: Answer) -> list[str]:
    """Return the same with the cost of each place."""
    lines = []
    each = noun_of_one(answer.population)
    for cost in answer.costs:
        written = partial(planning_money, dimension=MONEY / TIME if cost.is_running else MONEY)
        places = ", ".join(f"{place} {written(value)}" for place, value in cost.places.items())
        line = phrase(
            "answer.cost_places",
            total=written(cost.total),
            at=answer.at,
            per_user=written(cost.per_user),
            each=each,
            places=places,
        )
        if cost.unpriced and cost is answer.costs[-1]:
            line += phrase("cost.and_unpriced", names=", ".join(cost.unpriced))
        lines.append(f"{line}.")
    return lines


def remarks(answer: Answer, labels: Labels = PLAIN) -> tuple[str, ...]:
    """Return what is to be said of modes (perhaps nothing), elastic parameters and costs."""
    known = " ".join(known_lines(answer))
    elastic = [f"Elastic: {line}" for line in elastic_lines(answer, labels)]
    costs = [f"Cost: {line}" for line in cost_lines(answer)]
    modes = mode_facts(answer, labels)
    groups = (known, *closed_lines(answer), *elastic, *costs)
    return (f"Modes: {modes}." if modes else "", *map(labels.sentence, groups))


def _advice(answer: Answer, words: Wording) -> Table:
    """Return changes that raise the capacity, by what they take, the best of each first."""
    rows, labels = [], words.labels
    last = ""
    for item in sorted(words.changes, key=lambda one: KINDS.index(words.kind(one))):
        change = item.change if labels.is_plain else item.words
        if item.to is not None and item.headroom is not None:
            change += phrase(
                "changes.moves_load", name=labels.of(item.to), share=percent(item.headroom)
            )
        kind = phrase(f"change.kind.{words.kind(item)}")
        first = kind if kind != last else ""
        rows.append((first, change, users_with(item), *identifier_cells(_how_to_set(item), labels)))
        last = kind
    users = noun(answer.population).capitalize()
    headings = ("", phrase("changes"), users, *identifier_cells("--set", labels))
    return Table(headings, tuple(rows), frozenset([2]), frozenset([1]), long=frozenset([0, 1, 3]))


def _how_to_set(item: AdviceView) -> str:
    """Return the settings of a change, or the lines to write."""
    settings = item.together or ([item.setting] if item.setting else [])
    return "; ".join([*settings, *lines_to_write(item.lines or ())])


def _sensitivities(answer: Answer, labels: Labels) -> Table:
    """Return by how much 1 % more of each input changes the capacity, the largest effect first."""
    rows = tuple(
        (
            labels.of(item.parameter),
            f"{item.elasticity:+.2f} %",
            *identifier_cells(item.parameter, labels),
        )
        for item in answer.sensitivity[:_SHOWN_SENSITIVITIES]
    )
    moved = phrase("sensitivity.capacity")
    if answer.limited_by is None and answer.sensitivity_of is not None:
        resource = labels.of(resource_in(answer.sensitivity_of))
        moved = phrase("sensitivity.saturation", resource=resource)
    headings = (phrase("answer.sensitivity_to"), moved, *identifier_cells("Name", labels))
    return Table(headings, rows, frozenset([1]), long=frozenset([0, 1, 2]))


def _references(answer: Answer) -> str:
    """Return which of the shown numbers are ratings of machines that costs were measured on."""
    shown = (one.parameter for one in answer.sensitivity[:_SHOWN_SENSITIVITIES])
    names = [name for name in shown if name in answer.reference_ratings]
    if not names:
        return ""
    verb = phrase("sensitivity.are_ratings") if names[1:] else phrase("sensitivity.is_rating")
    return phrase("sensitivity.ratings", names=joined_words(names), verb=verb)
