"""The capacity of two sides that can be relied on, of the same samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from qps.compiler.configure.configuration import uncertain_in, uncertain_in_any_mode
from qps.compiler.quantities.printed_capacity import printed_capacity
from qps.solver.answers.answer_parts import HeadlineCapacity, Headlines, ReliableCapacity
from qps.solver.answers.reliable_limits import ReliableAnswer, ReliableLimits
from qps.solver.answers.solution import Solution
from qps.solver.answers.uncertain_dependence import graphs_of, rests_on
from qps.solver.reliable_solution import ReliableSolution
from qps.solver.uncertainty.interval_result import DifferenceUncertainty, KnownSurfaces, Sampling
from qps.solver.uncertainty.reliable_capacity import plain_solution, reliable_capacity
from qps.solver.what_if.assumption_changes import ConfiguredModel

if TYPE_CHECKING:  # of few specs; it needs numpy
    from qps.solver.uncertainty.sampled_capacity import CapacitySamples


class SolvedSide(Struct, frozen=True, kw_only=True):
    """A model in one configuration, and its solution with all that is promised."""

    side: ConfiguredModel
    solution: Solution

    @property
    def is_certain(self) -> bool:
        """Whether every number that it rests on is certain."""
        names = uncertain_in_any_mode(self.side.model, self.side.configuration)
        return not rests_on(graphs_of(self.solution), names)

    def is_sampled_as(self, sampled: CapacitySamples | None) -> bool:
        """Return whether a solution of the side alone has those samples, or none as well."""
        if sampled is None:
            return not uncertain_in(self.side.configuration)
        return not self.is_certain and bool(sampled.is_solved.all())


class ReliableDifference(Struct, frozen=True, kw_only=True):
    """The uncertainty of a difference, and the capacity of each side that can be relied on.

    There is no uncertainty without uncertain inputs. None are `reliable`, and there are no
    `headlines`, where what was computed can be relied on: without uncertain inputs and measured
    model errors. `solutions` are those of the sides that are as each has it alone.
    """

    solutions: tuple[ReliableSolution | None, ReliableSolution | None] = (None, None)
    uncertainty: DifferenceUncertainty | None = None
    reliable: tuple[ReliableCapacity | None, ReliableCapacity | None] = (None, None)
    headlines: Headlines | None = None


def reliable_difference(
    old: SolvedSide, new: SolvedSide, *, is_same: bool = False
) -> ReliableDifference:
    """Return what can be relied on, as an answer states it, for two sides of the same samples.

    Sides that are known to be the same, `is_same`, are judged once.
    """
    sampling = Sampling(known=KnownSurfaces())
    models = [
        plain_solution(one.side.model, one.side.configuration, one.solution) for one in (old, new)
    ]
    uncertainty, samples, are_alone = None, _NO_SAMPLES, True
    if not (old.is_certain and new.is_certain):
        from qps.solver.uncertainty.difference_intervals import (  # noqa: PLC0415 - needs numpy
            StatedSide,
            sampled_difference,
        )

        sides = [
            StatedSide(side=ConfiguredModel(model, one.side.configuration), solution=solution)
            for one, (model, solution) in zip((old, new), models, strict=True)
        ]
        found = sampled_difference((sides[0], sides[1]), sampling, is_same=is_same)
        if found is None:
            return ReliableDifference()
        uncertainty, samples, are_alone = found.uncertainty, found.samples, found.are_alone

    def reliable(place: int) -> ReliableAnswer:
        (model, solution), configuration = models[place], (old, new)[place].side.configuration
        return reliable_capacity(model, configuration, solution, samples[place], sampling)

    after = reliable(1)
    before = after if is_same else reliable(0)

    def alone(place: int) -> ReliableSolution | None:
        one, sampled = (old, new)[place], samples[place]
        is_new_or_alone = are_alone or place == 1
        if not (is_new_or_alone and one.is_sampled_as(sampled)):
            return None
        return ReliableSolution(
            solution=one.solution,
            plain=models[place][0],
            plain_solution=models[place][1],
            sampled=sampled,
            reliable=(before, after)[place],
        )

    solutions = alone(0), alone(1)
    if before.is_nominal and after.is_nominal:
        return ReliableDifference(solutions=solutions, uncertainty=uncertainty)
    return ReliableDifference(
        solutions=solutions,
        uncertainty=uncertainty,
        reliable=(before.capacity, after.capacity),
        headlines=Headlines(
            before=_headline(models[0][1], before), after=_headline(models[1][1], after)
        ),
    )


def _headline(solution: Solution, answer: ReliableAnswer) -> HeadlineCapacity:
    capacity, confidence = answer.capacity.capacity, answer.capacity.confidence
    if capacity is None:
        limit = solution.limited_by
        return HeadlineCapacity(capacity=None, confidence=confidence, limited_by=limit)
    printed = printed_capacity(capacity, high=solution.graph.high)
    limits = ReliableLimits(solution=solution, reliable=answer, population=printed)
    return HeadlineCapacity(capacity=printed, confidence=confidence, limited_by=limits.limited_by)


_NO_SAMPLES: tuple[CapacitySamples | None, CapacitySamples | None] = (None, None)
