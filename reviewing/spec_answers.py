"""What a spec answers, in the few words that a comparison needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import uncertain_in
from qps.compiler.diagnostics.render import printable
from qps.compiler.lower.certainty_requirements import without_certainty
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.solutions.answer_values import SolveView
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.labels import Labels, labels_of
from qps.solver.answers.worst_mode import solve_model
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.complete_answer import complete_answer
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import Interval, Sampling
from qps.solver.what_if.assumption_changes import Side

_AT_LEAST, _AT_MOST = (">=", ">"), ("<=", "<")


class SpecAnswer(Struct, frozen=True, kw_only=True):
    """The capacity of a spec, and its limit. The capacity is None if no user is supported.

    `population` is the name of the population. `bottleneck` is None if the range ends first.
    `interval` is the interval of the capacity, None if all inputs are certain. `costs` are totals
    by unit.
    """

    capacity: int | None
    population: str
    known: Certainty
    bottleneck: str | None
    interval: Interval | None
    costs: dict[str, float]


def spec_answer(view: SolveView, labels: Labels, interval: Interval | None = None) -> SpecAnswer:
    """Return the answer of a spec that was solved."""
    limit = view.limited_by
    return SpecAnswer(
        capacity=view.capacity,
        population=view.population.name,
        known=view.known,
        bottleneck=printable(labels.of(limit)) if limit else None,
        interval=interval,
        costs={cost.unit: cost.total for cost in view.cost},
    )


def answer_of(spec: Spec) -> SpecAnswer:
    """Solve a spec as it is written; QpsError where it has no answer."""
    configuration = spec.configuration()
    model = model_at_confidence(spec.model, configuration)
    answer = complete_answer(model, configuration, solve_model(model, configuration))
    interval = None
    if uncertain_in(configuration):
        from qps.solver.uncertainty.difference_intervals import difference_odds  # noqa: PLC0415 - needs numpy

        side = Side(without_certainty(spec.model), configuration)
        odds = difference_odds(side, side, Sampling())
        interval = None if odds is None else odds.after
    return spec_answer(solve_view(answer), spec.model.derived(labels_of), interval)


def least_claimed(model: ir.Model, results: Sequence[ClaimResult]) -> dict[str, Fraction]:
    """Return how many users claims say are supported at least, by their names.

    Those are meant that compare the capacity of the spec as it is written with a number.
    """
    found = {}
    by_name = {one.name: one for one in results}
    for expectation in model.expectations:
        many = len(expectation.claims) + len(expectation.matrix_claims) > 1
        for index, claim in enumerate(expectation.claims, 1):
            name = f"{expectation.name}[{index}]" if many else expectation.name
            result = by_name.get(name)
            side = None if claim.changes else _side_of_bound(claim.value)
            if side is not None and result is not None and len(result.compared) == len("ab"):
                found[name] = Fraction(result.compared[side].value)
    return found


def _side_of_bound(value: object) -> int | None:
    """Return which side of a comparison the capacity is to reach, None for anything else."""
    if not isinstance(value, ir.Compare):
        return None
    sides = [isinstance(s, ir.Measured) and s.kind is _CAPACITY for s in (value.left, value.right)]
    if sides == [True, False] and value.operator in _AT_LEAST:
        return 1
    return 0 if sides == [False, True] and value.operator in _AT_MOST else None


_CAPACITY = ir.MeasureKind.LARGEST
