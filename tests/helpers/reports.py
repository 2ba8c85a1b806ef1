"""Short ways from a spec to its report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from helpers.once import once
from qps.compiler.lower.certainty_asked import without_certainty
from qps.compiler.pipeline import Spec, load
from qps.reports.pages.html import render_html
from qps.reports.pages.live_page import ShownCase, live_page
from qps.reports.pages.page import PageView, page_view
from qps.reports.text.view import solve_view
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.judging import Claims
from qps.solver.odds.odds import odds
from qps.solver.odds.promising import promising
from qps.solver.odds.told import Sampling


def page_of(
    spec: Spec,
    *settings: str,
    scenarios: Sequence[str | None] = (None,),
    others: Sequence[Spec] = (),
    most: int = 60,
    claims: tuple[ClaimResult, ...] | None = None,
) -> PageView:
    """Return the page of a spec: a column for each scenario, and for each of other specs.

    Its claims are judged once in a run, unless they are given.
    """
    cases = [
        ShownCase(one.model, one.configuration(scenario, settings), settings)
        for one in (spec, *others)
        for scenario in scenarios
    ]
    first = cases[0].configuration
    model = promising(spec.model, first)
    solution = solve_model(model, first)
    plain = spec.model if model is spec.model else without_certainty(spec.model)
    found = odds(plain, first, solution, Sampling(samples=2000))
    view = solve_view(spec.model, first, solution, settings, odds=found)
    cases[0] = replace(cases[0], view=view)
    judged = claims_of(spec) if claims is None else claims
    return page_view(spec.model, first, view, solution, judged, (), live_page(cases, (), most))


SPECS = Path(__file__).resolve().parents[2] / "specs"


def claims_of(spec: Spec) -> tuple[ClaimResult, ...]:
    """Return what becomes of the claims of a spec; of one in specs/, they are judged once."""
    judge = Claims(ClaimRunner(model=spec.model)).results
    file = SPECS / Path(spec.model.file).name
    is_ours = file in {one.resolve() for one in spec.files}
    return once(judge, "claims", file.name) if is_ours else judge()


def report_of(file: Path) -> str:
    """Return the page of a spec in specs/ with many of its combinations, drawn once in a run."""
    return once(lambda: html_of(load(file), most=80), "report", file.name)


def html_of(spec: Spec, *settings: str, **options: object) -> str:
    """Return the same page as HTML."""
    return render_html(page_of(spec, *settings, **options))  # type: ignore[arg-type]
