"""The capacity that can be relied on: uncertain inputs and measured model errors together.

Both are covered by one number: the capacity that a share of the samples supports, in a model whose
limits are tightened by the measured errors of what they limit (`unfavorable_errors`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.lower.certainty_requirements import as_stated, without_certainty
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.answers.answer_parts import ReliableCapacity
from qps.solver.answers.graph_solution import certified_answer
from qps.solver.answers.reliable_limits import (
    NOTHING_MET,
    MetUpTo,
    ReliableAnswer,
    least_met,
    met_up_to,
)
from qps.solver.answers.solution import QUALITY, Solution
from qps.solver.answers.uncertain_dependence import graphs_of
from qps.solver.answers.unfavorable_errors import UnfavorableErrors, unfavorable_errors
from qps.solver.answers.worst_mode import WorstMode, solve_model, solve_worst_mode, weakest_modes
from qps.solver.uncertainty.interval_result import Sampling

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.sampled_capacity import CapacitySamples


def reliable_capacity(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    sampled: CapacitySamples | None,
    sampling: Sampling,
) -> ReliableAnswer:
    """Return the capacity that can be relied on; not `sampled`, of the inputs as they are stated.

    It is never above the capacity without errors: a tighter limit is met by no more users, but a
    surrogate model of samples may be a little off either way.
    """
    modes = (solution, *solution.others)
    if sampled is None:
        met = least_met(*(met_up_to(one.graph.mode, one.failures, one.graph.high) for one in modes))
    else:
        met = sampled.met_up_to
    found = _with_errors(
        model, configuration, graphs_of(solution), solution, sampled, sampling, nominal_limits
    )
    return replace(found, met_up_to=least_met(met, found.met_up_to))


def capacity_of_worst(
    model: ir.Model,
    configuration: Configuration,
    worst: WorstMode,
    sampled: CapacitySamples | None,
    sampling: Sampling,
) -> ReliableCapacity:
    """Return the same capacity by the worst mode alone, without the limits of the others."""
    return _with_errors(
        model, configuration, worst.graphs, worst, sampled, sampling, _least_capacity
    ).capacity


def _with_errors(
    model: ir.Model,
    configuration: Configuration,
    graphs: Sequence[LoadGraph],
    solution: Solution | WorstMode,
    sampled: CapacitySamples | None,
    sampling: Sampling,
    nominal: Callable[[ir.Model, Configuration], tuple[int | None, MetUpTo]],
) -> ReliableAnswer:
    """Return what a model supports with its errors, and the limits of what has an error."""
    errors = unfavorable_errors(model, graphs, solution.at)
    tight = errors.tightened(model)
    plain = solution.capacity if sampled is None else sampled.at_confidence.capacity
    covered, further = plain, NOTHING_MET
    if tight is model or plain is None:
        pass
    elif sampled is None:
        covered, further = nominal(tight, configuration)
    else:
        from qps.solver.uncertainty.sampled_capacity import sampled_limits  # noqa: PLC0415

        names = frozenset({QUALITY, *(one.name for one in errors.allowed_for)})
        if _are_independent(model, graphs):
            tight = _of_errors(tight, errors)
        covered, further = sampled_limits(tight, configuration, sampling, sampled, names)
    capacity = ReliableCapacity(
        capacity=None if plain is None or covered is None else min(plain, covered),
        confidence=None if sampled is None else sampled.at_confidence.confidence,
        allowed_for=errors.allowed_for,
        unmeasured=errors.unmeasured,
    )
    return ReliableAnswer(capacity=capacity, met_up_to=further)


def plain_solution(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> tuple[ir.Model, Solution]:
    """Return a model as samples judge it, and its solution, at the population of a `solution`.

    They are the same where no requirement states a confidence level, or every number is certain.
    """
    if as_stated(model, configuration) is model:
        return model, solution
    plain = without_certainty(model)
    return plain, replace(solve_model(plain, configuration), at=solution.at)


def plain_worst_mode(
    model: ir.Model, configuration: Configuration, worst: WorstMode
) -> tuple[ir.Model, WorstMode]:
    """Return the same with the solution of the worst mode alone."""
    if as_stated(model, configuration) is model:
        return model, worst
    plain = without_certainty(model)
    graphs = [lower(plain, each) for each in in_each_mode(plain, configuration)]
    found = solve_worst_mode(graphs, weakest_modes(graphs))
    return plain, replace(found, at=worst.at)


def nominal_limits(model: ir.Model, configuration: Configuration) -> tuple[int | None, MetUpTo]:
    """Return the capacity of the worst mode with nominal inputs, and where criteria are met."""
    graphs = [lower(model, each) for each in in_each_mode(model, configuration)]
    found = [certified_answer(graph) for graph in graphs]
    supported = [one.largest for one in found if one.largest is not None]
    ends = [met_up_to(g.mode, one.failures, g.high) for g, one in zip(graphs, found, strict=True)]
    return min(supported) if len(supported) == len(found) else None, least_met(*ends)


def _least_capacity(model: ir.Model, configuration: Configuration) -> tuple[int | None, MetUpTo]:
    """Return the capacity of the worst mode with nominal inputs, and no limits."""
    first = weakest_modes([lower(model, each) for each in in_each_mode(model, configuration)]).first
    if first is None:
        return configuration.high, NOTHING_MET
    return None if first == configuration.low else first - 1, NOTHING_MET


def _are_independent(model: ir.Model, graphs: Sequence[LoadGraph]) -> bool:
    """Return whether each requirement is judged by itself: not by a metric, nor shared out."""
    is_elastic = any(parameter.is_elastic for parameter in model.parameters)
    return not is_elastic and all(graph.quality is None for graph in graphs)


def _of_errors(model: ir.Model, errors: UnfavorableErrors) -> ir.Model:
    """Return a model that requests nothing but what has an error: the rest was sampled before."""
    modes = (replace(mode, requirements=errors.of(mode.requirements)) for mode in model.modes)
    return replace(model, requirements=errors.of(model.requirements), modes=tuple(modes))
