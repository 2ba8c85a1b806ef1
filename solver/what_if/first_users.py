"""What it takes to carry anybody, where a spec carries nobody: one thing changed until it does.

Twice as much, or a tenth less, is too little to try there: each capacity and each demand that what
fails rests on is turned in steps, of which the first one that helps is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed, counted_by
from qps.compiler.lower.load_graph import Assumption
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.solution import Solution
from qps.solver.what_if.available_changes import is_assumed, is_of_a_kind
from qps.solver.what_if.candidates import (
    Candidate,
    involved_numbers,
    involved_places,
    is_cost,
    is_within,
    numbers_of_limits,
)

Ladder: TypeAlias = Sequence[Candidate]
"""Changes of one thing, each a larger step than the one before."""

_UP = tuple(Fraction(2) ** power for power in range(1, 11))
_MORE = tuple(Fraction(times, 10) for times in (11, 12, 15, 20, 30, 50, 100, 1000))
_LESS = tuple(Fraction(parts, 100) for parts in (90, 80, 70, 60, 50, 40, 30, 25, 20, 10, 5, 2, 1))
_MOST_NUMBERS = 40
"""Of so many numbers each is turned."""


def ladders(model: ir.Model, configuration: Configuration, solution: Solution) -> Iterator[Ladder]:
    """Yield changes of each capacity, count and demand that what fails rests on, in steps."""
    involved = involved_numbers(solution)
    yield from _machines(configuration, involved_places(model, configuration, solution, involved))
    yield from _counts(model, configuration, involved)
    numbers = involved[:_MOST_NUMBERS]
    for one in numbers:
        if one.is_capacity:
            yield [_times(configuration, [one], one.name, times) for times in _UP]
    yield from _cores(configuration, solution, numbers)
    yield from _demands(model, configuration, solution, numbers)


def mildest(ladder: Ladder, helps: Callable[[Candidate], bool]) -> Candidate | None:
    """Return the first step of a ladder that helps, None where not even the last one does.

    What helps is taken to help by all larger steps as well.
    """
    if not ladder or not helps(ladder[-1]):
        return None
    low, high = 0, len(ladder) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if helps(ladder[middle]) else (middle + 1, high)
    return ladder[high]


def _machines(configuration: Configuration, places: set[str]) -> Iterator[Ladder]:
    standing: list[tuple[ir.Node | ir.Link, str]] = []
    standing += [(node, node.machine) for node in configuration.nodes.values()]
    standing += [(link, link.network) for link in configuration.links.values()]
    for place, kind in standing:
        if place.name not in places or not isinstance(place.count, ir.Constant):
            continue
        counts = [place.count.value * times for times in _UP]
        yield [
            Candidate(
                name=place.name,
                text=f"{place.name} = {kind} * {count}",
                configuration=changed(
                    configuration,
                    [ir.SetPlace(place.name, kind, ir.Constant(count), place.span)],
                ),
                is_capacity=True,
            )
            for count in counts
        ]


def _counts(
    model: ir.Model, configuration: Configuration, involved: Sequence[Assumption]
) -> Iterator[Ladder]:
    known = {parameter.name: parameter for parameter in model.parameters}
    for name in sorted(counted_by(configuration) & {one.name for one in involved}):
        value = configuration.parameters.get(name)
        if isinstance(value, ir.Constant):
            yield [
                Candidate(
                    name=name,
                    text=f"{name} = {value.value * times}",
                    configuration=changed(
                        configuration,
                        [ir.SetParameter(name, ir.Constant(value.value * times), known[name].span)],
                    ),
                    is_capacity=True,
                    factor=times,
                )
                for times in _UP
                if is_within(known[name], value.value * times)
            ]


def _cores(
    configuration: Configuration, solution: Solution, numbers: Sequence[Assumption]
) -> Iterator[Ladder]:
    """Yield faster cores for each processor without a rating whose costs are its own."""
    costs = [one for one in numbers if is_cost(one)]
    loads: dict[str, set[Formula]] = {}
    for name, resource in solution.graph.resources.items():
        loads.setdefault(solution.graph.network.place_of(name), set()).update(resource.load.symbols)
    for name in solution.graph.resources:
        place = solution.graph.network.place_of(name)
        if place not in configuration.nodes or name != f"{place}.{_PROCESSOR}":
            continue
        others = set[Formula]().union(*(used for other, used in loads.items() if other != place))
        own = [one for one in costs if one.symbol in loads[place] - others]
        has_rating = any(one.is_capacity and one.name.startswith(f"{name}.sp") for one in numbers)
        if own and not has_rating:
            yield [_times(configuration, own, name, 1 / times, cores=times) for times in _UP]


_PROCESSOR = "cpu"


def _demands(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    numbers: Sequence[Assumption],
) -> Iterator[Ladder]:
    """Yield less, and more, of each parameter, size, rate and delay, and less of each cost."""
    parameters = {parameter.name: parameter for parameter in model.parameters}
    names = (
        numbers_of_limits(solution.graph) | counted_by(configuration) | solution.graph.basis.decided
    )
    for one in numbers:
        parameter = parameters.get(one.name)
        if one.is_capacity or one.name in names or is_of_a_kind(model, one.name):
            continue
        if parameter is None:
            ways = (_LESS,) if is_cost(one) else (_LESS, _MORE)
            for steps in ways if one.dimension != DIMENSIONLESS else ():
                yield [_times(configuration, [one], one.name, times) for times in steps]
            continue
        if not parameter.is_own or is_assumed(parameter) or parameter.is_elastic:
            continue
        for steps in (_LESS, _MORE):
            yield [
                _times(configuration, [one], one.name, times)
                for times in steps
                if is_within(parameter, one.fraction * times)
                and (not one.counts_things or (one.fraction * times).denominator == 1)
            ]


def _times(
    configuration: Configuration,
    numbers: Sequence[Assumption],
    name: str,
    times: Fraction,
    *,
    cores: Fraction | None = None,
) -> Candidate:
    """Return numbers so many times as large, as one change."""
    is_capacity = cores is not None or numbers[0].is_capacity
    if cores is None:
        text = f"twice the {name}" if times == _UP[0] else f"{float(times):g} times the {name}"
    else:
        fast = "twice" if cores == _UP[0] else f"{cores} times"
        text = f"cores {fast} as fast for {name}"
    return Candidate(
        name=name,
        text=text,
        configuration=configuration,
        is_capacity=is_capacity,
        is_setting=False,
        factor=times if cores is None else None,
        factors={one.name: times for one in numbers},
    )
