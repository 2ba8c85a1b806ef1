"""Short ways from a spec to its report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

from msgspec.structs import replace

from helpers.run_cache import once
from helpers.specs import checked
from qps.commands.terminal.progress import Progress
from qps.commands.test import tested_specs
from qps.compiler.pipeline import Spec, load
from qps.reports.pages.claims_section import claims_section
from qps.reports.pages.html_page import render_html
from qps.reports.pages.live.live_page import live_page
from qps.reports.pages.report_page import PageView, page_view
from qps.reports.text.claims.claim_formats import ClaimOutcomes
from qps.reports.text.claims.claim_summary import UntestedCounts
from qps.reports.text.solutions.capacity_text import at_headline
from qps.simulation.claim_simulator import claim_simulator
from qps.solver.claims.claim_evaluation import Claims
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.simulated_claims import Simulator
from qps.solver.details.answer_details import answer_details
from qps.solver.solved_spec import solved_spec
from qps.solver.uncertainty.interval_result import PROBABILITY, Sampling
from qps.solver.variants.model_variants import ShownCase, model_variants


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
    found = solved_spec(spec, scenarios[0], settings, advice=False, sampling=Sampling(samples=2000))
    cases = [ShownCase(found.stated, found.configuration, settings, found.answer)]
    others_shown = [(spec, scenario) for scenario in scenarios[1:]]
    others_shown += [(one, scenario) for one in others for scenario in scenarios]
    for one, scenario in others_shown:
        cases.append(ShownCase(one.model, one.configuration(scenario, settings), settings))
    judged = claims_of(spec) if claims is None else claims
    live = live_page(model_variants(cases, most))
    details = answer_details(
        found.model, found.configuration, found.graph, at_headline(found.answer)
    )
    return page_view(
        found.model, found.configuration, found.answer, details, claims_section(judged), (), live
    )


SPECS = Path(__file__).resolve().parents[2] / "specs"


def claims_of(spec: Spec) -> tuple[ClaimResult, ...]:
    """Return what becomes of the claims of a spec; of one below specs/, they are judged once."""
    for file in spec.files:
        if file.name == Path(spec.model.file).name and is_ours(file):
            return claims_in(file)
    return Claims(ClaimRunner(model=spec.model)).results()


def claims_in(file: Path) -> tuple[ClaimResult, ...]:
    """Return what becomes of the claims of a file below specs/, judged once in a run."""
    tested = tested_once(file)
    assert not tested.wrong, tested.wrong
    return tested.results


_SECONDS = 60.0
"""The default of `qps test --seconds`."""


def is_ours(file: Path) -> bool:
    """Return whether a file lies below specs/."""
    return file.resolve().is_relative_to(SPECS)


def tested_once(file: Path) -> ClaimOutcomes:
    """Return what `qps test` finds in a spec below specs/, which is judged once in a run.

    Whoever judged it may have named it by another path: its claims have the path that is given.
    """

    def tested() -> ClaimOutcomes:
        return tested_specs([file], None, claim_simulator(_SECONDS), PROBABILITY)

    found = once(tested, "tested", str(file.resolve().relative_to(SPECS)))
    results = tuple(_at_path(one, str(file)) for one in found.results)
    return replace(found, results=results)


def _at_path(result: ClaimResult, path: str) -> ClaimResult:
    file = path if result.file == result.spec else result.file
    return replace(result, spec=path, file=file)


def judged_together(
    files: Iterable[Path],
    progress: Progress | None,
    simulator: Simulator | None,
    probability: float,
) -> ClaimOutcomes:
    """Return what `qps test` finds in specs: of those below specs/, what was found in this run."""
    is_plain = simulator is not None and probability == PROBABILITY
    each = [
        tested_once(file)
        if is_plain and is_ours(file)
        else tested_specs([file], progress, simulator, probability)
        for file in files
    ]
    return ClaimOutcomes(
        results=tuple(chain.from_iterable(one.results for one in each)),
        seconds=tuple(chain.from_iterable(one.seconds for one in each)),
        diagnostics=tuple(chain.from_iterable(one.diagnostics for one in each)),
        wrong=tuple(chain.from_iterable(one.wrong for one in each)),
        untested=UntestedCounts(
            sum(one.untested.specs for one in each), sum(one.untested.claims for one in each)
        ),
        coverages=tuple(chain.from_iterable(one.coverages for one in each)),
    )


def report_of(file: Path) -> str:
    """Return the page of a spec in specs/ with many of its combinations, drawn once in a run."""
    return once(lambda: html_of(load(file), most=80), "report", file.name)


def html_of(spec: Spec, *settings: str, **options: object) -> str:
    """Return the same page as HTML."""
    return render_html(page_of(spec, *settings, **options))  # type: ignore[arg-type]


def html_of_text(text: str) -> str:
    """Return the page of a text as HTML, drawn once in a run: for texts that several tests show."""
    return once(lambda: html_of(checked(text)), "text", text)
