"""The page of a plan: the cheapest configuration, what costs how much, and for how many users."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.reports.pages.drawings.chart_axes import (
    LEFT,
    RIGHT,
    WIDTH,
    ChartAxis,
    population_ticks,
    tick_at,
    value_axis,
)
from qps.reports.pages.drawings.charts import ChartMark, ChartSeries, LineChart
from qps.reports.pages.plan_choices import with_counts_first
from qps.reports.text.changes.plan_text import (
    capacity_of,
    front_table,
    plan_notes,
    plan_summary,
    plan_title,
    reliable_users,
    requirement_table,
)
from qps.reports.text.changes.purchase_text import purchase_facts, purchase_table
from qps.reports.text.layout.table import Table
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import cost_scale, money
from qps.solver.cheapest.plan_result import CostAtUsers, Plan, PlannedConfiguration

_COLOR, _BETWEEN = "var(--c0)", "var(--c6)"
_BEYOND = 1.25
"""How much further than the largest population the picture goes at most."""


_LETTER = 12
"""How wide a letter is at most: texts are larger on a phone."""


class PlanPage(Struct, frozen=True, kw_only=True):
    """What stands on the page of a plan."""

    title: str
    place: str
    is_supported: bool
    headline: str
    choices: str
    facts: tuple[tuple[str, str], ...]
    configurations: Table
    chart: LineChart | None
    front: Table
    limits: Table
    purchase_facts: tuple[str, ...]
    purchases: Table
    notes: tuple[str, ...]


def plan_page(plan: Plan, place: str, labels: Labels = PLAIN) -> PlanPage:
    """Return the page of a plan."""
    plan = with_counts_first(plan)
    summary = plan_summary(plan, labels)
    return PlanPage(
        title=plan_title(plan),
        place=printable(place),
        is_supported=plan.cheapest is not None,
        headline=summary.headline,
        choices=summary.choices,
        facts=summary.facts,
        configurations=_configurations(plan, labels),
        chart=_chart(plan),
        front=front_table(plan),
        limits=requirement_table(plan, labels),
        purchase_facts=tuple(text for _, text in purchase_facts(plan.purchases)),
        purchases=purchase_table(plan.purchases),
        notes=tuple(plan_notes(plan, labels)),
    )


def _configurations(plan: Plan, labels: Labels) -> Table:
    """Return the cheapest configuration beside the runner-up, or the one that supports most."""
    named = [
        (heading, one)
        for heading, one in (
            ("plan.cheapest", plan.cheapest),
            ("plan.runner_up", plan.runner_up),
            ("plan.most", plan.most),
        )
        if one is not None
    ]
    every = [one for _, one in named]
    rows = [
        (phrase("plan.cost"), *(money(one.cost, plan.dimension) for one in every)),
        (phrase("plan.capacity"), *(capacity_of(plan, one, labels) for one in every)),
        (phrase("plan.reliable"), *(reliable_users(plan, one) for one in every)),
        *_choice_rows(every),
    ]
    headings = (phrase("plan.property"), *(phrase(heading) for heading, _ in named))
    return Table(headings=headings, rows=tuple(rows) if every else ())


def _choice_rows(every: list[PlannedConfiguration]) -> Iterator[tuple[str, ...]]:
    for places in zip(*(one.choices for one in every), strict=True):
        name, _ = places[0]
        yield printable(name), *(printable(label) for _, label in places)


def _chart(plan: Plan) -> LineChart | None:
    """Return what the cheapest configurations cost over the users that they support."""
    rows = [(one, one.configuration) for one in plan.front if one.configuration is not None]
    if len(rows) <= 1:
        return None
    largest = max(one.users for one, _ in rows)
    ends = [min(found.capacity or one.users, round(_BEYOND * largest)) for one, found in rows]
    factor, unit = cost_scale(max(found.cost for _, found in rows), plan.dimension)
    costs = [found.cost / factor for _, found in rows]
    x = ChartAxis(low=0, high=max(*ends, plan.users), start=LEFT, end=WIDTH - RIGHT)
    y = value_axis([0.0, *costs], False)  # noqa: FBT003
    steps = "".join(
        f"M{x.at(one.users):.1f} {y.at(cost):.1f}H{x.at(end):.1f}"
        for (one, _), cost, end in zip(rows, costs, ends, strict=True)
    )
    between = "".join(
        f"M{x.at(end):.1f} {y.at(cost):.1f}L{x.at(after.users):.1f} {y.at(more):.1f}"
        for end, cost, (after, _), more in zip(ends, costs, rows[1:], costs[1:], strict=False)
    )
    return LineChart(
        key="front",
        title=phrase("plan.chart", unit=unit),
        description=phrase("plan.chart.description"),
        x_label=phrase("plan.users_heading"),
        x_ticks=population_ticks(x),
        y_ticks=tuple(tick_at(y, value) for value in y.ticks(5)),
        series=(
            ChartSeries(phrase("plan.chart.between"), between, _BETWEEN, "2 4"),
            ChartSeries(phrase("plan.chart.cheapest"), steps, _COLOR, ""),
        ),
        marks=tuple(_marks(plan, rows, x, y, factor)),
        rows=(),
    )


def _marks(
    plan: Plan,
    rows: list[tuple[CostAtUsers, PlannedConfiguration]],
    x: ChartAxis,
    y: ChartAxis,
    factor: float,
) -> Iterator[ChartMark]:
    """Yield a point for each population; the one that is planned for says what it costs."""
    points = [(one.users, found.cost, "") for one, found in rows if one.users != plan.users]
    best = plan.cheapest
    if best is not None:
        label = phrase(
            "plan.chart.here",
            users=counted(plan.users, plan.population),
            cost=money(best.cost, plan.dimension),
        )
        points.append((plan.users, best.cost, label))
    for users, cost, label in points:
        across, up = x.at(users), y.at(cost / factor)
        is_left = across + (len(label) + 2) * _LETTER > WIDTH - RIGHT
        yield ChartMark(
            x=across,
            y=up,
            label=label,
            label_x=across - 8 if is_left else across + 8,
            label_y=up - 10 if is_left else up + 20,
            anchor="end" if is_left else "start",
            color=_COLOR,
        )
