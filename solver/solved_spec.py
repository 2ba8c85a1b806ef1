"""One spec solved as a scenario and settings change it: its answers, how sure they are, advice."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.pipeline import Scenarios, Spec
from qps.engine.expressions.memo import with_memory
from qps.solver.answer import Answer
from qps.solver.configured_answer import configured_answer
from qps.solver.reliable_changes import reliable_changes
from qps.solver.reliable_solution import ignore
from qps.solver.uncertainty.interval_result import KnownSurfaces, Sampling
from qps.solver.what_if.advice import helpful_changes


class SolvedSpec(Struct, frozen=True, kw_only=True):
    """A model in a configuration, its load graph, and the complete answer.

    `stated` is the model as it is written, `model` with all that it promises with certainty.
    """

    stated: ir.Model
    model: ir.Model
    configuration: Configuration
    graph: LoadGraph
    answer: Answer


Answered: TypeAlias = Callable[[ir.Model, Answer], object]
"""What is called with the answer, before it is known which changes would help."""


@with_memory
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
) -> SolvedSpec:
    """Solve a spec as a scenario and settings change it, and return the uncertainty of the answer.

    `on_progress` is called with what comes next, as it begins, `answered` with what is known by
    then.
    """
    spec = spec.with_parts_of(settings)
    sampling = replace(sampling, known=KnownSurfaces())
    configuration = spec.configuration(scenario, settings)
    found = configured_answer(
        spec,
        configuration,
        settings,
        sampling=sampling,
        with_confidence=with_confidence,
        on_progress=on_progress,
    )
    model, solution, answer = found.model, found.solution, found.answer
    if answered is not None:
        answered(model, answer)
    on_progress("changes that raise capacity")
    if advice and model is spec.model:  # of a promise, each change would have one of its own
        changes = helpful_changes(model, configuration, solution)
        from qps.solver.spec_changes.helpful_changes import helpful_spec_changes  # noqa: PLC0415 - after the answer

        changes = helpful_spec_changes(spec, scenario, settings, solution, changes)
        judged = reliable_changes(
            spec, scenario, settings, solution, changes, answer.reliable, sampling
        )
        if answer.calendar is not None:
            # Of few specs.
            from qps.solver.dated_changes import with_dates  # noqa: PLC0415

            judged = with_dates(spec, scenario, settings, solution, changes, judged, sampling)
        answer = replace(answer, advice=judged)
    return SolvedSpec(
        stated=spec.model,
        model=model,
        configuration=configuration,
        graph=solution.graph,
        answer=answer,
    )
