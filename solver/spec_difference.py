"""What differs between two specs, each in a configuration: their answers, and their claims."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.pipeline import Scenarios, Spec
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import Headlines
from qps.solver.calendar.calendar_answer import CalendarAnswer
from qps.solver.calendar.month_search import calendar_answer
from qps.solver.claims.claim_evaluation import evaluate_claims
from qps.solver.claims.claim_results import ClaimResults
from qps.solver.complete_answer import complete_answer
from qps.solver.reliable_difference import SolvedSide, reliable_difference
from qps.solver.reliable_solution import ReliableSolution
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import DifferenceUncertainty, Sampling
from qps.solver.what_if.assumption_changes import ConfiguredModel
from qps.solver.what_if.difference import Difference, difference


class SpecDifference(Struct, frozen=True, kw_only=True):
    """A difference, the complete answers of both models, the old one first, and its uncertainty.

    There are no `headlines` where the capacities that were computed can be relied on.
    `claims` are those of both specs as they are written; None where nothing requests them.
    """

    difference: Difference
    models: tuple[ir.Model, ir.Model]
    answers: tuple[Answer, Answer]
    uncertainty: DifferenceUncertainty | None = None
    headlines: Headlines | None = None
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
        ConfiguredModel(one.model, one.configuration(scenario, settings))
        for one in (spec.with_parts_of(settings) for spec in (old, new))
    )
    found = difference(before, after, model_at_confidence)
    sides = [
        SolvedSide(side=side, solution=solution)
        for side, solution in zip((before, after), (found.old, found.new), strict=True)
    ]
    sure = reliable_difference(sides[0], sides[1], is_same=not found.is_moved)
    calendar = _calendar(sides[0], sure.solutions[0])
    calendars = calendar, calendar if new is old else _calendar(sides[1], sure.solutions[1])
    answers = [
        replace(
            complete_answer(
                one.side.model,
                one.side.configuration,
                one.solution,
                settings=settings,
                reliable=reliable,
            ),
            calendar=calendar,
        )
        for one, reliable, calendar in zip(sides, sure.reliable, calendars, strict=True)
    ]
    return SpecDifference(
        difference=found,
        models=(before.model, after.model),
        answers=(answers[0], answers[1]),
        uncertainty=sure.uncertainty,
        headlines=sure.headlines,
        claims=(evaluate_claims(old), evaluate_claims(new)) if claims else None,
    )


def _calendar(one: SolvedSide, solved: ReliableSolution | None) -> CalendarAnswer | None:
    return calendar_answer(one.side.model, one.side.configuration, solved, Sampling())
