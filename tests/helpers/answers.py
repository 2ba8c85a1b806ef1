"""The complete answer of a spec, as terminal, pages and JSON have it."""

from __future__ import annotations

from qps.compiler.pipeline import Spec
from qps.solver.answer import Answer
from qps.solver.answers.worst_mode import solve_model
from qps.solver.complete_answer import complete_answer
from qps.solver.uncertainty.interval_result import Uncertainty
from qps.solver.what_if.advice import advise


def answer_of(
    spec: Spec, *settings: str, advice: bool = False, uncertainty: Uncertainty | None = None
) -> Answer:
    """Return the answer of a spec with some settings, perhaps with advice."""
    configuration = spec.configuration(None, settings)
    solution = solve_model(spec.model, configuration)
    found = advise(spec.model, configuration, solution) if advice else ()
    return complete_answer(
        spec.model,
        configuration,
        solution,
        settings=settings,
        uncertainty=uncertainty,
        advice=found,
    )
