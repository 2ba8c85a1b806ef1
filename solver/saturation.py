"""Where each resource saturates, and which one is the bottleneck where."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import zip_longest

import sympy

from qps.compiler.load_graph import LoadGraph
from qps.solver.compiled import number_function
from qps.solver.critical import critical_points, piece_at, sign_at
from qps.solver.envelope import upper_envelope
from qps.solver.rational import Root, as_rational_function, numerator
from qps.solver.solution import (
    Bottleneck,
    BottleneckChange,
    Method,
    Saturation,
    SolverFault,
)

_CLOSED_DEGREE = 2
_FARTHEST = 10**15
_LARGEST_ERROR = 1e-9


def saturation_point(load: sympy.Expr, population: sympy.Symbol, low: int) -> Saturation:
    """Return where a load, numbers put in for all assumptions, first reaches 1 from `low` on.

    The point may lie beyond the range of the population: it is a property of the system.
    SolverFault where the point found does not satisfy `load = 1`.
    """
    start = Fraction(low)
    excess = load - 1
    if population not in excess.free_symbols:
        over = sign_at(excess, population, start)
        full = over is None or over >= 0
        return Saturation(float(low), Method.AT_START) if full else Saturation(None, Method.NONE)
    if sign_at(excess, population, start) in (None, 1):
        return Saturation(float(low), Method.AT_START)
    points = critical_points(excess, population, start, None)
    if points is None:
        return _bracketed(excess, population, low)
    for root, following in zip_longest(points, points[1:]):
        after = _after(root, following)
        if sign_at(excess, population, after) == 1:
            method = _method(excess, population, after)
            return Saturation(_certified(load, population, root), method)
    return Saturation(None, Method.NONE)


def _after(root: Root, following: Root | None) -> Fraction:
    return root.near * 2 + 1 if following is None else (root.near + following.near) / 2


def _method(excess: sympy.Expr, population: sympy.Symbol, after: Fraction) -> Method:
    """Return how a root was found, by the piece of the function that holds just after it."""
    piece = piece_at(excess, population, after)
    function = None if piece is None else as_rational_function(piece, population)
    if function is not None and len(numerator(function)) <= _CLOSED_DEGREE + 1:
        return Method.CLOSED_FORM
    return Method.ISOLATED_ROOT


def _certified(load: sympy.Expr, population: sympy.Symbol, root: Root) -> float:
    """Return a saturation point that satisfies its equation, evaluated anew in floats."""
    at = sympy.Float(root.value, 30) if not root.exact.is_Rational else root.exact
    value = load.subs(population, at)
    error = abs(float(value) - 1) if value.is_finite else float("inf")
    # A pole: the load passes 1 within no distance of it; anything else must be a solution.
    if value.is_finite and error > _LARGEST_ERROR:
        raise SolverFault(f"load at its saturation point {root.value!r} is off by {error:.3g}")
    return root.value


def _bracketed(excess: sympy.Expr, population: sympy.Symbol, low: int) -> Saturation:
    """Return the saturation of a load that is no rational function, by a bracketed root."""
    from scipy.optimize import brentq  # noqa: PLC0415 - slow to import, seldom needed

    compiled = number_function(population, excess)

    def value(at: float) -> float:
        try:
            return float(compiled(at))
        except OverflowError:
            return float("inf")

    end = float(max(2 * low, 2))
    while value(end) < 0:
        end *= 2
        if end > _FARTHEST:
            return Saturation(None, Method.NONE)
    at = float(brentq(value, float(low), end, xtol=1e-12, rtol=1e-14))
    if abs(value(at)) > max(_LARGEST_ERROR, abs(value(at * (1 + 1e-9)) - value(at)) * 10):
        raise SolverFault(f"load at its saturation point {at!r} is off by {value(at):.3g}")
    return Saturation(at, Method.BRACKETED_ROOT)


_SAME_DIGITS = 12
"""Saturation points, and loads, that agree in so many digits count as equal."""


def in_order_of_saturation(
    saturations: Mapping[str, Saturation], loads: Mapping[str, sympy.Expr], graph: LoadGraph
) -> tuple[str, ...]:
    """Return the resources in the order in which they saturate, those that never do last.

    Of those that are saturated where the range starts, that with the highest load there comes
    first; of equals, that which is declared first. `loads` are as for `bottleneck`.
    """
    start = graph.population, sympy.Integer(graph.low)

    def rank(name: str) -> tuple[float, float]:
        at = saturations[name].at
        if at is None:
            return float("inf"), 0.0
        # Beyond the start all loads are 1 where they saturate.
        load = _number(loads[name].subs(*start)) if at == graph.low else 1.0
        return _rounded(at), -_rounded(load)

    return tuple(sorted(saturations, key=rank))


def _rounded(value: float) -> float:
    return float(f"{value:.{_SAME_DIGITS}g}")


def _number(value: sympy.Expr) -> float:
    """Return a load as a number; infinite where it has no finite value."""
    return float(value) if value.is_extended_real and value.is_finite else float("inf")


def bottleneck(
    order: tuple[str, ...],
    saturations: Mapping[str, Saturation],
    loads: dict[str, sympy.Expr],
    graph: LoadGraph,
) -> Bottleneck | None:
    """Return the bottleneck, and where the heaviest load changes hands within the range.

    `order` is that of `in_order_of_saturation`; `loads` are the loads as parts of their targets,
    numbers put in for all assumptions.
    """
    if not order:
        return None
    initially, changes = heaviest(loads, graph)
    first = saturations[order[0]]
    if first.at is not None:
        from_start = first.method is Method.AT_START
        return Bottleneck(order[0], first.at, from_start, initially, changes)
    last = changes[-1].to if changes else initially
    return Bottleneck(last, None, from_start=False, initially=initially, changes=changes)


def heaviest(
    loads: dict[str, sympy.Expr], graph: LoadGraph
) -> tuple[str, tuple[BottleneckChange, ...]]:
    """Follow the upper envelope of the loads from the lower end of the range to the upper."""
    return upper_envelope(loads, graph.population, Fraction(graph.low), Fraction(graph.high))
