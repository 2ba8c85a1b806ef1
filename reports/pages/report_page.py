"""The report's page as plain values: what stands in it, in the order in which it is read.

It is what a reader sees whose browser runs no scripts, and what the scripts take over from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.render import plain
from qps.reports.pages.change_intervals import ChangeInterval, change_intervals, changes_note
from qps.reports.pages.claims_section import ClaimsSection
from qps.reports.pages.conclusions import Conclusions, conclusions, known_on_paper
from qps.reports.pages.configuration_comparison import ConfigurationComparison
from qps.reports.pages.course_charts import CourseSection, cycle_section, live_charts
from qps.reports.pages.doc_markup import doc_markup
from qps.reports.pages.drawings.charts import LineChart, figure_chart
from qps.reports.pages.drawings.line_thinning import visible_points
from qps.reports.pages.drawings.system_picture import SystemPicture, system_picture
from qps.reports.pages.formula_markup import typeset
from qps.reports.pages.gauge_rows import (
    CapacityGauges,
    Gauges,
    gauges,
    limits,
    nominal_utilizations,
)
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_page import figure_key
from qps.reports.pages.page_rows import (
    FactRow,
    RequirementRow,
    ResourceRow,
    assumption_rows,
    bottleneck_text,
    first_to_saturate,
    requirement_rows,
    resource_rows,
    sensitivity_of,
    setting_rows,
)
from qps.reports.pages.plain_sentences import in_prose, unquoted, with_arrows
from qps.reports.pages.population_charts import PopulationCharts, population_charts
from qps.reports.pages.uncertainty_section import UncertaintySection, uncertainty_section
from qps.reports.text.explanations.explanation import Explanation, explanation_view
from qps.reports.text.explanations.figure_text import leads_text, line_label, lines_known
from qps.reports.text.layout.facts import Fact
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.wrapping import unbroken
from qps.reports.text.solutions.accuracy_facts import measure_next
from qps.reports.text.solutions.advice_view import AdviceView
from qps.reports.text.solutions.answer_text import (
    circumstances,
    mode_table,
    modes_label,
    remarks,
    time_labels,
    title_of,
)
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.capacity_text import at_headline, headline_line
from qps.reports.text.solutions.change_rows import HELPS, capacity_in_row, cost_with, printed_with
from qps.reports.text.solutions.change_wording import Wording, wording
from qps.reports.text.solutions.first_screen import Decision, decision
from qps.reports.text.solutions.headroom_text import beyond_lines
from qps.reports.text.solutions.limit_facts import others_label
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.solutions.resource_tables import traffic_table
from qps.reports.text.solutions.rewrite_wording import lines_to_write
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.certainty_marks import known_sentence
from qps.reports.text.words.nouns import counted, noun
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer
from qps.solver.claims.figure_lines import DrawnFigure
from qps.solver.details.answer_details import AnswerDetails


class SimulatedSection(Struct, frozen=True, kw_only=True):
    """What was simulated: for how many users, tables, and lines below them."""

    at: str
    tables: tuple[Table, ...]
    lines: tuple[str, ...]


class AdviceRow(Struct, frozen=True, kw_only=True):
    """A change under its kind, the capacity with it, by how much that is more, and its cost."""

    kind: str
    change: str
    users: str
    gain: str
    cost: str
    interval: ChangeInterval | None = None
    lines: tuple[str, ...] = ()
    """The lines of the spec that the change takes."""


class PageView(Struct, frozen=True, kw_only=True):
    """What stands on the page beside the answers themselves."""

    view: SolveView
    title: str
    question: str
    """The question of the spec, behind the colon of its first line; empty where there is none."""
    about: Markup
    """The docstring of the spec, without its first line."""
    circumstances: str
    decision: Decision
    answer: str
    saturates: str
    beyond: tuple[str, ...]
    at: str
    headline: str
    """The population and confidence of the first screen, if inputs are uncertain."""
    gauges: Gauges
    limits: CapacityGauges
    requirements: tuple[RequirementRow, ...]
    conclusions: Conclusions
    charts: PopulationCharts
    resources: tuple[ResourceRow, ...]
    is_planned: bool  # whether a resource has a target below 100 %
    traffic: Table
    bottleneck: str
    sensitivity_of: str
    labels: Mapping[str, str]
    """What the numbers are called that move the answer."""
    settings: tuple[FactRow, ...]
    assumptions: tuple[FactRow, ...]
    formulas: tuple[tuple[Explanation, str | None, str], ...]
    """Numbers taken apart, typeset where that is short, and how those not exact are known."""
    formulas_left_out: int
    claims: ClaimsSection
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    advice: tuple[AdviceRow, ...]
    """The changes that help most, and `more_advice` the others."""
    more_advice: tuple[AdviceRow, ...]
    noun: str
    """What the spec calls its users."""
    changes_note: str
    """What the capacities of changes count, and what their bars are."""
    over_time: tuple[Fact, ...]
    """Facts of times, dates and failures, which the page does not compute again."""
    modes_label: str
    modes: Table | None
    """The capacity of each mode, or of each time that may limit capacity."""
    figures: tuple[LineChart, ...]
    live: Mapping[str, Json]
    """What the scripts of the page work on: see `live_page`."""
    figures_only: bool = False
    simulated: SimulatedSection | None = None
    uncertainty: UncertaintySection | None = None
    system: SystemPicture | None = None
    carry: tuple[str, ...] = ()
    """What it takes to carry more users, a sentence for each number of them."""
    compared: ConfigurationComparison | None = None
    """What stands side by side, on a page of several configurations."""
    draws_samples: bool = False
    """Whether the page itself draws every sample of its uncertain inputs: none was drawn before."""
    courses: tuple[CourseSection, ...] = ()
    """The day or the week, and the incidents of the spec."""
    provenance: str = ""
    """When and with what the page was made, of which revision of the spec; by which command."""


def page_view(
    model: ir.Model,
    configuration: Configuration,
    answer: Answer,
    details: AnswerDetails,
    claims: ClaimsSection,
    figures: Sequence[tuple[ir.Model, DrawnFigure]] = (),
    live: Mapping[str, Json] | None = None,
    *,
    figures_only: bool = False,
    simulated: SimulatedSection | None = None,
    growth: Sequence[str] = (),
    compared: ConfigurationComparison | None = None,
    draws_samples: bool = False,
    incidents: Sequence[CourseSection] = (),
    origin: str = "",
) -> PageView:
    """Return everything that the page of one configuration shows: its answer, and details of it.

    Without curves in its details, loads and needs are drawn by its scripts alone.
    """
    words, shown = wording(model, configuration, answer), at_headline(answer)
    title, _, question = title_of(model).partition(": ")
    traffic = traffic_table(shown, words.labels)
    assumptions = assumption_rows(model, answer.assumptions.values(), details.cited)
    labels = {one.parameter: words.labels.of(one.parameter) for one in answer.sensitivity}
    courses = (*_cycle(answer, words), *incidents)
    return PageView(
        view=solve_view(answer, words),
        title=title if compared is None else compared.title,
        question=f"{question[0].upper()}{question[1:]}" if question and compared is None else "",
        about=doc_markup(model.doc),
        circumstances=", ".join(circumstances(answer)),
        answer=answer_sentence(answer, words.labels),
        saturates=words.labels.sentence(first_to_saturate(answer)),
        decision=_decision(answer, words),
        beyond=tuple(map(unquoted, beyond_lines(answer, words.labels))),
        at=f"{shown.at:,}",
        headline=headline_line(answer),
        gauges=gauges(shown, words.labels.of),
        limits=limits(shown, words.labels.of),
        requirements=requirement_rows(shown, words.labels.of),
        conclusions=conclusions(
            shown,
            labels,
            traffic,
            assumptions,
            words.labels.sentence(measure_next(answer)),
            known=known_on_paper(answer, words.labels),
            figures=len(figures),
            formulas=len(details.formulas) + details.formulas_left_out,
        ),
        charts=population_charts(shown, details.curves, words.labels.of),
        resources=resource_rows(_nominal(shown), words.labels.of),
        is_planned=any(one.target != 1 for one in answer.resources),
        traffic=traffic,
        bottleneck=words.labels.sentence(bottleneck_text(answer)),
        sensitivity_of=words.labels.sentence(sensitivity_of(answer)),
        labels=labels,
        settings=setting_rows(model, details.in_force, answer),
        assumptions=assumptions,
        formulas=tuple(_formulas(details)),
        formulas_left_out=details.formulas_left_out,
        claims=claims,
        warnings=tuple(plain((*answer.spec_warnings, *answer.warnings)).splitlines()),
        remarks=tuple(map(unquoted, remarks(answer, words.labels))),
        advice=tuple(_advice(shown, words, words.by_kind)),
        more_advice=tuple(_advice(shown, words, words.others_by_kind)),
        noun=noun(answer.population),
        changes_note=changes_note(answer, words, draws_samples=draws_samples),
        over_time=_over_time(answer, words),
        modes_label=modes_label(answer),
        modes=mode_table(answer, words.labels) if answer.modes else None,
        figures=tuple(_figure(owner, drawn) for owner, drawn in figures),
        courses=courses,
        live=_with_charts(live or _NOTHING_LIVE, courses),
        figures_only=figures_only,
        simulated=simulated,
        uncertainty=uncertainty_section(answer, words.labels),
        system=None if figures_only else system_picture(model, details, shown.at),
        carry=tuple(map(unquoted, growth)),
        compared=compared,
        draws_samples=draws_samples,
        provenance=origin,
    )


def _nominal(shown: Answer) -> Answer:
    """Return an answer at its headline with the utilizations that nominal inputs give."""
    nominal = nominal_utilizations(shown)
    resources = (
        replace(one, utilization_at_limit=nominal.get(one.name, one.utilization_at_limit))
        for one in shown.resources
    )
    return replace(shown, resources=tuple(resources))


def _advice(answer: Answer, words: Wording, changes: Sequence[AdviceView]) -> Iterator[AdviceRow]:
    now = words.supported
    intervals = change_intervals(answer, words, changes)
    for one, interval in zip(changes, intervals, strict=True):
        users, gain = capacity_in_row(one, answer), printed_with(one, answer) - now
        mark = users[: len(users) - len(users.lstrip("≤≥~ "))]
        rest = f" {phrase('page.or_more')}" if users.endswith("+") else ""
        yield AdviceRow(
            kind=phrase(f"change.kind.{words.kind(one)}"),
            change=with_arrows(one.words),
            users=users,
            gain=f"{mark}+{gain:,}{rest}" if gain > 0 and answer.capacity is not None else "",
            cost=cost_with(one, answer),
            interval=interval,
            lines=tuple(lines_to_write(one.lines or ())),
        )


def _decision(answer: Answer, words: Wording) -> Decision:
    """Return the first facts; changes and requirements have places of their own on a page."""
    summary = decision(answer, words)
    elsewhere = [
        HELPS,
        others_label(answer),
        phrase("term.measure_next"),
        "Busiest",
        modes_label(answer),
        *time_labels(),
    ]
    sampled = answer.uncertainty
    if sampled is not None and sampled.interval.least != sampled.interval.most:
        elsewhere.append("Uncertainty")  # the picture beside them
    groups: list[list[Fact]] = []
    for fact in summary.facts:
        if fact.label or not groups:
            groups.append([])
        # which elastic rates give way, and where, stands below
        text = fact.text.partition(": ")[0] if fact.label == "Elastic" else fact.text
        groups[-1].append(replace(fact, text=in_prose(unbroken, text)))
    here = [group for group in groups if group[0].label not in elsewhere]
    p99 = "".join(fact.text for fact, *_ in here if fact.label == phrase("p99"))
    here = [group for group in here if group[0].label != phrase("p99")]
    order = _ORDER if answer.uncertainty is not None else _ORDER_WITH_LIMITS
    here.sort(key=lambda group: (*order, group[0].label).index(group[0].label))
    facts = [fact for group in here for fact in group]
    before = summary.headline.before
    if answer.capacity is None and answer.uncertainty is None:
        before = phrase("capacity.not_even", users=counted(answer.low, answer.population))
    return Decision(
        headline=replace(summary.headline, before=f"{before[:1].upper()}{before[1:]}"),
        facts=tuple(facts[:MOST_FACTS]),
        percentiles=f"{phrase('p99')} {p99}" if p99 else "",
        more=tuple(facts[MOST_FACTS:]),
    )


def _over_time(answer: Answer, words: Wording) -> tuple[Fact, ...]:
    """Return the facts of times, dates and failures: they stay as written if settings change."""
    labels = time_labels()
    return tuple(
        replace(fact, text=in_prose(unbroken, fact.text))
        for fact in decision(answer, words).facts
        if fact.label in labels
    )


MOST_FACTS = 4
"""Facts beside the picture; others stand further below."""

_ORDER = (
    "Violated",
    phrase("limit.cause"),
    "Limit",
    "Bottleneck",
    phrase("term.next_limit"),
    "Cost",
    phrase("accuracy"),
    phrase("error.not_covered"),  # it says why a capacity is marked
    phrase("error"),
    "Uncertainty",
    "Elastic",
)
"""The facts that a reader looks for first."""

_ORDER_WITH_LIMITS = tuple(sorted(_ORDER, key=lambda label: label == phrase("term.next_limit")))
"""The same beside a picture of the limits in order, which has the next one."""


def _cycle(answer: Answer, words: Wording) -> Iterator[CourseSection]:
    if answer.course is not None:
        yield cycle_section(answer.course, answer.population, words.labels)


def _with_charts(live: Mapping[str, Json], courses: Sequence[CourseSection]) -> Mapping[str, Json]:
    """Return what scripts draw, with the charts of courses."""
    figures = live["figures"]
    assert isinstance(figures, Mapping)
    return {**live, "figures": {**figures, **live_charts(courses)}}


_NOTHING_LIVE: Mapping[str, Json] = {"models": [], "columns": [], "figures": {}}


def _figure(model: ir.Model, drawn: DrawnFigure) -> LineChart:
    figure = drawn.figure
    name = figure.parameter or model.population.name
    title = figure.title or figure.name
    indices = visible_points(drawn.at, [c.values for c in drawn.curves], figure.logarithmic)
    said = " ".join(part for part in (figure.source or "", figure.note or "") if part)
    return figure_chart(
        f"figure-{figure_key(model, drawn)}",
        f"{figure.name}: {title}",
        (name, figure.dimension),
        [drawn.at[i] for i in indices],
        drawn.dimension,
        [(line_label(curve), [curve.values[i] for i in indices]) for curve in drawn.curves],
        logarithmic=figure.logarithmic,
        note=f"{lines_known(drawn)} {said}".strip(),
        leads=leads_text(drawn, name),
    )


def _formulas(details: AnswerDetails) -> Iterator[tuple[Explanation, str | None, str]]:
    """Yield loads, latencies, losses and measures of the spec, taken apart."""
    for one in details.formulas:
        view = explanation_view(one.apart)
        known = "" if view.known.is_exact else known_sentence(view.known)
        yield view, typeset(one.named), known
