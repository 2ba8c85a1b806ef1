"""Test results as JSON values."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import asdict

from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.claims.claim_formats import ClaimOutcomes, UntestedReason
from qps.reports.text.claims.claim_quantities import within
from qps.reports.text.claims.claim_summary import InFolder, in_folders, summary, tally
from qps.reports.text.schemas.json_encoding import as_json
from qps.solver.claims.claim_results import ClaimResult, Coverage, PredictionInterval


class PublishedCounts(Struct, frozen=True, kw_only=True):
    """Number of published claims that pass, without and with fitted inputs.

    The latter are divided: `on_other_fits` rest on what was fitted to other numbers,
    `fitted_to_it` on what was fitted to the very number, arithmetic among them.
    """

    unfitted: int
    fitted: int
    on_other_fits: int
    fitted_to_it: int


class ClaimView(Struct, frozen=True, kw_only=True):
    """A claim or a measured value, with its claimed and predicted values and its verdict."""

    name: str
    title: str | None
    kind: str
    file: str
    line: int
    claimed: float | str | None
    predicted: float | tuple[float, ...] | None
    difference: float | None
    relative_difference: float | None
    unit: str
    within: str | None
    holds: bool | None
    verdict: str
    published: bool
    origin: str
    fitted_to_it: bool
    source: str | None
    note: str | None
    fitted: str | None
    missed: str | None
    excepted: str | None
    counted: str | None
    interval: PredictionInterval | None
    half_width: float | None
    undecided: str | None
    known: Certainty
    sides_known: tuple[Certainty, ...]


class CoverageView(Coverage, frozen=True, kw_only=True):
    """Number of measured values within their prediction intervals, and its probability."""

    chance: float | None


class TestView(Struct, frozen=True, kw_only=True):
    """Output of `qps test --format json`."""

    schema: str
    passed: int
    failed: int
    shown: int
    missed: int
    accepted: int
    not_simulated: int
    published: PublishedCounts
    arithmetic: int
    of_the_model: int
    without_a_claim: int
    unread: int
    unanswered: int
    summary: str
    folders: tuple[InFolder, ...]
    expectations: tuple[ClaimView, ...]
    coverage: tuple[CoverageView, ...]
    wrong: tuple[UntestedReason, ...]


def claims_json(tested: ClaimOutcomes) -> object:
    """Return what `qps test --format json` prints: one entry for each claim and each row."""
    results = tested.results
    found = tally(results)
    return as_json(
        TestView(
            schema="qps/test/2",
            passed=found.holding,
            failed=found.failed,
            shown=found.shown,
            missed=found.missed,
            accepted=found.accepted,
            not_simulated=found.not_simulated,
            published=PublishedCounts(
                unfitted=found.unfitted,
                fitted=found.on_other_fits + found.fitted_to_it,
                on_other_fits=found.on_other_fits,
                fitted_to_it=found.fitted_to_it,
            ),
            arithmetic=found.arithmetic,
            of_the_model=found.own,
            without_a_claim=found.unclaimed,
            unread=tested.untested.specs,
            unanswered=tested.untested.claims,
            summary=summary(results, tested.untested),
            folders=in_folders(results),
            expectations=tuple(_entry(result) for result in results),
            coverage=tuple(_coverage(one) for one in tested.coverages),
            wrong=tested.wrong,
        )
    )


def _coverage(one: Coverage) -> CoverageView:
    return CoverageView(**asdict(one), chance=one.likely_by_chance if one.count else None)


def _entry(result: ClaimResult) -> ClaimView:
    """Return one entry; a condition is its text, and the values of its sides."""
    is_condition = result.condition is not None
    return ClaimView(
        name=result.name,
        title=result.title,
        kind=result.kind,
        file=result.file,
        line=result.line,
        claimed=result.condition if is_condition else result.claimed,
        predicted=tuple(side.value for side in result.compared)
        if is_condition
        else result.predicted,
        difference=result.difference,
        relative_difference=result.relative_difference,
        unit=str(result.dimension),
        within=within(result) or None,
        holds=result.holds,
        verdict=result.verdict.value,
        published=result.is_published,
        origin=result.origin.value,
        fitted_to_it=result.is_fitted_to_it,
        source=result.source,
        note=result.note,
        fitted=result.fitted,
        missed=result.missed,
        excepted=result.excepted,
        counted=result.counted,
        interval=result.interval,
        half_width=None if result.simulated is None else result.simulated.half_width,
        undecided=None if result.simulated is None else result.simulated.why,
        known=result.known,
        sides_known=tuple(side.known for side in result.compared),
    )
