"""What differs between two specs, each in a configuration: their answers, and their claims."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.lower.certainty_requirements import without_certainty
from qps.compiler.pipeline import Scenarios, Spec
from qps.solver.answer import Answer
from qps.solver.claims.claim_evaluation import evaluate_claims
from qps.solver.claims.claim_results import ClaimResults
from qps.solver.complete_answer import complete_answer
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import DifferenceOdds, Sampling
from qps.solver.what_if.assumption_changes import Side
from qps.solver.what_if.difference import Difference, difference


class SpecDifference(Struct, frozen=True, kw_only=True):
    """A difference, the complete answers of both models, the old one first, and its uncertainty.

    `claims` are those of both specs as they are written; None where nothing requests them.
    """

    difference: Difference
    models: tuple[ir.Model, ir.Model]
    answers: tuple[Answer, Answer]
    odds: DifferenceOdds | None = None
    claims: tuple[ClaimResults, ClaimResults] | None = None


def spec_difference(
    old: Spec,
    new: Spec,
    scenario: Scenarios = None,
    settings: tuple[str, ...] = (),
    *,
    claims: bool = False,
) -> SpecDifference:
    """Return what differs between two specs, each as a scenario and settings change it."""
    before, after = (
        Side(one.model, one.configuration(scenario, settings))
        for one in (spec.with_parts_of(settings) for spec in (old, new))
    )
    found = difference(before, after, model_at_confidence)
    odds = None
    if uncertain_in(before.configuration) or uncertain_in(after.configuration):
        from qps.solver.uncertainty.difference_intervals import difference_odds  # noqa: PLC0415 - needs numpy

        plain = [replace(side, model=without_certainty(side.model)) for side in (before, after)]
        odds = difference_odds(plain[0], plain[1], Sampling())
    return SpecDifference(
        difference=found,
        models=(before.model, after.model),
        answers=(
            complete_answer(before.model, before.configuration, found.old, settings=settings),
            complete_answer(after.model, after.configuration, found.new, settings=settings),
        ),
        odds=odds,
        claims=(evaluate_claims(old), evaluate_claims(new)) if claims else None,
    )
