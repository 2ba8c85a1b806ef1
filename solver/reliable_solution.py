"""The solution of a configuration, with samples of its uncertain inputs and model errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.solver.answers.reliable_limits import ReliableAnswer
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import Sampling, Uncertainty
from qps.solver.uncertainty.reliable_capacity import plain_solution, reliable_capacity

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.prediction_interval import SampledUncertainty
    from qps.solver.uncertainty.sampled_capacity import CapacitySamples


class ReliableSolution(Struct, frozen=True, kw_only=True):
    """A solution, and the capacity that can be relied on; None where none was requested.

    `plain` is what samples are judged by, and `plain_solution` its solution; `sampled` is None with
    certain inputs.
    """

    solution: Solution
    plain: ir.Model
    plain_solution: Solution
    sampled: CapacitySamples | None
    reliable: ReliableAnswer | None

    @property
    def capacity(self) -> int | None:
        """The capacity that can be relied on; that of nominal inputs where none was requested."""
        return self.solution.capacity if self.reliable is None else self.reliable.capacity.capacity


class ModelSolution(ReliableSolution, frozen=True, kw_only=True):
    """The same of a model alone, with its uncertainty; None with certain inputs.

    `model` has all that the spec promises with certainty.
    """

    model: ir.Model
    uncertainty: Uncertainty | None


def ignore(_: str) -> None:
    """Report nothing of what comes next."""


def reliable_solution(
    model: ir.Model,
    configuration: Configuration,
    *,
    sampling: Sampling,
    with_confidence: bool = True,
    on_progress: Callable[[str], object] = ignore,
) -> ModelSolution:
    """Return the solution of a configuration, and what of it can be relied on.

    Without `with_confidence` no samples of uncertain inputs are solved: it is of nominal inputs
    then, and nothing can be relied on.
    """
    stated, found, is_certain = model, None, not uncertain_in(configuration)
    plain, reliable = stated, None
    if not is_certain:
        model = model_at_confidence(stated, configuration, sampling)
    solution = solve_model(model, configuration)
    of_slopes = solution
    if not is_certain:
        plain, of_slopes = plain_solution(stated, configuration, solution)
        if with_confidence:
            on_progress("uncertainty")
            found = _sampled(plain, configuration, of_slopes, sampling)
    if is_certain or found is not None:
        on_progress("model error")
        reliable = reliable_capacity(plain, configuration, of_slopes, found, sampling)
    return ModelSolution(
        model=model,
        solution=solution,
        plain=plain,
        plain_solution=of_slopes,
        sampled=found,
        reliable=reliable,
        uncertainty=None if found is None else found.uncertainty,
    )


def _sampled(
    model: ir.Model, configuration: Configuration, solution: Solution, sampling: Sampling
) -> SampledUncertainty | None:
    from qps.solver.uncertainty.prediction_interval import sampled_uncertainty  # noqa: PLC0415 - of few specs; it needs numpy

    return sampled_uncertainty(model, configuration, solution, sampling)
