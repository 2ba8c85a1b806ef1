"""What a spec answers, in the few words that a comparison needs of it."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.render import printable
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.changes.difference_text import DifferenceView, spec_difference_view
from qps.solver.answers.answer_parts import HeadlineCapacity, Interval
from qps.solver.claims.claim_results import ClaimResult
from qps.solver.spec_difference import spec_difference

_AT_LEAST, _AT_MOST = (">=", ">"), ("<=", "<")


class SpecAnswer(Struct, frozen=True, kw_only=True):
    """The capacity of a spec, and its limit. The capacity is None if no user is supported.

    `capacity` is what `qps solve` prints: it covers the uncertainty of inputs and model errors.
    `nominal_capacity` is computed with nominal inputs, without model error. `population` is the
    name of the population. `bottleneck` is None if the range ends first.
    `interval` is the interval of the capacity, None if all inputs are certain. `costs` are totals
    by unit. `holds_until` is the last month in which the forecast is supported, as `2027-03`, empty
    if the first is not; missing in a spec without a forecast.
    """

    LEFT_OUT: ClassVar[frozenset[str]] = frozenset(["holds_until"])

    capacity: int | None
    nominal_capacity: int | None
    population: str
    known: Certainty
    bottleneck: str | None
    interval: Interval | None
    costs: dict[str, float]
    holds_until: str | None = None


def spec_answers(view: DifferenceView) -> tuple[SpecAnswer, SpecAnswer]:
    """Return both answers of a difference."""
    pair, sampled = view.pair, view.uncertainty
    intervals = (None, None) if sampled is None else (sampled.before, sampled.after)
    heads: tuple[HeadlineCapacity | None, HeadlineCapacity | None] = None, None
    if view.headlines is not None:
        heads = view.headlines.before, view.headlines.after
    before, after = (
        SpecAnswer(
            capacity=side.capacity if head is None else head.capacity,
            nominal_capacity=side.capacity,
            population=side.population.name,
            known=known,
            bottleneck=printable(labels.of(limit)) if limit else None,
            interval=interval,
            costs={cost.unit: cost.total for cost in side.cost},
            holds_until=None if side.calendar is None else side.calendar.holds_until or "",
        )
        for side, head, known, limit, labels, interval in zip(
            (view.before, view.after),
            heads,
            pair.known,
            pair.limited_by,
            view.labels,
            intervals,
            strict=True,
        )
    )
    return before, after


class HeadlineAnswer(Struct, frozen=True, kw_only=True):
    """The capacity that `qps solve` prints, its confidence, the nominal one, and what limits it."""

    capacity: int | None
    nominal_capacity: int | None
    confidence: float | None
    limited_by: str | None


def headline_of(spec: Spec) -> HeadlineAnswer:
    """Return the capacity of a spec as it is written, as a difference states it."""
    found = spec_difference(spec, spec)
    answer = found.answers[1]
    head = None if found.headlines is None else found.headlines.after
    return HeadlineAnswer(
        capacity=answer.capacity if head is None else head.capacity,
        nominal_capacity=answer.capacity,
        confidence=None if head is None else head.confidence,
        limited_by=answer.limited_by if head is None else head.limited_by,
    )


def answer_of(spec: Spec) -> SpecAnswer:
    """Solve a spec as it is written; QpsError where it has no answer."""
    return spec_answers(spec_difference_view(spec_difference(spec, spec)))[1]


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
