"""Charts of a page over the population: utilization, requirements, and shares of demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from qps.reports.pages.drawings.charts import LineChart, line_chart
from qps.reports.pages.drawings.stacked_bars import Bar, bars
from qps.reports.text.solutions.capacity_text import has_nominal
from qps.reports.text.words.certainty_marks import parenthesis, users_as_known
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number
from qps.solver.answer import Answer
from qps.solver.answers.solution import ResourceSolution
from qps.solver.details.curves import Curves
from qps.solver.search.method import SearchMethod

_MOST_LINES = 8
_MOST_BARS = 6


class PopulationCharts(Struct, frozen=True, kw_only=True):
    """Charts of loads and needs over the population, and of what loads the fullest resources.

    Without curves, the scripts of the page draw the first two.
    """

    loads: LineChart | None
    needs: LineChart | None
    shares: tuple[Bar, ...]


def population_charts(
    answer: Answer, curves: Curves | None, called: Callable[[str], str]
) -> PopulationCharts:
    """Return the charts of an answer, in which resources are `called` by their labels."""
    shown = _resources_shown(answer)
    return PopulationCharts(
        loads=None if curves is None else _loads_chart(answer, curves, shown, called),
        needs=None if curves is None else _needs_chart(answer, curves, called),
        shares=bars([(called(r.name), r.shares) for r in shown[:_MOST_BARS] if len(r.shares) > 1]),
    )


# -- pictures ----------------------------------------------------------------------------


def _resources_shown(answer: Answer) -> list[ResourceSolution]:
    """Return the resources worth a line: the most heavily loaded ones at the answer."""
    ordered = sorted(answer.resources, key=lambda r: -r.utilization_at_limit)
    return ordered[:_MOST_LINES]


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
        if r.saturation.at is not None and r.saturation.method is not SearchMethod.AT_START
    ]
    name = answer.population
    return line_chart(
        "loads",
        phrase(f"page.utilization{'.planned' * is_planned}", name=name),
        phrase("report.utilization_chart", name=name, low=at[0], high=at[-1])
        + "; ".join(
            phrase("report.saturates_at", mark=mark, value=number(where)) for mark, where in marks
        ),
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
    label = phrase("page.supported", low=f"{low:,}", high=f"{high:,}")
    if not answer.known.is_exact:
        label += f" ({users_as_known(answer.known)})"
    if has_nominal(answer):
        label += f" {phrase('with_nominal')}"
    return float(low), float(high), label


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
        phrase("report.measure_chart"),
        name,
        curves.at,
        lines[:_MOST_LINES],
        region=_acceptable(answer),
        limit_label="limit",
    )
