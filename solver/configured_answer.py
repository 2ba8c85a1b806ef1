"""The answer of a configuration, with its headline: the capacity that can be relied on."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.pipeline import Spec
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import AtReliableCapacity
from qps.solver.answers.solution import Solution
from qps.solver.answers.values_at_capacity import values_at_capacity
from qps.solver.calendar.month_search import calendar_answer
from qps.solver.complete_answer import complete_answer
from qps.solver.failures.availability_result import Availability
from qps.solver.headline_answer import headline_answer
from qps.solver.profiles.course_answer import CourseAnswer
from qps.solver.reliable_solution import ReliableSolution, ignore, reliable_solution
from qps.solver.uncertainty.interval_result import Sampling


class ConfiguredAnswer(Struct, frozen=True, kw_only=True):
    """The complete answer of a model in a configuration, and the solution that it is of.

    `model` has all that the spec promises with certainty.
    """

    model: ir.Model
    solution: Solution
    answer: Answer


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
    then, and has no headline, nor until when it holds.
    """
    solved = reliable_solution(
        spec.model,
        configuration,
        sampling=sampling,
        with_confidence=with_confidence,
        on_progress=on_progress,
    )
    reliable = solved.reliable
    if reliable is not None and spec.model.forecast is not None:
        on_progress("forecast")
    # Of one number of users, the capacity is not known: only whether it is supported.
    is_one = reliable is None or configuration.low == configuration.high
    calendar = None if is_one else calendar_answer(spec.model, configuration, solved, sampling)
    answer = complete_answer(
        solved.model,
        configuration,
        solved.solution,
        settings=settings,
        spec_warnings=tuple(spec.warnings),
        uncertainty=solved.uncertainty,
        reliable=None if reliable is None else reliable.capacity,
        at_reliable=_at_reliable(configuration, solved, sampling),
    )
    answer = replace(
        answer,
        calendar=calendar,
        course=_course(spec.model, configuration, solved),
        availability=_availability(spec.model, configuration, solved),
    )
    answer = replace(answer, headline=headline_answer(answer, solved.plain_solution))
    return ConfiguredAnswer(model=solved.model, solution=solved.solution, answer=answer)


def _course(
    model: ir.Model, configuration: Configuration, solved: ReliableSolution
) -> CourseAnswer | None:
    """Return the day or the week at the headline; None without profiles."""
    if not model.profiles:
        return None
    from qps.solver.profiles.profile_course import profile_course  # noqa: PLC0415 - of few specs

    return profile_course(model, configuration, solved.capacity)


def _availability(
    model: ir.Model, configuration: Configuration, solved: ReliableSolution
) -> Availability | None:
    """Return how often the capacity is there; None if nothing can fail, or nobody is supported."""
    if configuration.mode is not None:
        return None  # it is that of all states together
    hardware = (*model.machines.values(), *model.networks.values())
    if all(one.failures is None for one in hardware):
        return None
    # Of few specs.
    from qps.solver.failures.availability import availability  # noqa: PLC0415

    capacity = solved.capacity
    return None if capacity is None else availability(model, configuration, capacity)


def _at_reliable(
    configuration: Configuration, solved: ReliableSolution, sampling: Sampling
) -> AtReliableCapacity | None:
    """Return the values at the reliable capacity; None where there is none."""
    if solved.reliable is None:
        return None
    solution, unfavorable = solved.plain_solution, None
    if solved.sampled is not None:
        from qps.solver.uncertainty.values_at_confidence import values_at_confidence  # noqa: PLC0415

        unfavorable = values_at_confidence(solved.plain, configuration, solution.graph, sampling)
    return values_at_capacity(configuration, solution, solved.reliable, unfavorable)
