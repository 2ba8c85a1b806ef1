"""The report's page as plain values: what stands in it, in the order in which it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qps.compiler import ir
from qps.compiler.configuration import Configuration, in_each_mode, in_force
from qps.compiler.dimension import DIMENSIONLESS
from qps.compiler.render import plain
from qps.reports.charts import Bar, LineChart, bars, figure_chart, line_chart
from qps.reports.explain import Explanation, explain
from qps.reports.figures import leads_text
from qps.reports.outlook import outlook_lines
from qps.reports.quantities import is_share, number, percent, quantity
from qps.reports.table import Table
from qps.reports.text import (
    advice_rows,
    carried,
    claimed,
    claims_summary,
    heaviest_in_words,
    predicted,
    remarks,
    title_of,
)
from qps.reports.view import SolveView, circumstances
from qps.solver.claims import ClaimResult
from qps.solver.figures import DrawnFigure
from qps.solver.solution import CriterionSolution, Method, ResourceSolution, Solution
from qps.solver.sweep import sweep

_POINTS = 181
_MOST_LINES = 8
_MOST_BARS = 6
_MOST_FORMULAS = 40
_TELLING = 0.005  # what moves the answer by less reads as zero


@dataclass(frozen=True)
class RequirementRow:
    """A requirement as a light: met at the answer or not, and one user further."""

    measure: str
    limit: str
    value: str
    beyond: str
    met_up_to: str
    is_met: bool
    gives_out: bool


@dataclass(frozen=True)
class ResourceRow:
    """A resource: load at the answer, saturation and how it was found, main shares."""

    name: str
    load: str
    saturates_at: str
    method: str
    shares: str
    is_bottleneck: bool


@dataclass(frozen=True)
class SensitivityRow:
    """An elasticity with the length of its bar in per cent of the longest."""

    parameter: str
    elasticity: str
    length: float
    helps: bool


@dataclass(frozen=True)
class AdviceRow:
    """What would help: in which way, what to do, and how many users it gives."""

    way: str
    change: str
    users: str


@dataclass(frozen=True)
class FactRow:
    """A fact with its value, where it is stated, and who says so."""

    name: str
    value: str
    place: str
    source: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim and what the model says of it."""

    mark: str
    name: str
    title: str
    claimed: str
    predicted: str
    difference: str
    within: str
    source: str
    note: str
    fitted: str


@dataclass(frozen=True)
class PageView:
    """The whole page."""

    title: str
    about: tuple[str, ...]
    file: str
    circumstances: str
    answer: str
    outlook: tuple[str, ...]
    is_answered: bool
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
    sensitivity: tuple[SensitivityRow, ...]
    sensitivity_of: str
    settings: tuple[FactRow, ...]
    assumptions: tuple[FactRow, ...]
    formulas: tuple[Explanation, ...]
    formulas_left_out: int
    claims: tuple[ClaimRow, ...]
    claims_summary: str
    warnings: tuple[str, ...]
    remarks: tuple[str, ...]
    advice: tuple[AdviceRow, ...]
    figures: tuple[LineChart, ...]
    figures_only: bool = False


def page_view(
    model: ir.Model,
    configuration: Configuration,
    view: SolveView,
    solution: Solution,
    claims: Sequence[ClaimResult],
    figures: Sequence[DrawnFigure] = (),
    *,
    figures_only: bool = False,
) -> PageView:
    """Return everything that the page of one configuration shows."""
    shown, left_out = _resources_shown(solution)
    formulas = _formulas(solution)
    return PageView(
        title=title_of(model),
        about=_paragraphs(model.doc),
        file=view.file,
        circumstances=", ".join(circumstances(view)),
        answer=view.answer,
        outlook=tuple(outlook_lines(view, solution)),
        is_answered=view.largest_acceptable is not None,
        at=f"{view.at:,}",
        next_population=f"{view.at + 1:,}" if view.at < view.population.to else "",
        requirements=_requirements(view, solution),
        loads=_loads_chart(view, solution, shown),
        loads_left_out=left_out,
        needs=_needs_chart(view, solution),
        shares=bars([(r.name, r.shares) for r in shown[:_MOST_BARS] if len(r.shares) > 1]),
        resources=tuple(_resource_row(view, r) for r in _by_saturation(solution)),
        carried=carried(view),
        bottleneck=_bottleneck(view),
        sensitivity=_sensitivity(view),
        sensitivity_of=_sensitivity_of(view),
        settings=_settings(model, configuration, view),
        assumptions=tuple(
            FactRow(a.name, a.text, a.span.place, " ".join((a.source or "").split()))
            for a in solution.graph.assumptions.values()
        ),
        formulas=formulas[:_MOST_FORMULAS],
        formulas_left_out=max(0, len(formulas) - _MOST_FORMULAS),
        claims=tuple(_claim(result) for result in claims),
        claims_summary=claims_summary(claims) if claims else "",
        warnings=tuple(plain(solution.warnings).splitlines()),
        remarks=remarks(view, solution),
        advice=tuple(AdviceRow(*row) for row in advice_rows(view)),
        figures=tuple(_figure(drawn, view) for drawn in figures),
        figures_only=figures_only,
    )


def _figure(drawn: DrawnFigure, view: SolveView) -> LineChart:
    figure = drawn.figure
    name = figure.parameter or view.population.name
    title = figure.title or figure.name
    said = " ".join(part for part in (figure.source or "", figure.note or "") if part)
    return figure_chart(
        f"figure-{figure.name}",
        f"{figure.name}: {title}",
        (name, figure.dimension),
        drawn.at,
        drawn.dimension,
        [(curve.label, curve.values) for curve in drawn.curves],
        logarithmic=figure.logarithmic,
        note=said,
        leads=leads_text(drawn, name),
    )


def _paragraphs(doc: str | None) -> tuple[str, ...]:
    """Return the doc string without its first line, which is the title."""
    lines = (doc or "").splitlines()[1:]
    paragraphs = "\n".join(lines).split("\n\n")
    return tuple(" ".join(p.split()) for p in paragraphs if p.strip())


# -- requirements ------------------------------------------------------------------------


def _requirements(view: SolveView, solution: Solution) -> tuple[RequirementRow, ...]:
    rows = [_requirement(view, solution, item) for item in solution.requirements]
    if view.quality.at_limit is not None:
        met = view.quality.met_up_to
        rows.append(
            RequirementRow(
                f"quality ({view.quality.metric})",
                "<= 1",
                number(view.quality.at_limit),
                "",
                _up_to(met, view),
                is_met=view.quality.at_limit <= 1,
                gives_out=view.limited_by == "quality",
            )
        )
    return tuple(rows)


def _requirement(view: SolveView, solution: Solution, item: CriterionSolution) -> RequirementRow:
    criterion = item.criterion
    share = is_share(criterion.name) and criterion.dimension == DIMENSIONLESS
    limit = float(criterion.limit.xreplace(solution.graph.values))
    operator = ("<" if criterion.at_most else ">") + ("" if criterion.strict else "=")

    def told(value: float) -> str:
        return quantity(value, criterion.dimension, share=share)

    return RequirementRow(
        criterion.name,
        f"{operator} {told(limit)}",
        told(item.value_at_limit),
        "" if item.value_beyond is None else told(item.value_beyond),
        _up_to(item.met_up_to, view),
        is_met=item.met_up_to is not None and item.met_up_to >= view.at,
        gives_out=view.limited_by == criterion.name,
    )


def _up_to(met: int | None, view: SolveView) -> str:
    if met is None:
        return "never"
    return "the whole range" if met == view.population.to else f"{met:,}"


# -- pictures ----------------------------------------------------------------------------


def _by_saturation(solution: Solution) -> list[ResourceSolution]:
    return sorted(
        solution.resources,
        key=lambda r: (r.saturation.at is None, r.saturation.at or 0.0, -r.load_at_limit),
    )


def _resources_shown(solution: Solution) -> tuple[list[ResourceSolution], int]:
    """Return the resources worth a line: the most heavily loaded ones at the answer."""
    ordered = sorted(solution.resources, key=lambda r: -r.load_at_limit)
    return ordered[:_MOST_LINES], max(0, len(ordered) - _MOST_LINES)


def _range_shown(view: SolveView, solution: Solution) -> tuple[float, float]:
    """Return the populations to draw: somewhat past the answer and the first saturations."""
    points = sorted(r.saturation.at for r in solution.resources if r.saturation.at is not None)
    wanted = [1.25 * view.at, *(1.15 * point for point in points[:2])]
    if len(points) == 0 and view.largest_acceptable == view.population.to:
        wanted.append(float(view.population.to))
    low = float(view.population.from_)
    # A second saturation far away would squash what matters into a corner.
    nearest = max(1.25 * view.at, 1.25 * points[0] if points else 0.0)
    return low, max(min(max(wanted), 3 * nearest), low + 4)


def _columns(view: SolveView, solution: Solution) -> tuple[list[float], dict[str, list[float]]]:
    low, high = _range_shown(view, solution)
    at = np.linspace(low, high, _POINTS).tolist()
    with np.errstate(all="ignore"):
        table = sweep(solution.graph, at)
    return at, {name: values.tolist() for name, values in table.items()}


def _loads_chart(
    view: SolveView, solution: Solution, shown: list[ResourceSolution]
) -> LineChart | None:
    if not shown:
        return None
    at, columns = _columns(view, solution)
    is_planned = any(r.target != 1 for r in shown)
    title = "Load of each resource" + ", as a share of its target," * is_planned
    lines = [(r.name, [v / r.target for v in columns[f"{r.name}.load"]]) for r in shown]
    marks = [
        (r.name, r.saturation.at)
        for r in shown
        if r.saturation.at is not None and r.saturation.method is not Method.AT_START
    ]
    name = view.population.name
    return line_chart(
        "loads",
        f"{title} against {name}",
        f"Lines of load over {name} from {at[0]:,.0f} to {at[-1]:,.0f}; "
        + "; ".join(f"{mark} saturates at {number(where)}" for mark, where in marks),
        name,
        at,
        lines,
        marks=marks,
        region=_acceptable(view),
        limit_label="target" if is_planned else "saturation",
    )


def _acceptable(view: SolveView) -> tuple[float, float, str] | None:
    if view.largest_acceptable is None:
        return None
    low, high = view.population.from_, view.largest_acceptable
    return float(low), float(high), f"acceptable: {low:,} to {high:,}"


def _needs_chart(view: SolveView, solution: Solution) -> LineChart | None:
    """Draw each requirement as a share of its limit, and the quality that they make."""
    graph = solution.graph
    at, columns = _columns(view, solution)
    lines: list[tuple[str, list[float]]] = []
    for item in solution.requirements:
        criterion = item.criterion
        limit = float(criterion.limit.xreplace(graph.values))
        if criterion.at_most and limit > 0:
            lines.append((criterion.name, [v / limit for v in columns[criterion.name]]))
    if "quality" in columns:
        lines.append((f"quality ({graph.metric.value})", columns["quality"]))
    if not lines:
        return None
    name = view.population.name
    return line_chart(
        "needs",
        f"How near each requirement is to its limit, against {name}",
        "Each measure as a share of its limit; at 100 % it is no longer acceptable",
        name,
        at,
        lines[:_MOST_LINES],
        region=_acceptable(view),
        limit_label="limit",
    )


# -- tables ------------------------------------------------------------------------------


def _resource_row(view: SolveView, resource: ResourceSolution) -> ResourceRow:
    saturation = resource.saturation
    told = "never" if saturation.at is None else number(saturation.at)
    if resource.target != 1 and saturation.at is not None:
        told += f" ({percent(resource.target)})"
    if saturation.method is Method.AT_START:
        told = "from the start"
    shares = [f"{by} {percent(share)}" for by, share in resource.shares.items() if share > 0]
    bottleneck = view.bottleneck.resource if view.bottleneck else ""
    return ResourceRow(
        resource.name,
        percent(resource.load_at_limit),
        told,
        "" if saturation.method in (Method.NONE, Method.AT_START) else saturation.method.value,
        ", ".join(shares),
        is_bottleneck=resource.name == bottleneck,
    )


def _bottleneck(view: SolveView) -> str:
    found = view.bottleneck
    if found is None:
        return ""
    name = view.population.name
    if not found.changes:
        return f"{found.initially} is the {heaviest_in_words(view).lower()} throughout."
    path = [f"{found.initially} at first"]
    path += [f"{c.to} from {name} = {number(c.at)} on" for c in found.changes]
    return f"{heaviest_in_words(view)}: {', '.join(path)}."


def _sensitivity(view: SolveView) -> tuple[SensitivityRow, ...]:
    if not view.sensitivity:
        return ()
    longest = max(abs(item.elasticity) for item in view.sensitivity)
    return tuple(
        SensitivityRow(
            item.parameter,
            f"{item.elasticity:+.2f} %",
            100 * abs(item.elasticity) / longest,
            helps=item.elasticity > 0,
        )
        for item in view.sensitivity
        if abs(item.elasticity) >= _TELLING
    )


def _sensitivity_of(view: SolveView) -> str:
    if view.limited_by is None and view.sensitivity_of is not None:
        return f"the saturation point of {view.sensitivity_of.removesuffix('.load')}"
    return "the largest acceptable number of users"


def _settings(
    model: ir.Model, configuration: Configuration, view: SolveView
) -> tuple[FactRow, ...]:
    """Return the choices in force: population, mode, options, machines and networks in place."""
    every = in_each_mode(model, configuration)
    settled = in_force(next(each for each in every if each.mode == view.mode))
    population = view.population
    place = model.population.span.place if model.population.span else ""
    rows = [FactRow(population.name, f"{population.from_:,} to {population.to:,}", place, "")]
    rows += [
        FactRow("mode", mode.name, mode.span.place, " ".join((mode.doc or "").split()))
        for mode in model.modes
        if mode.name == view.mode
    ]
    if view.case is not None:
        set_at = configuration.case_from.place if configuration.case_from else ""
        others = ", ".join(case.value for case in ir.Case if case.value != view.case)
        rows.append(FactRow("case", f"{view.case} (not {others})", set_at, ""))
    for option in model.options:
        chosen = settled.options[option.name]
        others = ", ".join(choice for choice in option.choices if choice != chosen)
        doc = " ".join((option.doc or "").split())
        rows.append(FactRow(option.name, f"{chosen} (not {others})", option.span.place, doc))
    for node in settled.nodes.values():
        machine = model.machines[node.machine]
        said = machine.source or machine.doc or ""
        rows.append(FactRow(node.name, node.machine, node.span.place, " ".join(said.split())))
    for link in settled.links.values():
        network = model.networks[link.network]
        said = network.source or network.doc or ""
        rows.append(FactRow(link.name, link.network, link.span.place, " ".join(said.split())))
    return tuple(rows)


def _formulas(solution: Solution) -> tuple[Explanation, ...]:
    """Return every load, latency, loss and measure of the spec, taken apart."""
    graph = solution.graph
    names = [resource.name for resource in _by_saturation(solution)]
    for stream in graph.streams:
        names += [f"{stream}.latency", f"{stream}.loss"]
        names += [f"{stream}.jitter"] if graph.streams[stream].jitter else []
    names += list(graph.measures)
    if graph.quality is not None:
        names.append("quality")
    for name, is_running in (("cost", False), ("running_cost", True)):
        names += [name] if graph.cost(is_running=is_running) is not None else []
    return tuple(explain(graph, name, solution.at) for name in names)


def _claim(result: ClaimResult) -> ClaimRow:
    difference = result.relative_difference
    return ClaimRow(
        {True: "holds", False: "fails", None: "shown"}[result.holds],
        result.name,
        result.title or "",
        claimed(result),
        predicted(result),
        "" if difference is None else f"{difference:+.1%}",
        result.within or "",
        result.source or "",
        result.note or "",
        result.fitted or "",
    )
