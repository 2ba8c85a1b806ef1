"""The question turned round: which values of a number carry a given population?

The criteria at that population are functions of the one number alone. Where they are made of
rational functions, maxima and minima, their critical points are found exactly; where not, the
sign changes are bracketed on a fine grid and each is closed in on. Between two neighbouring
points all values are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, opposite, together
from qps.compiler.quantities.dimension import Dimension
from qps.engine.formulas import number as number_of
from qps.solver.answers.answer_certainty import values_known
from qps.solver.answers.answering import QUALITY, all_criteria, largest_acceptable
from qps.solver.answers.capacity import excess
from qps.solver.answers.solution import SolverFault
from qps.solver.search.certain_signs import sign_at
from qps.solver.what_if.boundaries import Excess, Failure, boundaries_known, over_of
from qps.solver.what_if.unknown import Unknown, asked, refuse

_NEARLY = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """Acceptable values, and what fails beyond each end; None at a range's end.

    An open end is not acceptable itself. `unrounded` holds the ends before they were rounded
    to whole numbers, where they were. `low_known` and `high_known` tell how the ends are known.
    """

    low: float
    high: float
    fails_below: Failure | None
    fails_above: Failure | None
    low_is_open: bool = False
    high_is_open: bool = False
    unrounded: tuple[float, float] | None = None
    low_known: Certainty = EXACT
    high_known: Certainty = EXACT


@dataclass(frozen=True, slots=True, kw_only=True)
class InverseSolution:
    """The values of a number, in base units, with which a population is acceptable.

    `current` is its value now, by mode (None outside of any); that of an elastic parameter is
    what it settles at with this population. `low` and `high` are the range that was looked at,
    that of the parameter where it has one, else a million times less and more than now.
    Where nothing is acceptable, `fails` is what fails at every value of the range; where nothing
    does so by itself, it is what fails at one or the other, and not `fails_throughout`.
    `known` is a lower bound where more values may be acceptable in truth, an upper one where fewer.
    """

    name: str
    population: str
    at: int
    current: dict[str | None, float]
    low: float
    high: float
    is_declared_range: bool
    is_elastic: bool
    is_count: bool
    is_changed_by_modes: bool
    is_share: bool
    dimension: Dimension
    intervals: tuple[Interval, ...]
    fails: tuple[Failure, ...]
    fails_throughout: bool
    known: Certainty = EXACT


def solve_for(
    model: ir.Model, configuration: Configuration, name: str, population: int
) -> InverseSolution:
    """Return the values of a parameter, or of any number of the model, that carry a population.

    QpsError where there is no such number, where a condition depends on it, or where what it
    gives carries the population but not a smaller one.
    """
    if population != int(population) or not configuration.low <= population <= configuration.high:
        refuse(
            f"{model.population.name} = {population} lies outside the range "
            f"{configuration.low}..{configuration.high} of whole numbers",
            "widen the range of `users`, or ask for another number",
        )
    number = asked(model, configuration, name, population)
    excesses = [
        Excess(failure=Failure(r.message, None, is_refused=True), value=r.over, strict=r.strict)
        for r in number.refused
    ]
    excesses += [over for graph in number.graphs for over in _excesses(graph, number, population)]
    inside, seen = boundaries_known(excesses, number.symbol, number.low, number.high)
    ends = [number.low, *inside, number.high]
    reasons = [_failing(excesses, number, (a + b) / 2) for a, b in pairwise(ends)]
    found = _intervals(excesses, number, ends, reasons)
    if number.is_count:
        found = _in_whole_numbers(excesses, number, found)
    for interval in found:
        _holds_below(number, interval, population)
    found = [_with_known_ends(excesses, number, ends, interval) for interval in found]
    throughout = () if found else _fails_throughout(excesses, number, ends)
    fails = throughout or tuple(dict.fromkeys(r for r in reasons if r is not None))
    return InverseSolution(
        name=name,
        population=model.population.name,
        at=population,
        current=number.current,
        low=float(number.low),
        high=float(number.high),
        is_declared_range=number.is_declared,
        is_elastic=number.is_elastic,
        is_count=number.is_count,
        is_changed_by_modes=number.is_changed_by_modes,
        is_share=number.is_share,
        dimension=number.dimension,
        intervals=tuple(found),
        fails=() if found else fails,
        fails_throughout=bool(throughout),
        known=together(_known(excesses, number, ends, is_none=not found), seen),
    )


def _excesses(graph: LoadGraph, number: Unknown, population: int) -> list[Excess]:
    values = {s: value for s, value in graph.values.items() if s != number.symbol}
    values[graph.population] = number_of(population)
    return [over_of(criterion, graph, values) for criterion in all_criteria(graph)]


# -- how the values are known --------------------------------------------------------------


def _known(
    excesses: Sequence[Excess], number: Unknown, ends: Sequence[Fraction], *, is_none: bool
) -> Certainty:
    """Return how the values are known, by what fails in each stretch."""
    places = {(low + high) / 2 for low, high in pairwise(ends)}
    if number.is_count:
        whole = {Fraction(n) for at in (*ends, *places) for n in (floor(at), ceil(at))}
        places = {at for at in whole if number.low <= at <= number.high}
    outside = [_all_failing(excesses, number, at) for at in sorted(places)]
    return values_known(outside, excesses, is_none=is_none)


def _with_known_ends(
    excesses: Sequence[Excess], number: Unknown, ends: Sequence[Fraction], interval: Interval
) -> Interval:
    """Return an interval with how each end is known: by all that fails just beyond it."""
    low, high = (
        values_known(
            [_beyond(excesses, number, ends, interval, is_low=is_low)], excesses, is_none=False
        )
        for is_low in (True, False)
    )
    return replace(interval, low_known=opposite(low), high_known=high)


def _beyond(
    excesses: Sequence[Excess],
    number: Unknown,
    ends: Sequence[Fraction],
    interval: Interval,
    *,
    is_low: bool,
) -> list[Excess]:
    """Return what fails just beyond an end of an interval, nothing at the end of the range."""
    end = Fraction(interval.low if is_low else interval.high)
    step = -1 if is_low else 1
    if number.is_count:
        places = [end + step]
    else:
        own = min(range(len(ends)), key=lambda index: abs(ends[index] - end))
        is_last = own + step not in range(len(ends))
        places = [] if is_last else [(ends[own] + ends[own + step]) / 2]
        if interval.low_is_open if is_low else interval.high_is_open:
            places.append(ends[own])
    inside = (at for at in places if number.low <= at <= number.high)
    return next(filter(None, (_all_failing(excesses, number, at) for at in inside)), [])


def _all_failing(excesses: Sequence[Excess], number: Unknown, at: Fraction) -> list[Excess]:
    return [over for over in excesses if over.fails(number.symbol, at)]


# -- what fails ----------------------------------------------------------------------------


def _fails_throughout(
    excesses: Sequence[Excess], number: Unknown, ends: Sequence[Fraction]
) -> tuple[Failure, ...]:
    """Return what fails whatever the number is: what another number must mend.

    Quality is left out where it fails for the sake of one of its axes.
    """
    places = [(low + high) / 2 for low, high in pairwise(ends)]
    failing = [o for o in excesses if all(o.fails(number.symbol, at) for at in places)]
    if any(over.is_axis for over in failing):
        failing = [over for over in failing if over.failure.requirement != QUALITY]
    return tuple(dict.fromkeys(over.failure for over in failing))


def _failing(excesses: Sequence[Excess], number: Unknown, at: Fraction) -> Failure | None:
    """Return the first criterion that fails at a value."""
    return next((over.failure for over in excesses if over.fails(number.symbol, at)), None)


def _intervals(
    excesses: Sequence[Excess],
    number: Unknown,
    ends: Sequence[Fraction],
    reasons: Sequence[Failure | None],
) -> list[Interval]:
    """Return the stretches between neighbouring points on which no criterion fails, joined."""
    found: list[Interval] = []
    for index, reason in enumerate(reasons):
        if reason is not None:
            continue
        low, high = ends[index], ends[index + 1]
        opens, closes = (_is_open(excesses, number, end) for end in (low, high))
        # An open end fails by itself, also where all is well on both sides of it.
        before = reasons[index - 1] if index else None
        before = _failing(excesses, number, low) if opens and before is None else before
        after = reasons[index + 1] if index + 1 < len(reasons) else None
        after = _failing(excesses, number, high) if closes and after is None else after
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
    return found


def _is_open(excesses: Sequence[Excess], number: Unknown, end: Fraction) -> bool:
    """Return whether an end is not acceptable itself: a strict limit, or no value at all.

    A sign above zero tells nothing there: an end that is not rational stands beside itself.
    """
    signs = [(sign_at(over.value, number.symbol, end), over.strict) for over in excesses]
    return any(sign is None or (strict and sign == 0) for sign, strict in signs)


def _in_whole_numbers(
    excesses: Sequence[Excess], number: Unknown, intervals: Sequence[Interval]
) -> list[Interval]:
    """Return the whole numbers in some intervals; neighbours are joined, empty ones left out.

    The whole numbers next to each end are tried themselves: an end that is whole may be rounded
    to either side of itself.
    """
    found: list[Interval] = []
    for interval in intervals:
        first, last = floor(interval.low), ceil(interval.high)
        near = {first, first + 1, last - 1, last}
        whole = [n for n in sorted(near) if _is_acceptable(excesses, number, n)]
        if not whole:
            continue
        bounds = Interval(
            low=whole[0],
            high=whole[-1],
            fails_below=interval.fails_below,
            fails_above=interval.fails_above,
        )
        exact = interval.low, interval.high
        if found and found[-1].high + 1 >= bounds.low:
            before = found.pop()
            bounds = replace(bounds, low=before.low, fails_below=before.fails_below)
            exact = (before.unrounded or (before.low,))[0], interval.high
        found.append(_rounded(excesses, number, bounds, exact))
    return found


def _is_acceptable(excesses: Sequence[Excess], number: Unknown, at: int) -> bool:
    inside = number.low <= at <= number.high
    return inside and _failing(excesses, number, Fraction(at)) is None


def _rounded(
    excesses: Sequence[Excess], number: Unknown, bounds: Interval, exact: tuple[float, float]
) -> Interval:
    """Return an interval in whole numbers, with what fails at those just beyond it.

    Of what fails there, that is told which begins to fail first, at the end that is not rounded.
    """

    def failing(at: float, first: Failure | None) -> Failure | None:
        if not number.low <= at <= number.high:
            return None
        point = Fraction(at)
        binding = (o for o in excesses if o.failure == first and o.fails(number.symbol, point))
        return next((over.failure for over in binding), None) or _failing(excesses, number, point)

    below = failing(bounds.low - 1, bounds.fails_below)
    above = failing(bounds.high + 1, bounds.fails_above)
    unrounded = None if (bounds.low, bounds.high) == exact else exact
    return Interval(
        low=bounds.low, high=bounds.high, fails_below=below, fails_above=above, unrounded=unrounded
    )


def _holds_below(number: Unknown, interval: Interval, population: int) -> None:
    """Check an interval: just inside it every population up to the given one is acceptable."""
    for at in _just_inside(interval, is_whole=number.is_count):
        for graph in number.graphs:
            there = _at(graph, number, at)
            largest = largest_acceptable(there) or graph.low - 1
            if largest >= population:
                continue
            if _accepts(there, population):
                mode = f" in mode {graph.mode}" if graph.mode else ""
                value = _plainly(at, number)
                refuse(
                    f"{population:,} users are acceptable with {number.name} at {value}{mode}, "
                    f"but {largest + 1:,} are not",
                    "a larger population cannot be had before a smaller one: raise the least "
                    "population of `users`, or look at what fails for fewer",
                )
            raise SolverFault(f"{number.name} = {float(at)!r} does not carry {population}")


def _plainly(value: Fraction, number: Unknown) -> str:
    if number.is_share:
        return f"{float(100 * value):g} %"
    return f"{float(value):g} {number.dimension}".rstrip()


def _just_inside(interval: Interval, *, is_whole: bool) -> tuple[Fraction, Fraction]:
    low, high = Fraction(interval.low), Fraction(interval.high)
    if is_whole:
        return low, high
    half = (high - low) / 2
    return (
        low + min(half, (abs(low) or half) * _NEARLY),
        high - min(half, (abs(high) or half) * _NEARLY),
    )


def _at(graph: LoadGraph, number: Unknown, at: Fraction) -> LoadGraph:
    """Return a graph with the number at a value, where it rests on it."""
    return graph.with_values({number.name: number_of(at)})


def _accepts(graph: LoadGraph, population: int) -> bool:
    point = Fraction(population)
    signs = [
        (sign_at(graph.valued(excess(c)), graph.population, point), c.strict)
        for c in all_criteria(graph)
    ]
    return all(sign is not None and (sign < 0 or (sign == 0 and not s)) for sign, s in signs)
