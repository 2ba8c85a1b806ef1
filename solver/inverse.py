"""The question turned round: which values of a number carry a given population?

The criteria at that population are functions of the one number alone. Where they are made of
rational functions, maxima and minima, their critical points are found exactly; where not, the
sign changes are bracketed on a fine grid and each is closed in on. Between two neighbouring
points all values are alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import sympy

from qps.compiler import codes, ir
from qps.compiler.configuration import Configuration, changed, in_each_mode
from qps.compiler.diagnostics import QpsError, Sink
from qps.compiler.dimension import Dimension
from qps.compiler.load_graph import Assumption, LoadGraph
from qps.compiler.lower import lower
from qps.compiler.suggest import did_you_mean
from qps.solver.capacity import excess
from qps.solver.compiled import array_function, number_function
from qps.solver.critical import critical_points, sign_at
from qps.solver.solution import SolverFault
from qps.solver.solve import all_criteria, largest_acceptable

_FAR = 10**6
_GRID = 2000
_NEARLY = Fraction(1, 10**9)


@dataclass(frozen=True, slots=True)
class Interval:
    """Acceptable values, and the requirement that fails beyond each end; None at a range's end."""

    low: float
    high: float
    fails_below: str | None
    fails_above: str | None


@dataclass(frozen=True, slots=True)
class InverseSolution:
    """The values of a number, in base units, with which a population is acceptable.

    `current` is its value now; `low` and `high` are the range that was looked at, that of the
    parameter where it has one, else a million times less and more than now.
    """

    name: str
    population: str
    at: int
    current: float
    low: float
    high: float
    is_declared_range: bool
    dimension: Dimension
    intervals: tuple[Interval, ...]


def solve_for(
    model: ir.Model, configuration: Configuration, name: str, population: int
) -> InverseSolution:
    """Return the values of a parameter, or of any number of the model, that carry a population.

    QpsError where there is no such number, where a condition depends on it, or where what it
    gives carries the population but not a smaller one.
    """
    if not configuration.low <= population <= configuration.high:
        _fail(
            f"{model.population.name} = {population} lies outside the range "
            f"{configuration.low}..{configuration.high}",
            "widen the range of `users`, or ask for another number",
        )
    assumption, low, high, is_declared = _asked(model, configuration, name)
    graphs = _graphs(model, configuration, assumption, low)
    overs = [over for graph in graphs for over in _overs(graph, assumption.symbol, population)]
    ends = [Fraction(low), *_boundaries(overs, assumption.symbol, low, high), Fraction(high)]
    found = _intervals(overs, assumption.symbol, ends)
    for interval in found:
        _holds_below(graphs, assumption, interval, population)
    return InverseSolution(
        name,
        model.population.name,
        population,
        float(assumption.value),
        float(low),
        float(high),
        is_declared,
        assumption.dimension,
        tuple(found),
    )


def _asked(
    model: ir.Model, configuration: Configuration, name: str
) -> tuple[Assumption, Fraction, Fraction, bool]:
    """Return the number that is asked for, and the range in which it is looked for."""
    declared = next((p for p in model.parameters if p.name == name), None)
    if declared is not None and declared.is_elastic:
        assert declared.high is not None
        change = ir.SetParameter(name, declared.high, declared.span)
        configuration = changed(configuration, [change])
    graph = lower(model, in_each_mode(model, configuration)[0])
    assumption = graph.assumptions.get(name)
    if assumption is None:
        known = [*graph.assumptions, *(p.name for p in model.parameters)]
        hint = did_you_mean(name, known) or "name a parameter, or a number that `qps explain` lists"
        if declared is not None:
            hint = "it depends on others, or nothing rests on it: ask for one of those"
        _fail(f"there is no number `{name}` to solve for", hint)
        raise AssertionError
    value = Fraction(assumption.value.p, assumption.value.q)
    bounds = (declared.low, declared.high) if declared is not None else (None, None)
    if isinstance(bounds[0], ir.Constant) and isinstance(bounds[1], ir.Constant):
        return assumption, bounds[0].value, bounds[1].value, True
    if value <= 0:
        _fail(
            f"`{name}` is {float(value):g} now and has no range to look in",
            f"give it one: `param {name} = … in low..high`",
        )
    return assumption, value / _FAR, value * _FAR, False


def _graphs(
    model: ir.Model,
    configuration: Configuration,
    assumption: Assumption,
    low: Fraction,
) -> list[LoadGraph]:
    """Return the model in each mode, the number open; refused where a condition depends on it."""
    name = assumption.name
    if any(parameter.name == name for parameter in model.parameters):
        moved = ir.SetParameter(name, ir.Constant(low), assumption.span)
        configuration = changed(configuration, [moved])
    graphs = [lower(model, settled) for settled in in_each_mode(model, configuration)]
    if any(name in graph.decided for graph in graphs):
        _fail(
            f"a condition depends on `{name}`, so that there is no one formula to solve",
            "solve for a number that no `if` asks for",
        )
    return graphs


def _overs(
    graph: LoadGraph, symbol: sympy.Symbol, population: int
) -> list[tuple[str, sympy.Expr, bool]]:
    """Return each criterion as a function of the number: above zero where it fails."""
    values = {s: value for s, value in graph.values.items() if s != symbol}
    values[graph.population] = sympy.Integer(population)
    return [
        (criterion.name, excess(criterion).xreplace(values), criterion.strict)
        for criterion in all_criteria(graph)
    ]


_Over = tuple[str, sympy.Expr, bool]


def _boundaries(
    overs: list[_Over], symbol: sympy.Symbol, low: Fraction, high: Fraction
) -> list[Fraction]:
    """Return every value in the range at which a criterion may begin or cease to fail."""
    found: set[Fraction] = set()
    for _, over, _ in overs:
        if symbol not in over.free_symbols:
            continue
        points = critical_points(over, symbol, low, high)
        exact = None if points is None else [point.near for point in points]
        found |= set(_bracketed(over, symbol, low, high) if exact is None else exact)
    return sorted(point for point in found if low < point < high)


def _bracketed(
    over: sympy.Expr, symbol: sympy.Symbol, low: Fraction, high: Fraction
) -> Iterable[Fraction]:
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, seldom needed

    space = np.geomspace if low > 0 else np.linspace
    grid = space(float(low), float(high), _GRID)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(
            np.asarray(array_function([symbol], over)(grid), dtype=float), grid.shape
        )
    function = number_function(symbol, over)
    for i in range(len(grid) - 1):
        if values[i] * values[i + 1] < 0:
            root = brentq(function, grid[i], grid[i + 1], xtol=1e-300, rtol=1e-14)
            yield Fraction(float(root))
        elif np.isfinite(values[i]) != np.isfinite(values[i + 1]):
            yield Fraction(float((grid[i] + grid[i + 1]) / 2))


def _intervals(overs: list[_Over], symbol: sympy.Symbol, ends: list[Fraction]) -> list[Interval]:
    """Return the stretches between neighbouring points on which no criterion fails, joined."""

    def failing(at: Fraction) -> str | None:
        for name, over, strict in overs:
            sign = sign_at(over, symbol, at)
            if sign is None or sign > 0 or (strict and sign == 0):
                return name
        return None

    reasons = [failing((a + b) / 2) for a, b in pairwise(ends)]
    found: list[Interval] = []
    for index, reason in enumerate(reasons):
        if reason is not None:
            continue
        before = reasons[index - 1] if index else None
        after = reasons[index + 1] if index + 1 < len(reasons) else None
        low, high = float(ends[index]), float(ends[index + 1])
        if found and before is None and index:
            found[-1] = replace(found[-1], high=high, fails_above=after)
        else:
            found.append(Interval(low, high, before, after))
    return found


def _holds_below(
    graphs: list[LoadGraph], assumption: Assumption, interval: Interval, population: int
) -> None:
    """Check an interval: just inside it every population up to the given one is acceptable."""
    low, high = Fraction(interval.low), Fraction(interval.high)
    half = (high - low) / 2
    for at in (
        low + min(half, (abs(low) or half) * _NEARLY),
        high - min(half, (abs(high) or half) * _NEARLY),
    ):
        for graph in graphs:
            old = graph.assumptions[assumption.name]
            moved = replace(old, value=sympy.Rational(at.numerator, at.denominator))
            there = replace(graph, assumptions=graph.assumptions | {assumption.name: moved})
            largest = largest_acceptable(there) or graph.low - 1
            if largest >= population:
                continue
            if _accepts(there, population):
                _fail(
                    f"{population:,} users are acceptable with {assumption.name} at "
                    f"{float(at):g} {assumption.dimension}, but {largest + 1:,} are not",
                    "a larger population cannot be had before a smaller one: raise the least "
                    "population of `users`, or look at what fails for fewer",
                )
            raise SolverFault(f"{assumption.name} = {float(at)!r} does not carry {population}")


def _accepts(graph: LoadGraph, population: int) -> bool:
    point = Fraction(population)
    signs = [
        (sign_at(excess(c).xreplace(graph.values), graph.population, point), c.strict)
        for c in all_criteria(graph)
    ]
    return all(sign is not None and (sign < 0 or (sign == 0 and not s)) for sign, s in signs)


def _fail(message: str, hint: str) -> None:
    sink = Sink()
    sink.report(codes.NO_ANSWER, None, message, hint=hint)
    raise QpsError(sink.found)
