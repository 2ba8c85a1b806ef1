"""The capacity that can be relied on: uncertain inputs and measured model errors together.

Both are covered by one number: the capacity that a share of the samples supports, in a model whose
limits are tightened by the measured errors of what they limit (`unfavorable_errors`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.answers.answer_parts import ReliableCapacity
from qps.solver.answers.graph_solution import certified_answer
from qps.solver.answers.solution import Solution
from qps.solver.answers.unfavorable_errors import UnfavorableErrors, unfavorable_errors
from qps.solver.uncertainty.interval_result import Sampling

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.prediction_interval import SampledOdds


def reliable_capacity(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    sampled: SampledOdds | None,
    sampling: Sampling,
) -> ReliableCapacity:
    """Return the capacity that can be relied on; not `sampled`, of the inputs as they are stated.

    It is never above the capacity without errors: a tighter limit is met by no more users, but a
    surrogate model of samples may be a little off either way.
    """
    graphs = [one.graph for one in (solution, *solution.others)]
    errors = unfavorable_errors(model, graphs, solution.at)
    tight = errors.tightened(model)
    plain = solution.capacity if sampled is None else sampled.odds.at_confidence.capacity
    if tight is model or plain is None:
        covered = plain
    elif sampled is None:
        covered = nominal_capacity(tight, configuration)
    else:
        from qps.solver.uncertainty.sampled_capacity import sampled_capacity  # noqa: PLC0415

        if _are_independent(model, graphs):
            tight = _of_errors(tight, errors)
        covered = sampled_capacity(tight, configuration, sampling, sampled)
    return ReliableCapacity(
        capacity=None if plain is None or covered is None else min(plain, covered),
        confidence=None if sampled is None else sampled.odds.at_confidence.confidence,
        allowed_for=errors.allowed_for,
        unmeasured=errors.unmeasured,
    )


def nominal_capacity(model: ir.Model, configuration: Configuration) -> int | None:
    """Return the capacity of the worst mode with inputs as they are stated, None for none."""
    found = [
        certified_answer(lower(model, each)).largest for each in in_each_mode(model, configuration)
    ]
    supported = [one for one in found if one is not None]
    return min(supported) if len(supported) == len(found) else None


def _are_independent(model: ir.Model, graphs: Sequence[LoadGraph]) -> bool:
    """Return whether each requirement is judged by itself: not by a metric, nor shared out."""
    is_elastic = any(parameter.is_elastic for parameter in model.parameters)
    return not is_elastic and all(graph.quality is None for graph in graphs)


def _of_errors(model: ir.Model, errors: UnfavorableErrors) -> ir.Model:
    """Return a model that requests nothing but what has an error: the rest was sampled before."""
    modes = (replace(mode, requirements=errors.of(mode.requirements)) for mode in model.modes)
    return replace(model, requirements=errors.of(model.requirements), modes=tuple(modes))
