"""Where requirements begin and cease to fail as one number moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.diagnostics.former_names import former
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.requirements.quality_axes import axes_of
from qps.compiler.quantities.certainty import (
    EXACT,
    Certainty,
    Reason,
    lower_bound,
    together,
    upper_bound,
)
from qps.compiler.quantities.methods import known_by, reason_of
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.capacity import excess
from qps.solver.answers.solution import QUALITY
from qps.solver.search import certain_signs
from qps.solver.search.boxes import MOST_BOXES, Budget
from qps.solver.search.certain_signs import UndecidedLimitError
from qps.solver.search.critical_points import critical_points
from qps.solver.search.sign_changes import SignChanges, Stretch, Trial, changes_of
from qps.solver.what_if.overloads import Overloads

_MOST_BOXES, _LEAST_BOXES = 3 * MOST_BOXES, 100
"""In all so many boxes are looked at, and a few for each criterion."""
_NEIGHBORHOOD = Fraction(10**6)
"""The inverse of the part of a value that is just behind it."""
_UNDECIDED = " is undecided"


class Failure(Struct, frozen=True):
    """A requirement that is not met, and its mode (None if the spec has no modes).

    If `refused` is true, `requirement` contains the reason why the value is invalid or
    undecided instead.
    """

    requirement: str
    mode: str | None
    refused: bool = False

    @property
    def is_undecided(self) -> bool:
        """True if QPS cannot decide whether the value is acceptable."""
        return self.refused and self.requirement.endswith(_UNDECIDED)

    is_untold = former("is_untold", "is_undecided")


class FailureAt(Failure, frozen=True, kw_only=True):
    """A failure at a value of the number, where the measure is beyond a limit, or on a strict one.

    The limit is a largest value if `at_most`, otherwise a smallest.
    """

    at_most: bool = True
    strict: bool = False
    is_on_limit: bool = False
    is_finite: bool = True

    @property
    def what(self) -> tuple[str, str | None, bool, bool]:
        """What fails, whatever its value is there."""
        return self.requirement, self.mode, self.refused, self.at_most


class Excess(Struct, frozen=True, kw_only=True):
    """A criterion of a mode as a function of one number: above zero where it fails.

    `known` is how its measure is known wherever it may fail, `at_most` on which side its limit is;
    where `overloads` say more, the `criterion` itself is known better at some values. Quality
    `is_implied` where it fails where an axis does: of one axis, or the worst of several. What is
    `undecided` of it counts as failing. Where there is a `sign_as_set`, that returns the sign at a
    value: the model may have a value where the function of the number has none.
    """

    failure: Failure
    value: Formula
    strict: bool
    is_axis: bool = False
    known: Certainty = EXACT
    criterion: Criterion | None = None
    overloads: Overloads | None = None
    at_most: bool = True
    is_implied: bool = False
    undecided: tuple[Stretch, ...] = ()
    sign_as_set: Callable[[Fraction], int | None] | None = None

    def fails(self, symbol: Formula, at: Fraction) -> bool:
        """Return whether it fails at a value of the number."""
        return self.is_undecided(at) or self._is_failing(self.sign_at(symbol, at))

    def _is_failing(self, sign: int | None) -> bool:
        return sign is None or sign > 0 or (self.strict and sign == 0)

    def as_known_at(self, symbol: Formula, at: Fraction) -> Excess:
        """Return the same with how its measure is known at a value."""
        if self.overloads is None or self.criterion is None:
            return self
        return replace(self, known=self.overloads.known(self.criterion, symbol, at))

    def is_open_at(self, symbol: Formula, at: Fraction) -> bool:
        """Return whether it fails at a value for itself: on a strict limit, or without a value."""
        sign = self.sign_at(symbol, at)
        return sign is None or (self.strict and sign == 0)

    def sign_at(self, symbol: Formula, at: Fraction) -> int | None:
        """Return the sign at a value, None where it has no finite value.

        So near to the limit that no digits determine it is on it.
        """
        if self.sign_as_set is not None:
            return self.sign_as_set(at)
        try:
            return certain_signs.sign_at(self.value, symbol, at)
        except UndecidedLimitError:
            return 0

    def failure_at(self, symbol: Formula, at: Fraction) -> FailureAt | None:
        """Return what fails at a value, None where it holds."""
        if self.is_undecided(at):
            words = f"`{self.failure.requirement}`{_UNDECIDED}"
            return FailureAt(words, self.failure.mode, refused=True)
        sign = self.sign_at(symbol, at)
        if not self._is_failing(sign):
            return None
        return FailureAt(
            self.failure.requirement,
            self.failure.mode,
            self.failure.refused,
            at_most=self.at_most,
            strict=self.strict,
            is_on_limit=sign == 0,
            is_finite=sign is not None,
        )

    def is_undecided(self, at: Fraction) -> bool:
        """Return whether it is undecided at a value."""
        return any(low < at < high for low, high in self.undecided)


def excess_of(
    criterion: Criterion,
    graph: LoadGraph,
    values: Mapping[Formula, Formula],
    overloads: Overloads | None = None,
) -> Excess:
    """Return a criterion of a graph as a function of the one number that has no value."""
    return Excess(
        failure=Failure(criterion.name, graph.mode),
        value=substituted(excess(criterion), values),
        strict=criterion.strict,
        is_axis=criterion.axis is not None,
        known=criterion.known_in_series,
        criterion=criterion,
        overloads=None if criterion.known == criterion.known_in_series else overloads,
        at_most=criterion.at_most,
        is_implied=criterion.name == QUALITY
        and graph.metric is not ir.Metric.FORMULA
        and (graph.metric is ir.Metric.WORST or len(axes_of(graph.criteria)) == 1),
    )


class Boundaries(Struct, frozen=True, kw_only=True):
    """Every value at which a criterion may begin or cease to fail, ascending.

    `excesses` are the criteria with what is undecided of them. `known` is how it is known which
    values are acceptable: a lower bound where more may be in truth, an upper one where fewer.
    """

    points: list[Fraction]
    excesses: list[Excess]
    known: Certainty


def boundaries_of(
    excesses: Sequence[Excess],
    symbol: Formula,
    ends: Stretch,
    *,
    unit: str = "",
    is_whole: bool = False,
) -> Boundaries:
    """Return every value between two ends at which a criterion may begin or cease to fail.

    Of a number that `is_whole` only whole values matter; its `unit` is written after values.
    """
    crossings = {
        one.overloads: one.overloads.points(symbol, *ends)
        for one in excesses
        if one.overloads is not None
    }
    # Without the points of its overloads a criterion is as it is known wherever it fails.
    excesses = [
        replace(one, overloads=None) if one.overloads and crossings[one.overloads] is None else one
        for one in excesses
    ]
    search = _Search(excesses, symbol, ends, is_whole=is_whole)
    found = search.changes()
    found.points.update(point for points in crossings.values() for point in points or ())
    remaining = [replace(one, undecided=found.undecided.get(one, ())) for one in excesses]
    inside = sorted(point for point in found.points if ends[0] < point < ends[1])
    undecided_criteria = _UndecidedCriteria(remaining, symbol, inside, unit)
    more = [undecided_criteria.certainty(over, over.undecided, lower_bound) for over in remaining]
    pairs = dict(zip(excesses, remaining, strict=True))
    fewer = [
        undecided_criteria.certainty(pairs[one], at, upper_bound)
        for one, at in found.nearly.items()
    ]
    either = [
        undecided_criteria.certainty_of_trials(pairs[one], at) for one, at in found.trials.items()
    ]
    return Boundaries(points=inside, excesses=remaining, known=together(*more, *fewer, *either))


@dataclass
class _Boundaries:
    """What was found of all criteria: points, and what is undecided of each."""

    points: set[Fraction]
    undecided: dict[Excess, tuple[Stretch, ...]] = field(default_factory=dict)
    nearly: dict[Excess, tuple[Stretch, ...]] = field(default_factory=dict)
    trials: dict[Excess, tuple[Trial, ...]] = field(default_factory=dict)


class _Search:
    """Looks for the changes of all criteria: of those with exact points first.

    The others are searched by boxes, those of few parts first, and only where nothing fails that is
    known by then: what else fails beside a certain failure changes no answer. Where something fails
    everywhere they are searched throughout, so that all is named that another number must fix.
    """

    def __init__(
        self, excesses: Sequence[Excess], symbol: Formula, ends: Stretch, *, is_whole: bool
    ) -> None:
        self._symbol, self._ends, self._is_whole = symbol, ends, is_whole
        moving = [one for one in excesses if symbol in one.value.symbols and not one.is_implied]
        exact = {one: critical_points(one.value, symbol, *ends) for one in moving}
        self._listed = [one for one in moving if exact[one] is None]
        self._searched = sorted(self._listed, key=lambda one: len([*parts_first(one.value)]))
        self._decided = [one for one in excesses if one not in set(self._searched)]
        self._exact = {point for points in exact.values() for point in points or ()}
        self._searched_stretches: dict[Excess, Sequence[Stretch]] = {}
        self._changes: dict[tuple[Excess, Stretch, int], tuple[SignChanges, int]] = {}

    def changes(self) -> _Boundaries:
        """Return all changes that say which values are acceptable, and what fails beside them."""
        found, passing = self._changes_within(self._passing(self._decided, self._exact))
        if self._searched and not passing:
            found, _ = self._changes_within([self._ends], only=True)
        elif self._searched:
            found.points.update(self._points_behind(passing, found.points))
        return found

    def _changes_within(
        self, stretches: Sequence[Stretch], *, only: bool = False
    ) -> tuple[_Boundaries, Sequence[Stretch]]:
        """Return what is found in some stretches, each criterion where those before it hold.

        And where all hold. With `only`, every criterion is searched in all of these stretches.
        """
        found, decided, boxes = _Boundaries(set(self._exact)), list(self._decided), _MOST_BOXES
        found.nearly.update(dict.fromkeys(self._listed, ()))
        found.trials.update(dict.fromkeys(self._listed, ()))
        for over in self._searched:
            budget = Budget(max(_LEAST_BOXES, min(boxes, MOST_BOXES)))
            boxes -= budget.boxes
            self._searched_stretches[over] = stretches
            each = [self._changes_of(over, stretch, budget) for stretch in stretches]
            boxes += max(budget.boxes, 0)
            found.points.update(point for one in each for point in one.points)
            found.undecided[over] = tuple(at for one in each for at in one.undecided)
            found.nearly[over] = tuple(at for one in each for at in one.nearly)
            found.trials[over] = tuple(at for one in each for at in one.trials)
            decided.append(replace(over, undecided=found.undecided[over]))
            if not only:
                stretches = self._passing(decided, found.points, stretches)
        return found, stretches

    def _changes_of(self, over: Excess, stretch: Stretch, budget: Budget) -> SignChanges:
        if self._is_whole:  # the whole numbers beside both ends determine whether it changes there
            low, high = self._ends
            stretch = max(low, Fraction(floor(stretch[0]))), min(high, Fraction(ceil(stretch[1])))
        key = over, stretch, budget.boxes  # nothing is searched twice
        if key not in self._changes:
            of = over.value, self._symbol, stretch
            found = changes_of(*of, budget, strict=over.strict, is_whole=self._is_whole)
            self._changes[key] = found, budget.boxes
        found, budget.boxes = self._changes[key]
        return found

    def _passing(
        self, decided: Sequence[Excess], points: Iterable[Fraction], within: Sequence[Stretch] = ()
    ) -> list[Stretch]:
        """Return the stretches in which nothing fails for sure; neighbors are one."""
        found: list[Stretch] = []
        for low, high in within or [self._ends]:
            inside = sorted({low, high, *(at for at in points if low < at < high)})
            for start, end in pairwise(inside):
                if any(self._fails(one, (start + end) / 2) for one in decided):
                    continue
                if found and found[-1][1] == start:
                    found[-1] = found[-1][0], end
                else:
                    found.append((start, end))
        return found

    def _fails(self, one: Excess, at: Fraction) -> bool:
        return not one.is_undecided(at) and one.fails(self._symbol, at)

    def _points_behind(
        self, passing: Sequence[Stretch], points: Iterable[Fraction]
    ) -> Iterator[Fraction]:
        """Yield a point just behind ends of what holds: what fails there is what ends it.

        Where all criteria are decided behind an end, they have points of their own there.
        """
        places = sorted({*self._ends, *points})
        for low, high in passing:
            for end, step in (low, -1), (high, 1):
                place = places.index(end) + step
                if not self._is_whole and 0 <= place < len(places):
                    if self._is_decided((places[place] + end) / 2):
                        continue
                    gap = places[place] - end
                    least = max(abs(end), abs(gap) * _NEIGHBORHOOD**-2) / _NEIGHBORHOOD
                    yield end + min(abs(gap) / 2, least) * step

    def _is_decided(self, at: Fraction) -> bool:
        return all(
            any(low <= at <= high for low, high in stretches)
            for stretches in self._searched_stretches.values()
        )


class _UndecidedCriteria(Struct, frozen=True):
    """What is undecided of criteria, where another one does not decide it."""

    excesses: Sequence[Excess]
    symbol: Formula
    points: Sequence[Fraction]
    unit: str

    def certainty(
        self, over: Excess, undecided: Sequence[Stretch], bound: Callable[[Reason], Certainty]
    ) -> Certainty:
        """Return how the values are known at which one criterion is undecided."""
        matters = [one for one in undecided if self._matters(over, one)]
        return bound(self._reason(over, matters)) if matters else EXACT

    def certainty_of_trials(self, over: Excess, trials: Sequence[Trial]) -> Certainty:
        """Return how the values are known where values of one criterion were tried."""
        matters = [one for one in trials if self._matters(over, one.stretch)]
        if not matters:
            return EXACT
        values = sum(one.values for one in matters)
        place = self._place([one.stretch for one in matters])
        requirement = over.failure.requirement
        return known_by(
            "values-tried", requirement, mode=_in_mode(over), place=place, values=values
        )

    def _matters(self, over: Excess, there: Stretch) -> bool:
        low, high = there
        ends = [low, *(at for at in self.points if low < at < high), high]
        others = [one for one in self.excesses if one is not over and not one.is_implied]
        return not all(
            any(other.fails(self.symbol, at) and not other.is_undecided(at) for other in others)
            for at in ((start + end) / 2 for start, end in pairwise(ends))
        )

    def _reason(self, over: Excess, undecided: Sequence[Stretch]) -> Reason:
        """Return what is undecided, where, and a remedy."""
        requirement, place = over.failure.requirement, self._place(undecided)
        return reason_of("bounds-undecided", requirement, mode=_in_mode(over), place=place)

    def _place(self, stretches: Sequence[Stretch]) -> str:
        more = f" and {len(stretches) - 1:,} more ranges" if len(stretches) > 1 else ""
        low, high = (f"{float(at):.12g}" for at in stretches[0])
        return f"{self.symbol.value} from {low} to {high} {self.unit}".rstrip() + more


def _in_mode(over: Excess) -> str:
    return f" in mode {over.failure.mode}" if over.failure.mode else ""
