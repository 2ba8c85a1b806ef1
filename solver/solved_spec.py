"""One spec solved as a scenario and settings change it: its answers, how sure they are, advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.compiler.lower.certainty_requirements import without_certainty
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import Scenarios, Spec
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import AtReliableCapacity, ReliableCapacity
from qps.solver.answers.solution import Solution
from qps.solver.answers.values_at_capacity import values_at_capacity
from qps.solver.answers.worst_mode import solve_model
from qps.solver.complete_answer import complete_answer
from qps.solver.headline_answer import headline_answer
from qps.solver.reliable_changes import reliable_changes
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.reliable_capacity import reliable_capacity
from qps.solver.what_if.advice import helpful_changes

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.prediction_interval import SampledOdds


class Solved(Struct, frozen=True, kw_only=True):
    """A model in a configuration, its load graph, and the complete answer.

    `stated` is the model as it is written, `model` with all that it promises with certainty.
    """

    stated: ir.Model
    model: ir.Model
    configuration: Configuration
    graph: LoadGraph
    answer: Answer


def ignore(_: str) -> None:
    """Keep what comes next to oneself."""


Answered: TypeAlias = Callable[[ir.Model, Answer], object]
"""What is called with the answer, before it is known which changes would help."""


def solved_spec(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    *,
    advice: bool,
    sampling: Sampling,
    with_confidence: bool = True,
    on_progress: Callable[[str], object] = ignore,
    answered: Answered | None = None,
) -> Solved:
    """Solve a spec as a scenario and settings change it, and return the uncertainty of the answer.

    `on_progress` is called with what comes next, as it begins, `answered` with what is known by
    then.
    """
    spec = spec.with_parts_of(settings)
    configuration = spec.configuration(scenario, settings)
    model, found, is_certain = spec.model, None, not uncertain_in(configuration)
    plain, reliable = spec.model, None
    if not is_certain:
        model = model_at_confidence(model, configuration, sampling)
    solution = solve_model(model, configuration)
    of_slopes = solution
    if not is_certain:
        if model is not spec.model:
            advice = False  # each change would have a promise of its own
            plain = without_certainty(spec.model)
            of_slopes = replace(solve_model(plain, configuration), at=solution.at)
        if with_confidence:
            on_progress("uncertainty")
            found = _sampled(plain, configuration, of_slopes, sampling)
    if is_certain or found is not None:
        on_progress("model error")
        reliable = reliable_capacity(plain, configuration, of_slopes, found, sampling)
    answer = complete_answer(
        model,
        configuration,
        solution,
        settings=settings,
        spec_warnings=tuple(spec.warnings),
        odds=None if found is None else found.odds,
        reliable=reliable,
        at_reliable=_at_reliable(plain, configuration, of_slopes, reliable, found, sampling),
    )
    answer = replace(answer, headline=headline_answer(answer, of_slopes))
    if answered is not None:
        answered(model, answer)
    on_progress("changes that raise capacity")
    if advice:
        changes = helpful_changes(model, configuration, solution)
        judged = reliable_changes(spec, scenario, settings, solution, changes, reliable, sampling)
        answer = replace(answer, advice=judged)
    return Solved(
        stated=spec.model,
        model=model,
        configuration=configuration,
        graph=solution.graph,
        answer=answer,
    )


def _sampled(
    model: ir.Model, configuration: Configuration, solution: Solution, sampling: Sampling
) -> SampledOdds | None:
    from qps.solver.uncertainty.prediction_interval import sampled_odds  # noqa: PLC0415 - of few specs; it needs numpy

    return sampled_odds(model, configuration, solution, sampling)


def _at_reliable(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    reliable: ReliableCapacity | None,
    sampled: SampledOdds | None,
    sampling: Sampling,
) -> AtReliableCapacity | None:
    """Return the values at the reliable capacity; None where there is none."""
    if reliable is None:
        return None
    unfavorable = None
    if sampled is not None:
        from qps.solver.uncertainty.values_at_confidence import values_at_confidence  # noqa: PLC0415

        unfavorable = values_at_confidence(model, configuration, solution.graph, sampling)
    return values_at_capacity(configuration, solution, reliable, unfavorable)
