"""The report's page as plain values: what stands in it, in the order in which it is read.

It is what a reader sees whose browser runs no scripts, and what the scripts take over from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.render import plain
from qps.reports.pages.configuration_comparison import Compared
from qps.reports.pages.drawings.charts import Bar, LineChart, bars, figure_chart, line_chart
from qps.reports.pages.drawings.line_thinning import telling_points
from qps.reports.pages.drawings.system_picture import SystemPicture, system_picture
from qps.reports.pages.formula_markup import typeset
from qps.reports.pages.json_values import Json
from qps.reports.pages.live.live_page import figure_key
from qps.reports.pages.page_rows import (
    FactRow,
    RequirementRow,
    ResourceRow,
    assumption_row,
    bottleneck_text,
    cited_rows,
    first_to_saturate,
    requirement_rows,
    resource_row,
    sensitivity_of,
    setting_rows,
)
from qps.reports.pages.plain_sentences import unquoted
from qps.reports.pages.uncertainty_section import OddsSection, odds_section
from qps.reports.text.claims.coverage_text import coverage_lines
from qps.reports.text.claims.verdicts import (
    claimed,
    error,
    interval,
    predicted,
    summary,
    why_missed,
    within,
)
from qps.reports.text.explanations.explanation import Explanation, explanation_view
from qps.reports.text.explanations.figure_text import leads_text, line_label, lines_known
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.wrapping import unbroken
from qps.reports.text.solutions.answer_text import (
    GIVES_WAY,
    carried,
    circumstances,
    remarks,
    title_of,
)
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.change_rows import HELPS
from qps.reports.text.solutions.change_wording import Wording, cost_told, wording
from qps.reports.text.solutions.first_screen import Decision, decision
from qps.reports.text.solutions.headroom_text import beyond_lines
from qps.reports.text.solutions.limit_reasons import answer_sentence
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.certainty_marks import (
    claims_known_line,
    in_words,
    known_sentence,
    parenthesis,
    users_as_known,
    users_with,
)
from qps.reports.text.words.nouns import noun
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.ports import with_ports_together
from qps.reports.text.words.quantities import number
from qps.solver.answer import Answer
from qps.solver.answers.solution import ResourceSolution
from qps.solver.claims.claim_results import ClaimResult, Coverage
from qps.solver.claims.figure_lines import DrawnFigure
from qps.solver.details.answer_details import AnswerDetails
from qps.solver.details.curves import Curves
from qps.solver.search.method import Method

_MOST_LINES = 8
_MOST_BARS = 6


class SimulatedSection(Struct, frozen=True, kw_only=True):
    """What was simulated: for how many users, tables, and lines below them."""

    at: str
    tables: tuple[Table, ...]
    lines: tuple[str, ...]


class PageView(Struct, frozen=True, kw_only=True):
    """What stands on the page beside the answers themselves."""

    view: SolveView
    title: str
    about: tuple[str, ...]
    circumstances: str
    decision: Decision
    scale_up: str
    """The label of the fact that says what would help."""
    answer: str
    saturates: str
    beyond: tuple[str, ...]
    at: str
    next_population: str
    requirements: tuple[RequirementRow, ...]
    loads: LineChart | None
    loads_left_out: int
    needs: LineChart | None
    shares: tuple[Bar, ...]
    resources: tuple[ResourceRow, ...]
    carried: Table
    bottleneck: str
    sensitivity_of: str
    labels: Mapping[str, str]
    """What the numbers are called that move the answer."""
    settings: tuple[FactRow, ...]
    assumptions: tuple[FactRow, ...]
    formulas: tuple[tuple[Explanation, str | None, str], ...]
    """Numbers taken apart, typeset where that is short, and how those not exact are known."""
    formulas_left_out: int
    claims: tuple[tuple[ClaimResult, str, str, str, str, str, str], ...]
    claims_summary: str
    coverage: tuple[str, ...]
    """How many measured values lie within their prediction intervals, a sentence a table."""
    claims_known: str
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    advice: tuple[tuple[str, str, str, str], ...]
    noun: str
    """What the spec calls its users."""
    figures: tuple[LineChart, ...]
    live: Mapping[str, Json]
    """What the scripts of the page work on: see `live_page`."""
    figures_only: bool = False
    simulated: SimulatedSection | None = None
    odds: OddsSection | None = None
    system: SystemPicture | None = None
    carry: tuple[str, ...] = ()
    """What it takes to carry more users, a sentence for each number of them."""
    compared: Compared | None = None
    """What stands side by side, on a page of several configurations."""
    draws_samples: bool = False
    """Whether the page draws every sample of its odds by itself, as none was drawn before."""
    made: str = ""
    """When and with what the page was made, and of which revision of the spec."""


def page_view(
    model: ir.Model,
    configuration: Configuration,
    answer: Answer,
    details: AnswerDetails,
    claims: Sequence[ClaimResult],
    figures: Sequence[tuple[ir.Model, DrawnFigure]] = (),
    live: Mapping[str, Json] | None = None,
    *,
    coverages: Sequence[Coverage] = (),
    figures_only: bool = False,
    simulated: SimulatedSection | None = None,
    carry: Sequence[str] = (),
    compared: Compared | None = None,
    unjudged: int = 0,
    draws_samples: bool = False,
    made: str = "",
) -> PageView:
    """Return everything that the page of one configuration shows: its answer, and details of it.

    So many claims are `unjudged`: none of the `claims` tells what became of them. Without curves
    in its details, loads and needs are drawn by its scripts alone.
    """
    shown, left_out = _resources_shown(answer)
    curves = details.curves
    words = wording(model, configuration, answer)
    called = words.labels.of
    return PageView(
        view=solve_view(answer, words),
        title=title_of(model) if compared is None else compared.title,
        about=_paragraphs(model.doc),
        circumstances=", ".join(circumstances(answer)),
        answer=answer_sentence(answer, words.labels),
        saturates=words.labels.told(first_to_saturate(answer)),
        decision=_decision(answer, words),
        scale_up=HELPS,
        beyond=tuple(map(unquoted, beyond_lines(answer, words.labels))),
        at=f"{answer.at:,}",
        next_population=f"{answer.at + 1:,}" if answer.at < answer.high else "",
        requirements=requirement_rows(answer, called),
        loads=None if curves is None else _loads_chart(answer, curves, shown, called),
        loads_left_out=left_out,
        needs=None if curves is None else _needs_chart(answer, curves, called),
        shares=bars([(called(r.name), r.shares) for r in shown[:_MOST_BARS] if len(r.shares) > 1]),
        resources=tuple(
            resource_row(
                answer,
                resource,
                called(resource.name) + name.removeprefix(resource.name),
                called,
                GIVES_WAY if resource.name in answer.saturated_by_elastic else "",
            )
            for resource, name in with_ports_together(
                answer.by_saturation, attrgetter("name"), answer
            )
        ),
        carried=carried(answer, words.labels),
        bottleneck=words.labels.told(bottleneck_text(answer)),
        sensitivity_of=words.labels.told(sensitivity_of(answer)),
        labels={one.parameter: called(one.parameter) for one in answer.sensitivity},
        settings=setting_rows(model, details.in_force, answer),
        assumptions=(
            *(assumption_row(model, a) for a in answer.assumptions.values()),
            *cited_rows(details.cited),
        ),
        formulas=tuple(_formulas(details)),
        formulas_left_out=details.formulas_left_out,
        claims=tuple(
            (
                one,
                claimed(one),
                within(one),
                predicted(one),
                interval(one),
                error(one),
                why_missed(one),
            )
            for one in claims
        ),
        coverage=tuple(coverage_lines(coverages).splitlines()),
        claims_summary=_summary(claims, unjudged),
        claims_known=claims_known_line(result.known for result in claims),
        warnings=tuple(plain((*answer.spec_warnings, *answer.warnings)).splitlines()),
        remarks=tuple(map(unquoted, remarks(answer, words.labels))),
        advice=tuple(
            (phrase(f"page.way.{one.way}"), one.words, in_words(users_with(one)), cost_told(one))
            for one in words.changes
        ),
        noun=noun(answer.population),
        figures=tuple(_figure(owner, drawn) for owner, drawn in figures),
        live=live or _NOTHING_LIVE,
        figures_only=figures_only,
        simulated=simulated,
        odds=odds_section(answer, words.labels),
        system=None if figures_only else system_picture(model, details, answer.at),
        carry=tuple(map(unquoted, carry)),
        compared=compared,
        draws_samples=draws_samples,
        made=made,
    )


def _summary(claims: Sequence[ClaimResult], unjudged: int) -> str:
    told = [summary(claims)] if claims else []
    return ", ".join([*told, f"{unjudged:,} not evaluated"] if unjudged else told)


def _decision(answer: Answer, words: Wording) -> Decision:
    told = decision(answer, words)
    facts = tuple((label, unbroken(unquoted(fact))) for label, fact in told.facts)
    return Decision(told.headline, facts)


_NOTHING_LIVE: Mapping[str, Json] = {"models": [], "columns": [], "figures": {}}


def _figure(model: ir.Model, drawn: DrawnFigure) -> LineChart:
    figure = drawn.figure
    name = figure.parameter or model.population.name
    title = figure.title or figure.name
    kept = telling_points(drawn.at, [c.values for c in drawn.curves], figure.logarithmic)
    said = " ".join(part for part in (figure.source or "", figure.note or "") if part)
    return figure_chart(
        f"figure-{figure_key(model, drawn)}",
        f"{figure.name}: {title}",
        (name, figure.dimension),
        [drawn.at[i] for i in kept],
        drawn.dimension,
        [(line_label(curve), [curve.values[i] for i in kept]) for curve in drawn.curves],
        logarithmic=figure.logarithmic,
        note=f"{lines_known(drawn)} {said}".strip(),
        leads=leads_text(drawn, name),
    )


def _paragraphs(doc: str | None) -> tuple[str, ...]:
    """Return the doc string without its first line, which is the title."""
    lines = (doc or "").splitlines()[1:]
    paragraphs = "\n".join(lines).split("\n\n")
    return tuple(" ".join(p.split()) for p in paragraphs if p.strip())


# -- pictures ----------------------------------------------------------------------------


def _resources_shown(answer: Answer) -> tuple[list[ResourceSolution], int]:
    """Return the resources worth a line: the most heavily loaded ones at the answer."""
    ordered = sorted(answer.resources, key=lambda r: -r.utilization_at_limit)
    return ordered[:_MOST_LINES], max(0, len(ordered) - _MOST_LINES)


def _loads_chart(
    answer: Answer,
    curves: Curves,
    shown: list[ResourceSolution],
    called: Callable[[str], str],
) -> LineChart | None:
    if not shown:
        return None
    is_planned = any(r.target != 1 for r in shown)
    at = curves.at
    lines = [(called(r.name), [v / r.target for v in curves.loads[r.name].values]) for r in shown]
    marks = [
        (called(r.name), r.saturation.at)
        for r in shown
        if r.saturation.at is not None and r.saturation.method is not Method.AT_START
    ]
    name = answer.population
    return line_chart(
        "loads",
        phrase(f"page.utilization{'.planned' * is_planned}", name=name),
        f"Utilization over {name} from {at[0]:,.0f} to {at[-1]:,.0f}; "
        + "; ".join(f"{mark} saturates at {number(where)}" for mark, where in marks),
        name,
        at,
        lines,
        marks=marks,
        region=_acceptable(answer),
        limit_label="target" if is_planned else "saturation",
    )


def _acceptable(answer: Answer) -> tuple[float, float, str] | None:
    if answer.capacity is None:
        return None
    low, high = answer.low, answer.capacity
    told = phrase("page.supported", low=f"{low:,}", high=f"{high:,}")
    if not answer.known.is_exact:
        told += f" ({users_as_known(answer.known)})"
    return float(low), float(high), told


def _needs_chart(answer: Answer, curves: Curves, called: Callable[[str], str]) -> LineChart | None:
    """Draw each requirement as a share of its limit, and the quality that they make."""
    lines: list[tuple[str, Sequence[float]]] = []
    for one, curve in zip(answer.requirements, curves.requirements, strict=True):
        if one.at_most and one.limit > 0:
            values = [v / one.limit for v in curve.values]
            lines.append((f"{called(one.name)}{parenthesis(curve.known)}", values))
    if curves.quality is not None:
        known = parenthesis(curves.quality.known)
        lines.append((f"quality ({answer.quality.metric}){known}", curves.quality.values))
    if not lines:
        return None
    name = answer.population
    return line_chart(
        "needs",
        phrase("page.requirements", name=name),
        "Each measure as a share of its limit; above 100 % the requirement fails",
        name,
        curves.at,
        lines[:_MOST_LINES],
        region=_acceptable(answer),
        limit_label="limit",
    )


def _formulas(details: AnswerDetails) -> Iterator[tuple[Explanation, str | None, str]]:
    """Yield loads, latencies, losses and measures of the spec, taken apart."""
    for one in details.formulas:
        told = explanation_view(one.apart)
        known = "" if told.known.is_exact else known_sentence(told.known)
        yield told, typeset(one.named), known
