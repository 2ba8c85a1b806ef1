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

from qps.compiler.certainty import (
    EXACT,
    Certainty,
    Kind,
    approximation,
    lower_bound,
    opposite,
    together,
    upper_bound,
)
from qps.compiler.load_graph import Criterion, LoadGraph
from qps.solver.solution import FirstFailure, Solution


class Judged(Protocol):
    """What has a limit: how it is known, and on which side the limit is."""

    @property
    def known(self) -> Certainty:
        """How the measure is known."""

    @property
    def at_most(self) -> bool:
        """True where the limit is from above."""


def known_over(criterion: Judged) -> Certainty:
    """Return how it is known by how much a criterion is over its limit."""
    return criterion.known if criterion.at_most else opposite(criterion.known)


def is_judged_mildly(criterion: Judged) -> bool:
    """Return whether a criterion may fail in truth where it seems to hold."""
    return known_over(criterion).kind not in (Kind.EXACT, Kind.UPPER_BOUND)


def is_judged_strictly(criterion: Judged) -> bool:
    """Return whether a criterion may hold in truth where it seems to fail."""
    return known_over(criterion).kind not in (Kind.EXACT, Kind.LOWER_BOUND)


def largest_known(failures: Iterable[FirstFailure], low: int) -> Certainty:
    """Return how the largest acceptable population is known, of criteria that are all judged.

    Those of several modes are judged together: the worst one counts. Where not even the least of
    the range is acceptable there cannot be fewer.
    """
    judged = list(failures)
    end = min((found.first for found in judged if found.first is not None), default=None)
    first = [found.there for found in judged if end is not None and found.first == end]
    return _known(first, [found.criterion for found in judged], is_none=end == low)


def known_by_limit(limiting: Judged | None, every: Iterable[Judged], *, is_none: bool) -> Certainty:
    """Return how an answer is known of which only one of those that limit it is known.

    It says no more than `largest_known`, and less where others that are certain fail there too.
    """
    return _known([] if limiting is None else [limiting], every, is_none=is_none)


def _known(first: Sequence[Judged], every: Iterable[Judged], *, is_none: bool) -> Certainty:
    mild = [] if is_none else [criterion for criterion in every if is_judged_mildly(criterion)]
    may_be_more = bool(first) and all(is_judged_strictly(criterion) for criterion in first)
    reasons = _reasons((*(first if may_be_more else ()), *mild))
    if may_be_more:
        return approximation(*reasons) if mild else lower_bound(*reasons)
    return upper_bound(*reasons) if mild else EXACT


def answer_known(solution: Solution) -> Certainty:
    """Return how the answer of a solution is known, all modes taken together."""
    every = (failure for each in (solution, *solution.others) for failure in each.failures)
    return largest_known(every, solution.graph.low)


def met_up_to_known(solution: Solution, criterion: Criterion) -> Certainty:
    """Return how it is known up to which population a criterion of a solution is met."""
    judged = [failure for failure in solution.failures if failure.criterion is criterion]
    return largest_known(judged, solution.graph.low)


def quality_known(graphs: Sequence[LoadGraph]) -> Certainty:
    """Return how the quality is known: the worst of several modes counts."""
    return together(*(graph.quality_known for graph in graphs))


def _reasons(criteria: Iterable[Judged]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(reason for one in criteria for reason in one.known.reasons))
