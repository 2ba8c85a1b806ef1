"""How an answer is known: what certain and uncertain requirements leave of it.

The answer is the last population before the first at which a requirement fails. Two questions
decide how it is known:

- May fewer be acceptable in truth? They may where any requirement is judged too mildly (a limit
  from above on a lower bound), as it may fail earlier than it seems to.
- May more be acceptable in truth? They may where everything that fails just beyond the answer is
  judged too strictly (a limit from above on an upper bound): one that fails there for certain
  settles it. What is judged too strictly and fails later matters to nothing.

What is an approximation may be judged too mildly, and too strictly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    CertaintyKind,
    Reason,
    approximation,
    lower_bound,
    opposite,
    together,
    upper_bound,
)
from qps.compiler.quantities.methods import reason_of
from qps.compiler.quantities.scales import population_text
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.solution import FirstFailure, Saturation, Solution


class LimitedValue(Protocol):
    """What has a limit: how it is known, and on which side the limit is."""

    @property
    def known(self) -> Certainty:
        """How the measure is known."""

    @property
    def at_most(self) -> bool:
        """True where the limit is from above."""


def known_over(criterion: LimitedValue) -> Certainty:
    """Return how it is known by how much a criterion is over its limit."""
    return criterion.known if criterion.at_most else opposite(criterion.known)


def may_truly_fail(criterion: LimitedValue) -> bool:
    """Return whether a criterion may fail in truth where it seems to hold."""
    return known_over(criterion).kind not in (CertaintyKind.EXACT, CertaintyKind.UPPER_BOUND)


def may_truly_pass(criterion: LimitedValue) -> bool:
    """Return whether a criterion may hold in truth where it seems to fail."""
    return known_over(criterion).kind not in (CertaintyKind.EXACT, CertaintyKind.LOWER_BOUND)


def largest_known(failures: Iterable[FirstFailure], low: int) -> Certainty:
    """Return how the largest acceptable population is known, of criteria that are all judged.

    Those of several modes are judged together: the worst one counts. Where not even the least of
    the range is acceptable there cannot be fewer.
    """
    judged = list(failures)
    end = min((found.first for found in judged if found.first is not None), default=None)
    first = [found.there for found in judged if end is not None and found.first == end]
    return values_known([first], [found.criterion for found in judged], is_none=end == low)


def known_by_limit(
    limiting: LimitedValue | None, every: Iterable[LimitedValue], *, is_none: bool
) -> Certainty:
    """Return how an answer is known of which only one of those that limit it is known.

    It says no more than `largest_known`, and less where others that are certain fail there too.
    """
    return values_known([] if limiting is None else [[limiting]], every, is_none=is_none)


def values_known(
    outside: Iterable[Sequence[LimitedValue]], every: Iterable[LimitedValue], *, is_none: bool
) -> Certainty:
    """Return how a set of acceptable values is known: a lower bound where more may be in truth.

    `outside` is what fails at places of all kinds that are not acceptable: more may be where
    all that fails at one of them is judged too strictly. Fewer may be where any of `every` is
    judged too mildly, but where there `is_none`.
    """
    mild = [] if is_none else [criterion for criterion in every if may_truly_fail(criterion)]
    more = [first for first in outside if first and all(map(may_truly_pass, first))]
    reasons = _reasons((*(criterion for first in more for criterion in first), *mild))
    if more:
        return approximation(*reasons) if mild else lower_bound(*reasons)
    return upper_bound(*reasons) if mild else EXACT


def least_known(
    below: Iterable[Sequence[LimitedValue]], every: Iterable[LimitedValue]
) -> Certainty:
    """Return how the least amount is known with which all holds; `below` fails with less."""
    return opposite(values_known(below, every, is_none=False))


def verdict_known(
    failing: Sequence[LimitedValue], every: Sequence[LimitedValue], *, is_possible: bool
) -> Certainty:
    """Return how it is known whether a population is carried: that it is, or that it is not.

    Where nothing fails there that is not carried, something does for fewer: whatever may.
    """
    if is_possible:
        return values_known((), every, is_none=False)
    return values_known([failing] if failing else [[one] for one in every], (), is_none=True)


def answer_known(solution: Solution) -> Certainty:
    """Return how the answer of a solution is known, all modes taken together."""
    every = (failure for each in (solution, *solution.others) for failure in each.failures)
    return largest_known(every, solution.graph.low)


def limit_certainty(solution: Solution, criterion: Criterion) -> Certainty:
    """Return how it is known up to which population a criterion of a solution is met."""
    judged = [failure for failure in solution.failures if failure.criterion is criterion]
    return largest_known(judged, solution.graph.low)


def saturation_known(
    saturation: Saturation, resource: ResourceLoad, population: Formula
) -> Certainty:
    """Return how it is known where a resource saturates: earlier where its load is overestimated.

    It is a bound where that cannot be determined.
    """
    known = opposite(resource.demand_known)
    if saturation.not_below is None:
        never = (
            saturation.at is None and known.kind is CertaintyKind.LOWER_BOUND
        )  # not later either
        return EXACT if never else known
    up_to = f"{population} = {population_text(saturation.not_below)}"
    reason = reason_of("saturation-unproved", resource.name, population=up_to)
    bound = lower_bound(reason) if saturation.at is None else upper_bound(reason)
    return together(bound, known)


def quality_known(graphs: Sequence[LoadGraph]) -> Certainty:
    """Return how the quality is known: the worst of several modes counts."""
    return together(*(graph.analysis.criteria.quality_known for graph in graphs))


def _reasons(criteria: Iterable[LimitedValue]) -> tuple[Reason, ...]:
    return tuple(dict.fromkeys(reason for one in criteria for reason in one.known.because))
