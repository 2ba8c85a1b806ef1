"""The capacity with a change that can be relied on: as certain as that of the answer itself."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Scenarios, Spec
from qps.engine.exact_algebra.exact_values import as_float
from qps.solver.answers.answer_parts import Advice, Interval, ReliableCapacity
from qps.solver.answers.graph_solution import certified_capacity
from qps.solver.answers.solution import Solution
from qps.solver.answers.unfavorable_errors import unfavorable_errors
from qps.solver.uncertainty.interval_result import Sampling
from qps.solver.what_if.advice import HelpfulChange
from qps.solver.what_if.candidates import Candidate

_MOST, _MOST_WRITTEN, _MOST_GOALS = 4, 3, 1
"""Changes that are judged so, and goals among them: each takes its own samples."""
_ENOUGH = ".12g"


def reliable_changes(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    changes: Sequence[HelpfulChange],
    reliable: ReliableCapacity | None,
    sampling: Sampling,
) -> tuple[Advice, ...]:
    """Return changes, the best of them with the capacity that can be relied on."""
    if reliable is None:
        return tuple(one.advice for one in changes)
    is_as_computed = reliable.confidence is None and not reliable.allowed_for
    uncertain = uncertain_in(spec.configuration(scenario, settings)).keys()
    # An uncertain number that is set would be certain: most of the gain would be its certainty.
    judged = [one for one in changes if uncertain.isdisjoint(_moved(one.candidate))]
    ranked = sorted(judged, key=lambda one: -one.advice.capacity)
    goals = [one for one in ranked if one.candidate.is_goal]
    others = [one for one in ranked if not one.candidate.is_goal]
    # What is written is solved from scratch: it is judged where it would be shown.
    settings_after = [one for one in others[_MOST_WRITTEN:_MOST] if not one.candidate.rewritten]
    best = others[:_MOST_WRITTEN] + settings_after + goals[:_MOST_GOALS]
    found = []
    for one in changes:
        capacity: int | None = None
        interval: Interval | None = None
        if is_as_computed:
            capacity = one.advice.capacity
        elif one in best:
            capacity, interval = _reliable(spec, scenario, settings, solution, one, sampling)
        found.append(replace(one.advice, reliable_capacity=capacity, capacity_interval=interval))
    return tuple(found)


def _reliable(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    change: HelpfulChange,
    sampling: Sampling,
) -> tuple[int | None, Interval | None]:
    """Return the capacity with a change, and its interval if inputs are uncertain.

    None where it cannot be relied on for anybody.

    Tighter limits are met by no more users: what they allow is not solved without them as well.
    """
    try:
        model, configuration = changed_by(spec, scenario, settings, solution, change.candidate)
        graphs = [lower(model, each) for each in in_each_mode(model, configuration)]
        tight = unfavorable_errors(model, graphs, change.advice.capacity).tightened(model)
        if uncertain_in(configuration):
            from qps.solver.uncertainty.sampled_capacity import sampled_capacity  # noqa: PLC0415 - of few specs; it needs numpy

            return sampled_capacity(tight, configuration, sampling)
        if tight is model:
            return change.advice.capacity, None
        graphs = [lower(tight, each) for each in in_each_mode(tight, configuration)]
        return certified_capacity(graphs, until=change.advice.capacity + 1), None
    except QpsError:
        return None, None


def _moved(candidate: Candidate) -> set[str]:
    return {candidate.name, *candidate.factors}


def changed_by(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    solution: Solution,
    candidate: Candidate,
) -> tuple[ir.Model, Configuration]:
    """Return the model and the configuration of a change; numbers are set as `--set` does.

    QpsError where that cannot be.
    """
    if candidate.rewritten is not None:
        return candidate.rewritten, candidate.configuration
    known = solution.graph.assumptions
    numbers = tuple(
        _setting(known[name], factor) for name, factor in candidate.factors.items() if name in known
    )
    if not numbers:
        return spec.model, candidate.configuration
    changed = spec.with_parts_of(numbers)
    return changed.model, changed.configuration(scenario, (*settings, *numbers))


def _setting(number: Assumption, factor: Fraction) -> str:
    amount = number.fraction * factor
    value = Decimal(amount.numerator) / Decimal(amount.denominator)
    if Fraction(value) != amount:
        value = Decimal(format(as_float(amount), _ENOUGH))
    return f"{number.name} = {value:f} {number.dimension}"
