"""What model errors leave of a difference of two capacities, and of what a sizing proposes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.serial_losses import known_at
from qps.compiler.quantities.certainty import CertaintyKind
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.unfavorable_errors import unfavorable_errors
from qps.solver.what_if.mode_sizing import SizedMode
from qps.solver.what_if.sizing_result import SizingReliability

_UNSTATED = 0.25
"""The error of an approximation that states none, as a part of the truth: half of those that
state one are better."""


class SupportedUsers(Struct, frozen=True):
    """How many `users` some graphs carry, one of each mode; 0 for none."""

    graphs: Sequence[LoadGraph]
    users: int

    def differs_within_error_from(self, other: SupportedUsers) -> bool:
        """Return whether two capacities differ, and by less than the model error.

        So it is where the spec that carries fewer may carry as many as the other one, or this as
        few, by the error of what is an approximation there.
        """
        fewer, more = sorted((self, other), key=lambda one: one.users)
        return fewer.users < more.users and (
            fewer.may_pass(more.users) or more.may_fail_at(fewer.users + 1)
        )

    def may_pass(self, population: int) -> bool:
        """Return whether all that fails at a population of the range may hold there in truth."""
        return population <= min(graph.high for graph in self.graphs) and all(
            times <= 1 + error for times, error in self._by_limits(population) if times > 1
        )

    def may_fail_at(self, population: int) -> bool:
        """Return whether something that holds at a population may fail there in truth."""
        return any(
            error and times * (1 + error) > 1 for times, error in self._by_limits(population)
        )

    def _by_limits(self, population: int) -> Iterator[tuple[float, float]]:
        """Yield by how many times each measure is beyond its limit, and how far off it may be."""
        for graph in self.graphs:
            at = max(population, graph.low)
            for criterion in all_criteria(graph):
                yield _times(graph, criterion, at), _error(graph, criterion, at)


def sizing_reliability(
    model: ir.Model,
    modes: Sequence[SizedMode],
    modes_of: Callable[[ir.Model], Sequence[SizedMode]],
    population: int,
    times: Mapping[str, Fraction],
) -> SizingReliability:
    """Return whether a population is reliably supported with capacities so many times as large.

    It is judged as the reliable capacity is: by limits and targets that allow for the errors.
    `modes_of` makes the modes of a model with tighter limits.
    """
    graphs = [mode.sized(dict(times)) for mode in modes]
    errors = unfavorable_errors(model, graphs, population)
    tight = errors.tightened(model)
    is_supported = tight is model or all(
        not mode.failing(dict(times)) and mode.supports(dict(times)) for mode in modes_of(tight)
    )
    return SizingReliability(
        is_supported=is_supported,
        allowed_for=errors.allowed_for,
        unmeasured=errors.unmeasured,
    )


def _times(graph: LoadGraph, criterion: Criterion, population: int) -> float:
    """Return how many times its limit a measure is, above 1 where that is too much or too little.

    What has no value, or no proportion to its limit, counts as infinitely far beyond it where it
    fails.
    """
    point = graph.at(population)
    value, limit = point.number(criterion.measure), point.number(criterion.limit)
    if not criterion.at_most:
        value, limit = limit, value
    if value <= limit:
        return value / limit if limit > 0 else 0.0
    return value / limit if limit > 0 else float("inf")


def _error(graph: LoadGraph, criterion: Criterion, population: int) -> float:
    """Return how far off a measure may be in truth, as a part of that; 0 for what is no guess.

    What samples promise is known by these: so near that no other capacity is meant.
    """
    known = known_at(graph, criterion, population)
    if known.kind is not CertaintyKind.APPROXIMATION or criterion.confidence is not None:
        return 0.0
    return _UNSTATED if known.error is None else known.error
