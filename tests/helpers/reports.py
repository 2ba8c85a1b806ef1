"""Short ways from a spec to its report."""

from __future__ import annotations

from collections.abc import Sequence

from qps.compiler.pipeline import Spec
from qps.reports.html import render_html
from qps.reports.live_page import ShownCase, live_page
from qps.reports.page import PageView, page_view
from qps.reports.view import solve_view
from qps.solver.claims import Laboratory
from qps.solver.modes import solve_model


def page_of(
    spec: Spec,
    *settings: str,
    scenarios: Sequence[str | None] = (None,),
    others: Sequence[Spec] = (),
    most: int = 60,
) -> PageView:
    """Return the page of a spec: a column for each scenario, and for each of other specs."""
    cases = [
        ShownCase(one.model, one.configuration(scenario, settings), settings)
        for one in (spec, *others)
        for scenario in scenarios
    ]
    first = cases[0].configuration
    solution = solve_model(spec.model, first)
    view = solve_view(spec.model, first, solution, settings)
    claims = Laboratory(spec.model).results()
    return page_view(spec.model, first, view, solution, claims, (), live_page(cases, (), most))


def html_of(spec: Spec, *settings: str, **options: object) -> str:
    """Return the same page as HTML."""
    return render_html(page_of(spec, *settings, **options))  # type: ignore[arg-type]
