"""Where requirements begin and cease to fail as one number moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise

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
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.capacity import excess
from qps.solver.answers.solution import QUALITY
from qps.solver.search import certain_signs
from qps.solver.search.boxes import MOST_BOXES, Budget
from qps.solver.search.certain_signs import NoSignError
from qps.solver.search.critical_points import critical_points
from qps.solver.search.sign_changes import Stretch, Trial, changes_of
from qps.solver.what_if.overloads import Overloads

_MOST_BOXES, _LEAST_BOXES = 3 * MOST_BOXES, 100
"""In all so many boxes are looked at, and a few for each criterion."""


class Failure(Struct, frozen=True):
    """A requirement that fails, and its mode; None without modes.

    If `refused` is true, `requirement` is not a requirement, but the reason why the value is
    invalid or undecided.
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


_UNDECIDED = " is undecided"


class Excess(Struct, frozen=True, kw_only=True):
    """A criterion of a mode as a function of one number: above zero where it fails.

    `known` is how its measure is known wherever it may fail, `at_most` on which side its limit is;
    where `overloads` tell more, the `criterion` itself is known better at some values.
    Quality `is_implied` where it fails where an axis does: of one axis, or the worst of several.
    What is `undecided` of it counts as failing. Where there is a `sign_as_set`, that is asked for
    the sign at a value: the model may have a value where the function of the number has none.
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

        So near to the limit that no digits tell it is on it.
        """
        if self.sign_as_set is not None:
            return self.sign_as_set(at)
        try:
            return certain_signs.sign_at(self.value, symbol, at)
        except NoSignError:
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
        """Return whether it is not told what it does at a value."""
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

    `excesses` are the criteria with what is untold of them. `known` is how it is known which values
    are acceptable: a lower bound where more may be in truth, an upper one where fewer.
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
    told: list[Excess] = []
    nearly: dict[Excess, tuple[Stretch, ...]] = {}
    trials: dict[Excess, tuple[Trial, ...]] = {}
    boxes = _MOST_BOXES
    crossings = {
        one.overloads: one.overloads.points(symbol, *ends)
        for one in excesses
        if one.overloads is not None
    }
    found = {point for points in crossings.values() for point in points or ()}
    for over in excesses:
        if over.overloads is not None and crossings[over.overloads] is None:
            over = replace(over, overloads=None)  # noqa: PLW2901 - as it is known wherever it fails
        points: Sequence[Fraction] | None = ()
        if symbol in over.value.symbols and not over.is_implied:
            points = critical_points(over.value, symbol, *ends)
        if points is None:
            budget = Budget(max(_LEAST_BOXES, min(boxes, MOST_BOXES)))
            boxes -= budget.boxes
            changes = changes_of(
                over.value, symbol, ends, budget, strict=over.strict, is_whole=is_whole
            )
            boxes += max(budget.boxes, 0)
            points, over = changes.points, replace(over, undecided=changes.undecided)  # noqa: PLW2901 - as it is told
            nearly[over], trials[over] = changes.nearly, changes.trials
        found |= set(points)
        told.append(over)
    inside = sorted(point for point in found if ends[0] < point < ends[1])
    told_of = _UndecidedCriteria(told, symbol, inside, unit)
    more = [told_of.certainty(over, over.undecided, lower_bound) for over in told]
    fewer = [told_of.certainty(over, at, upper_bound) for over, at in nearly.items()]
    either = [told_of.certainty_of_trials(over, at) for over, at in trials.items()]
    return Boundaries(points=inside, excesses=told, known=together(*more, *fewer, *either))


class _UndecidedCriteria(Struct, frozen=True):
    """What is not told of criteria, where another one does not settle it."""

    excesses: Sequence[Excess]
    symbol: Formula
    points: Sequence[Fraction]
    unit: str

    def certainty(
        self, over: Excess, undecided: Sequence[Stretch], bound: Callable[[Reason], Certainty]
    ) -> Certainty:
        """Return how the values are known of which one criterion is not told."""
        matters = [one for one in undecided if self._matters(over, one)]
        return bound(self._reason(over, matters)) if matters else EXACT

    def certainty_of_trials(self, over: Excess, trials: Sequence[Trial]) -> Certainty:
        """Return how the values are known where values of one criterion were tried."""
        matters = [one for one in trials if self._matters(over, one.stretch)]
        if not matters:
            return EXACT
        values = sum(one.values for one in matters)
        place = self._place([one.stretch for one in matters])
        asked = over.failure.requirement
        return known_by("values-tried", asked, mode=_in_mode(over), place=place, values=values)

    def _matters(self, over: Excess, there: Stretch) -> bool:
        low, high = there
        ends = [low, *(at for at in self.points if low < at < high), high]
        others = [one for one in self.excesses if one is not over and not one.is_implied]
        return not all(
            any(other.fails(self.symbol, at) and not other.is_undecided(at) for other in others)
            for at in ((start + end) / 2 for start, end in pairwise(ends))
        )

    def _reason(self, over: Excess, undecided: Sequence[Stretch]) -> Reason:
        """Return what is not told, where, and what would help."""
        asked, place = over.failure.requirement, self._place(undecided)
        return reason_of("bounds-undecided", asked, mode=_in_mode(over), place=place)

    def _place(self, stretches: Sequence[Stretch]) -> str:
        more = f" and {len(stretches) - 1:,} more ranges" if len(stretches) > 1 else ""
        low, high = (f"{float(at):.12g}" for at in stretches[0])
        return f"{self.symbol.value} from {low} to {high} {self.unit}".rstrip() + more


def _in_mode(over: Excess) -> str:
    return f" in mode {over.failure.mode}" if over.failure.mode else ""
