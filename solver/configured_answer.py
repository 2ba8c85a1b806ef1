"""The answer of a configuration, with its headline: the capacity that can be relied on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.compiler.pipeline import Spec
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import AtReliableCapacity
from qps.solver.answers.reliable_limits import ReliableAnswer
from qps.solver.answers.solution import Solution
from qps.solver.answers.values_at_capacity import values_at_capacity
from qps.solver.answers.worst_mode import solve_model
from qps.solver.complete_answer import complete_answer
from qps.solver.headline_answer import headline_answer
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.uncertainty.reliable_capacity import plain_solution, reliable_capacity

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.prediction_interval import SampledUncertainty


class ConfiguredAnswer(Struct, frozen=True, kw_only=True):
    """The complete answer of a model in a configuration, and the solution that it is of.

    `model` has all that the spec promises with certainty.
    """

    model: ir.Model
    solution: Solution
    answer: Answer


def ignore(_: str) -> None:
    """Report nothing of what comes next."""


def configured_answer(
    spec: Spec,
    configuration: Configuration,
    settings: tuple[str, ...] = (),
    *,
    sampling: Sampling,
    with_confidence: bool = True,
    on_progress: Callable[[str], object] = ignore,
) -> ConfiguredAnswer:
    """Return the answer of a spec in a configuration, with its headline.

    Without `with_confidence` no samples of uncertain inputs are solved: it is of nominal inputs
    then, and has no headline.
    """
    model, found, is_certain = spec.model, None, not uncertain_in(configuration)
    plain, reliable = spec.model, None
    if not is_certain:
        model = model_at_confidence(model, configuration, sampling)
    solution = solve_model(model, configuration)
    of_slopes = solution
    if not is_certain:
        plain, of_slopes = plain_solution(spec.model, configuration, solution)
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
        uncertainty=None if found is None else found.uncertainty,
        reliable=None if reliable is None else reliable.capacity,
        at_reliable=_at_reliable(plain, configuration, of_slopes, reliable, found, sampling),
    )
    answer = replace(answer, headline=headline_answer(answer, of_slopes))
    return ConfiguredAnswer(model=model, solution=solution, answer=answer)


def _sampled(
    model: ir.Model, configuration: Configuration, solution: Solution, sampling: Sampling
) -> SampledUncertainty | None:
    from qps.solver.uncertainty.prediction_interval import sampled_uncertainty  # noqa: PLC0415 - of few specs; it needs numpy

    return sampled_uncertainty(model, configuration, solution, sampling)


def _at_reliable(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    reliable: ReliableAnswer | None,
    sampled: SampledUncertainty | None,
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
