"""The question turned round: which values of a number carry a given population?

The criteria at that population are functions of the one number alone. Where they are made of
rational functions, maxima and minima, their critical points are found exactly; where not, bounds
over boxes find where they change (`search/sign_changes`). Between two neighbouring points all
values are alike; at one of each stretch the model is asked as it is where that is set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import chain, pairwise
from math import ceil, floor

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in_any_mode
from qps.compiler.ir.measure_names import current_text
from qps.compiler.lower.certainty_requirements import refuse_certainty_asked
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, opposite, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.answer_certainty import values_known
from qps.solver.answers.answering import all_criteria, largest_acceptable
from qps.solver.answers.capacity import excess
from qps.solver.answers.solution import QUALITY, SolverFault
from qps.solver.search.certain_signs import sign_at
from qps.solver.what_if.boundaries import Excess, Failure, FailureAt, boundaries_of
from qps.solver.what_if.fewer_users import holds_for_fewer
from qps.solver.what_if.model_as_set import ModelAsSet
from qps.solver.what_if.unknown import Unknown, refuse, refuse_outside, unknown_of

_NEARLY = Fraction(1, 10**9)
_MOST_ASKED = 12
"""Between so many points the model is asked as it is where a value is set."""


class Interval(Struct, frozen=True, kw_only=True):
    """Acceptable values, and what fails beyond each end; None at a range's end.

    An open end is not acceptable itself. `unrounded` holds the ends before they were rounded
    to whole numbers, where they were. `low_known` and `high_known` tell how the ends are known.
    Of one value that does alone, `exact` is that value.
    """

    low: float
    high: float
    fails_below: FailureAt | None
    fails_above: FailureAt | None
    low_is_open: bool = False
    high_is_open: bool = False
    unrounded: tuple[float, float] | None = None
    low_known: Certainty = EXACT
    high_known: Certainty = EXACT
    exact: Fraction | None = None


class InverseSolution(Struct, frozen=True, kw_only=True):
    """The values of a number, in base units, with which a population is acceptable.

    Where nothing is acceptable, `fails` is what fails at every value of the range; where nothing
    does so by itself, it is what fails at one or the other, and not `fails_throughout`.
    `known` is a lower bound where more values may be acceptable in truth, an upper one where fewer.
    """

    number: Unknown
    population: str
    at: int
    intervals: tuple[Interval, ...]
    fails: tuple[FailureAt, ...]
    fails_throughout: bool
    known: Certainty = EXACT
    ports: Mapping[str, str] = field(default_factory=dict)
    """The ports of switches, with the link that each is a port of."""
    nominal_inputs: tuple[str, ...] = ()
    """The other numbers that nobody knows exactly: it is told with their typical values."""


def solve_for(
    model: ir.Model, configuration: Configuration, name: str, population: int
) -> InverseSolution:
    """Return the values of a parameter, or of any number of the model, that carry a population.

    QpsError where there is no such number, where a condition depends on it, or where what it
    gives carries the population but not a smaller one.
    """
    trying = f"for the capacity at one value: `qps solve --set '{name} = …'`"
    is_set = any(parameter.name == name for parameter in model.parameters)
    name = name if is_set else current_text(name)
    refuse_certainty_asked(model, configuration, trying if is_set else "")
    refuse_outside(model, configuration, population)
    number = unknown_of(model, configuration, name, population)
    excesses = [
        Excess(failure=Failure(r.message, None, refused=True), value=r.over, strict=r.strict)
        for r in number.refused
    ]
    as_set = ModelAsSet(model, configuration, number, population)
    excesses += [over for graph in number.graphs for over in as_set.excesses_of(graph)]
    found_at = boundaries_of(
        excesses,
        number.symbol,
        (number.low, number.high),
        unit=str(number.dimension),
        is_whole=number.is_count,
    )
    judged, as_tried = _judged(as_set, number, found_at.excesses, found_at.points)
    found = judged.intervals()
    for interval in found:
        _holds_below(number, interval, population, as_set)
    below = together(*(_known_below(number, interval, population) for interval in found))
    found = [judged.with_known_ends(interval) for interval in found]
    throughout = () if found else judged.fails_throughout()
    fails = throughout or tuple(dict.fromkeys(r for r in judged.reasons if r is not None))
    return InverseSolution(
        number=number,
        population=model.population.name,
        at=population,
        intervals=tuple(found),
        fails=() if found else fails,
        fails_throughout=bool(throughout),
        known=together(judged.known(is_none=not found), found_at.known, as_tried, below),
        ports=number.graphs[0].ports,
        nominal_inputs=tuple(
            one for one in uncertain_in_any_mode(model, configuration) if one != name
        ),
    )


def _judged(
    as_set: ModelAsSet, number: Unknown, excesses: Sequence[Excess], points: Sequence[Fraction]
) -> tuple[_Requirements, Certainty]:
    """Return what is required, judged between points, as it is where values are set.

    And what that adds to how it is known.
    """
    ends = [number.low, *points, number.high]
    unvalued = (at for at in points if any(o.sign_at(number.symbol, at) is None for o in excesses))
    known = as_set.beside_formulas(excesses, {number.low, number.high, *unvalued})
    judged = _Requirements(number, known, ends)
    if as_set.agrees(known, judged.middles[:_MOST_ASKED]):
        return judged, EXACT
    alone = as_set.alone(excesses)
    changes = as_set.changes(alone)
    if changes is None:
        return judged, EXACT
    points, certainty = changes
    return _Requirements(number, alone, sorted({number.low, *points, number.high})), certainty


class _Requirements(Struct, frozen=True, dict=True):
    """What is required, as functions of a number; between two neighbouring `ends` all is alike."""

    number: Unknown
    excesses: Sequence[Excess]
    ends: Sequence[Fraction]

    @cached_property
    def middles(self) -> list[Fraction]:
        """A value in each stretch: of what counts a whole one; between two of them nothing lies."""
        return [self._within(low, high) for low, high in pairwise(self.ends)]

    def _within(self, low: Fraction, high: Fraction) -> Fraction:
        middle = (low + high) / 2
        whole = Fraction(floor(middle))
        if not self.number.is_count:
            return middle
        inside = next((n for n in (whole, whole + 1) if low < n < high), None)
        if inside is None and low.denominator == high.denominator == 1:
            return next((end for end in (low, high) if self._failing(end) is not None), low)
        return middle if inside is None else inside

    @cached_property
    def reasons(self) -> list[FailureAt | None]:
        """What fails first in each stretch."""
        return [self._failing(at) for at in self.middles]

    def _all_failing(self, at: Fraction) -> list[Excess]:
        symbol = self.number.symbol
        return [over.as_known_at(symbol, at) for over in self.excesses if over.fails(symbol, at)]

    def _failing(self, at: Fraction) -> FailureAt | None:
        """Return the first criterion that fails at a value."""
        return next(self._failures(at), None)

    def _failures(self, at: Fraction) -> Iterator[FailureAt]:
        """Yield what fails at a value."""
        failures = (over.failure_at(self.number.symbol, at) for over in self.excesses)
        return (failure for failure in failures if failure is not None)

    def _is_within(self, at: Fraction | float) -> bool:
        return self.number.low <= at <= self.number.high

    # -- how the values are known ----------------------------------------------------------

    def known(self, *, is_none: bool) -> Certainty:
        """Return how the values are known, by what fails in each stretch."""
        places = set(self.middles)
        if self.number.is_count:
            whole = {Fraction(n) for at in (*self.ends, *places) for n in (floor(at), ceil(at))}
            places = {at for at in whole if self._is_within(at)}
        outside = [self._all_failing(at) for at in sorted(places)]
        return values_known(outside, self.excesses, is_none=is_none)

    def with_known_ends(self, interval: Interval) -> Interval:
        """Return an interval with how each end is known: by all that fails just beyond it."""
        low, high = (
            values_known([self._beyond(interval, is_low=is_low)], self.excesses, is_none=False)
            for is_low in (True, False)
        )
        return replace(interval, low_known=opposite(low), high_known=high)

    def _beyond(self, interval: Interval, *, is_low: bool) -> list[Excess]:
        """Return what fails just beyond an end of an interval, nothing at the end of the range."""
        ends = self.ends
        end = Fraction(interval.low if is_low else interval.high)
        step = -1 if is_low else 1
        if self.number.is_count:
            places = [end + step]
        else:
            own = min(range(len(ends)), key=lambda index: abs(ends[index] - end))
            is_last = own + step not in range(len(ends))
            places = [] if is_last else [(ends[own] + ends[own + step]) / 2]
            if interval.low_is_open if is_low else interval.high_is_open:
                places.append(ends[own])
        inside = (at for at in places if self._is_within(at))
        return next(filter(None, map(self._all_failing, inside)), [])

    # -- what fails ------------------------------------------------------------------------

    def fails_throughout(self) -> tuple[FailureAt, ...]:
        """Return what fails whatever the number is: what another number must mend.

        Quality is left out where it fails for the sake of one of its axes.
        """
        symbol = self.number.symbol
        failing = [o for o in self.excesses if all(o.fails(symbol, at) for at in self.middles)]
        if any(over.is_axis for over in failing):
            failing = [over for over in failing if over.failure.requirement != QUALITY]
        failures = (
            over.failure_at(symbol, next(filter(over.is_untold, self.middles), self.middles[0]))
            for over in failing
        )
        found: dict[object, FailureAt] = {}
        for failure in filter(None, failures):
            found.setdefault(failure.what, failure)
        return tuple(found.values())

    def intervals(self) -> list[Interval]:
        """Return the acceptable values: of what counts, the whole numbers."""
        return self._in_whole_numbers() if self.number.is_count else self._stretches()

    def _stretches(self) -> list[Interval]:
        """Return the stretches between neighbouring points on which no criterion fails, joined.

        And the points that are acceptable alone.
        """
        found: list[Interval] = []
        for index, reason in enumerate(self.reasons):
            if reason is not None:
                found += self._alone(index)
                continue
            low, high = self.ends[index], self.ends[index + 1]
            opens, closes = self._is_open(low), self._is_open(high)
            # An open end fails by itself, also where all is well on both sides of it.
            before = self.reasons[index - 1] if index else None
            before = self._failing(low) if opens and before is None else before
            after = self.reasons[index + 1] if index + 1 < len(self.reasons) else None
            after = self._failing(high) if closes and after is None else after
            if found and before is None and index:
                last = found[-1]
                found[-1] = replace(last, high=float(high), fails_above=after, high_is_open=closes)
            else:
                found.append(
                    Interval(
                        low=float(low),
                        high=float(high),
                        fails_below=before,
                        fails_above=after,
                        low_is_open=opens,
                        high_is_open=closes,
                    )
                )
        return found + self._alone(len(self.reasons))

    def _alone(self, index: int) -> list[Interval]:
        """Return an end as an interval of its own where it is acceptable and no side of it is."""
        below, above = self.reasons[:index][-1:], self.reasons[index:][:1]
        end = self.ends[index]
        is_told = not any(end in stretch for over in self.excesses for stretch in over.untold)
        if None in (*below, *above) or not is_told or self._failing(end) is not None:
            return []
        return [
            Interval(
                low=float(end),
                high=float(end),
                fails_below=next(iter(below), None),
                fails_above=next(iter(above), None),
                exact=end,
            )
        ]

    def _is_open(self, end: Fraction) -> bool:
        """Return whether an end is not acceptable itself: a strict limit, or no value at all.

        A sign above zero tells nothing there: an end that is not rational stands beside itself.
        """
        symbol = self.number.symbol
        return any(over.is_open_at(symbol, end) for over in self.excesses)

    def _in_whole_numbers(self) -> list[Interval]:
        """Return the whole numbers in all stretches; neighbours are joined, empty ones left out.

        The whole numbers next to each end are tried themselves: an end that is whole may be rounded
        to either side of itself.
        """
        found: list[Interval] = []
        for interval in self._stretches():
            first, last = floor(interval.low), ceil(interval.high)
            near = {first, first + 1, last - 1, last}
            whole = [n for n in sorted(near) if self._is_acceptable(n)]
            if not whole:
                continue
            bounds = replace(
                interval,
                low=whole[0],
                high=whole[-1],
                low_is_open=False,
                high_is_open=False,
                exact=None,
            )
            exact = interval.low, interval.high
            if found and found[-1].high + 1 >= bounds.low:
                before = found.pop()
                bounds = replace(bounds, low=before.low, fails_below=before.fails_below)
                exact = (before.unrounded or (before.low,))[0], interval.high
            found.append(self._rounded(bounds, exact))
        return found

    def _is_acceptable(self, at: int) -> bool:
        return self._is_within(at) and self._failing(Fraction(at)) is None

    def _rounded(self, bounds: Interval, exact: tuple[float, float]) -> Interval:
        """Return an interval in whole numbers, with what fails at those just beyond it.

        Of what fails there, that is named which is at its limit at the end that is not rounded,
        else which begins to fail first.
        """
        symbol = self.number.symbol

        def failing(at: float, first: FailureAt | None, end: float) -> FailureAt | None:
            if not self._is_within(at):
                return None
            there = [(over, over.failure_at(symbol, Fraction(at))) for over in self.excesses]
            failures = [(over, one) for over, one in there if one is not None]
            exactly = min(self.ends, key=lambda one: abs(float(one) - end))
            limits = (one for over, one in failures if over.sign_at(symbol, exactly) == 0)
            own = (one for _, one in failures if first is not None and one.what == first.what)
            return next(chain(limits, own, (one for _, one in failures)), None)

        low, high = exact
        return replace(
            bounds,
            fails_below=failing(bounds.low - 1, bounds.fails_below, low),
            fails_above=failing(bounds.high + 1, bounds.fails_above, high),
            unrounded=None if (bounds.low, bounds.high) == exact else exact,
        )


def _holds_below(number: Unknown, interval: Interval, population: int, as_set: ModelAsSet) -> None:
    """Check an interval: just inside it every population up to the given one is acceptable."""
    for at in _just_inside(interval, is_whole=number.is_count):
        valued = [graph.with_values({number.name: number_of(at)}) for graph in number.graphs]
        for graph in as_set.known(at) or valued:
            largest = largest_acceptable(graph.up_to(population)) or graph.low - 1
            if largest >= population:
                continue
            if _accepts(graph, population):
                mode = f" in mode {graph.mode}" if graph.mode else ""
                value = _plainly(at, number)
                refuse(
                    f"{population:,} users are supported with {number.name} at "
                    f"{value}{mode}, but {largest + 1:,} are not",
                    "a smaller population fails: raise the lower end of `users`, or "
                    "solve for the failing population",
                )
            raise SolverFault(f"{number.name} = {float(at)!r} does not support {population}")


def _known_below(number: Unknown, interval: Interval, population: int) -> Certainty:
    """Return how it is known that fewer users are carried throughout an interval, too."""
    values = float(interval.low), float(interval.high)
    for graph in number.graphs:
        symbols, users = (graph.population, number.symbol), (float(graph.low), float(population))
        own = {s: value for s, value in graph.values.items() if s != number.symbol}
        for criterion in all_criteria(graph) if graph.low < population else ():
            if criterion.name == QUALITY and graph.metric is ir.Metric.WORST:
                continue  # it holds where its axes do
            over, strict = substituted(excess(criterion), own), criterion.strict
            if not holds_for_fewer(over, symbols, users, values, strict=strict):
                return known_by(
                    "lower-populations-unchecked", population=population, criterion=criterion.name
                )
    return EXACT


def _plainly(value: Fraction, number: Unknown) -> str:
    if number.is_share:
        return f"{float(100 * value):g} %"
    return f"{float(value):g} {number.dimension}".rstrip()


def _just_inside(interval: Interval, *, is_whole: bool) -> tuple[Fraction, Fraction]:
    if interval.exact is not None:
        return interval.exact, interval.exact
    low, high = Fraction(interval.low), Fraction(interval.high)
    if is_whole:
        return low, high
    half = (high - low) / 2
    return (
        low + min(half, (abs(low) or half) * _NEARLY),
        high - min(half, (abs(high) or half) * _NEARLY),
    )


def _accepts(graph: LoadGraph, population: int) -> bool:
    point = Fraction(population)
    signs = [
        (sign_at(graph.valued(excess(c)), graph.population, point), c.strict)
        for c in all_criteria(graph)
    ]
    return all(sign is not None and (sign < 0 or (sign == 0 and not s)) for sign, s in signs)
