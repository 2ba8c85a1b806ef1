"""Where each resource saturates, and which one is the bottleneck where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf
from typing import NoReturn, TypeAlias

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.expressions.algebraic_functions import piecewise
from qps.engine.expressions.formulas import ONE, Formula
from qps.engine.expressions.point_values import point_of
from qps.solver.answers.capacity import first_failure
from qps.solver.answers.envelope import upper_envelope
from qps.solver.answers.limiting_factors import SaturationTable, Value
from qps.solver.answers.solution import (
    Bottleneck,
    BottleneckChange,
    Saturation,
    SolverFault,
    StaysFull,
)
from qps.solver.search.boxes import MOST_BOXES, UndecidedBoxesError, first_reached
from qps.solver.search.certain_signs import UndecidedLimitError, sign_at
from qps.solver.search.first_crossing import first_in_pieces
from qps.solver.search.method import SearchMethod

LARGEST_ERROR = 1e-9
"""A load is so near to its limit where it reaches it."""

_LARGEST = 10**300
"""The largest number of users that is reported."""

Certify: TypeAlias = Callable[[Formula, Formula, Fraction], None]
"""Evaluates a load anew where it is said to reach its limit; SolverFault where it does not."""


@dataclass(frozen=True, slots=True)
class _Sought:
    """Of what a saturation is requested, the end of the range, and up to where it matters."""

    name: str
    span: Span | None
    high: int
    until: float = inf


def saturation_point(
    load: Formula,
    population: Formula,
    low: int,
    *,
    passes: bool = False,
    name: str = "",
    span: Span | None = None,
    high: int = 0,
    certify: Certify | None = None,
    until: float = inf,
) -> Saturation:
    """Return where a load, numbers put in for all assumptions, first reaches 1 from `low` on.

    The point may lie beyond the range of the population: it is a property of the system. With
    `passes`, a load that comes to 1 and stays there does not count until it goes beyond: so it is
    with what elastic parameters fill. SolverFault where the point found does not satisfy `load =
    1`; another function may `certify` that. Where bounds do not decide, the saturation is
    undecided, and where the load is beyond its limit up to `high` at a whole population, undecided
    before that; QpsError, with the `name` of the resource and its place, where not even that can be
    determined.
    """
    start = Fraction(low)
    excess = load - 1
    try:
        at_start = sign_at(excess, population, start)
    except UndecidedLimitError:
        return _undecided(excess, population, low, low, _Sought(name, span, high))
    if population not in excess.symbols:
        full = at_start is None or at_start >= 0
        return (
            Saturation(float(low), SearchMethod.AT_START)
            if full
            else Saturation(None, SearchMethod.NONE)
        )
    if at_start in (None, 1) or (at_start == 0 and not passes):
        return Saturation(float(low), SearchMethod.AT_START)
    whole = piecewise(excess, population, start, None)
    if whole is None:
        sought = _Sought(name, span, high, until)
        return _searched(excess, population, low, passes=passes, sought=sought)
    found = first_in_pieces(whole, passes=passes)
    if found is None:
        return Saturation(None, SearchMethod.NONE)
    if found.at not in whole.poles:  # behind a pole the load may be anything at once
        (certify or certified)(load, population, found.at)
    return _at(found.at, found.method)


def saturation_of(graph: LoadGraph, name: str) -> Saturation:
    """Return where a resource of a graph saturates: where its load reaches its target.

    What an elastic parameter fills stays at its limit by design; it saturates where it passes it.
    What loses who finds no room never does.
    """
    resource = graph.resources[name]
    if resource.is_never_full and resource.target is ONE:
        return Saturation(None, SearchMethod.NONE)
    return saturation_point(
        graph.valued(resource.demand / resource.target),
        graph.population,
        graph.low,
        passes=is_filled(graph, name),
        name=name,
        span=resource.span,
        high=graph.high,
    )


def least_saturation(graph: LoadGraph, names: Iterable[str]) -> float:
    """Return where the first of some resources saturates, infinity for nowhere.

    QpsError where that cannot be determined.
    """
    found = {name: saturation_of(graph, name) for name in names}
    least = min((each.at for each in found.values() if each.at is not None), default=inf)
    for name in undecided_before(found, least):
        near = found[name].not_below
        assert near is not None
        refuse_undecided(near, graph.population, name, graph.resources[name].span)
    return least


def undecided_before(saturations: Mapping[str, Saturation], at: float) -> tuple[str, ...]:
    """Return the resources that may or may not saturate before a population."""
    return tuple(
        name
        for name, each in saturations.items()
        if each.not_below is not None and each.not_below < at
    )


def is_filled(graph: LoadGraph, name: str) -> bool:
    """Return whether an elastic parameter takes what a resource has left."""
    return any(name in elastic.left for elastic in graph.elastic)


def certified(load: Formula, population: Formula, at: Fraction) -> None:
    """Evaluate a load anew at its saturation point; SolverFault where that is no solution."""
    error = abs(point_of(population, at).number(load) - 1)
    if not error <= LARGEST_ERROR:
        raise SolverFault(f"load at its saturation point {float(at)!r} is off by {error:.3g}")


def _searched(
    excess: Formula,
    population: Formula,
    low: int,
    *,
    passes: bool,
    sought: _Sought,
) -> Saturation:
    """Return the saturation of a load that is no piecewise rational function, by boxes."""
    try:
        found = first_reached(excess, population, low, passes=passes, until=sought.until)
    except UndecidedBoxesError as undecided:
        return _undecided(excess, population, low, floor(undecided.point), sought)
    if found is None:
        return Saturation(None, SearchMethod.NONE)
    return _at(found.at, found.method)


def _at(population: Fraction, method: SearchMethod) -> Saturation:
    """Return a saturation at a population; of what is beyond all floats it is not known where."""
    if population > _LARGEST:
        return Saturation(None, SearchMethod.UNDECIDED, _LARGEST)
    return Saturation(float(population), method)


def _undecided(
    excess: Formula, population: Formula, low: int, around: int, sought: _Sought
) -> Saturation:
    """Return a saturation that is undecided from a population on.

    It is not behind the first whole population of the range at which the load is beyond its limit.
    """
    end = int(min(sought.high, sought.until))
    first = first_failure(excess, population, low, end, name=sought.name, span=sought.span)
    return Saturation(None if first is None else float(first), SearchMethod.UNDECIDED, around)


def refuse_undecided(around: float, population: Formula, name: str, span: Span | None) -> NoReturn:
    """Refuse to say where a resource saturates."""
    sink = Sink()
    what = (
        f"the saturation point of {name}"
        if name
        else "the point where a resource reaches its limit"
    )
    sink.report(
        codes.UNDECIDED,
        span,
        f"{what} is undecided from {population} = {around:,.6g}: its utilization is too "
        "close to the limit, jumps too often, or has too extreme inputs for "
        f"{MOST_BOXES:,} bounds",
        hint="bound its inputs with `min` or `max`, or use fewer rounding functions",
    )
    raise QpsError(sink.found)


def saturation_table_of(graph: LoadGraph, saturations: Mapping[str, Saturation]) -> SaturationTable:
    """Return what judges the resources of a graph, numbered as they are declared."""

    def fullness(population: int, _: Value) -> list[float]:
        there = graph.at(population)
        return [there.number(resource.fullness) for resource in graph.resources.values()]

    return SaturationTable(
        low=graph.low,
        high=graph.high,
        saturates=[inf if (at := saturations[name].at) is None else at for name in graph.resources],
        fullness=fullness,
    )


def bottleneck(
    saturation_table: SaturationTable,
    saturations: Mapping[str, Saturation],
    loads: dict[str, Formula],
    graph: LoadGraph,
    largest: int | None,
) -> Bottleneck | None:
    """Return the bottleneck, and where the heaviest load changes hands within the range.

    `loads` are the loads as parts of their targets, numbers put in for all assumptions.
    """
    if not loads:
        return None
    initially, changes = heaviest(loads, graph)
    number = saturation_table.bottleneck()
    name = tuple(graph.resources)[number]
    first = saturations[name]
    way = saturation_table.stays_full(0 if largest is None else largest, number)
    return Bottleneck(
        resource=name,
        saturates_at=first.at,
        from_start=first.method is SearchMethod.AT_START,
        stays_full=None if way == 0 else list(StaysFull)[way - 1],
        initially=initially,
        changes=changes,
        undecided=undecided_before(saturations, inf if first.at is None else first.at),
    )


def heaviest(
    loads: dict[str, Formula], graph: LoadGraph
) -> tuple[str, tuple[BottleneckChange, ...]]:
    """Follow the upper envelope of the loads from the lower end of the range to the upper."""
    ends = Fraction(graph.low), Fraction(graph.high)
    return upper_envelope(loads, graph.population, *ends, unit=1.0)
