"""Elastic parameters: each takes the capacity that is left, between its least and its most.

A load that grows in proportion with a parameter x is A + B x. What the resource leaves for x
is (1 - A)/B, or (limit - A)/B where the spec limits the load itself; x is the least of what
its resources leave, at least `least` and at most `most`. So the rate is a closed form of the
population, with a knee where x leaves its most and another one where it reaches its least.

Several elastic parameters take in the order that they are given in, by priority: each leaves the
later ones their least, and no more.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NoReturn

import sympy

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import QpsError, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.lower.extremes import Maximum, Minimum, Ratio
from qps.compiler.quantities.dimension import Dimension


@dataclass(frozen=True, slots=True)
class ElasticParameter:
    """A parameter that takes what is left: its symbol and its bounds, in base units."""

    name: str
    symbol: sympy.Symbol
    least: sympy.Expr
    most: sympy.Expr
    dimension: Dimension
    span: Span
    priority: int | None = None


@dataclass(frozen=True, slots=True)
class SettledParameter:
    """What an elastic parameter comes to, as a function of the population.

    `left` is what each resource that limits it leaves for it; it takes the least of these.
    `at_most` and `at_least` are the loads, as parts of what is allowed, that the resources
    which limit it have while it takes the most and the least: they are 1 at its knees.
    """

    parameter: ElasticParameter
    value: sympy.Expr
    left: dict[str, sympy.Expr]
    at_most: dict[str, sympy.Expr]
    at_least: dict[str, sympy.Expr]


def settle(
    loads: Mapping[str, sympy.Expr],
    limits: Mapping[str, sympy.Expr],
    parameters: Sequence[ElasticParameter],
    points: Sequence[Mapping[sympy.Symbol, sympy.Expr]],
) -> tuple[dict[str, sympy.Expr], tuple[SettledParameter, ...]]:
    """Return the loads without the elastic parameters, and what these come to.

    `limits` are the loads that a spec allows where that is not 1; `points` are numbers for all
    other symbols, at some populations. QpsError where a load does not grow in proportion.
    """
    left = dict(loads)
    settled = []
    for index, parameter in enumerate(parameters):
        later = {p.symbol: p.least for p in parameters[index + 1 :]}
        one = _settle(left, limits, parameter, later, points)
        settled.append(one)
        left = {name: _put_in(name, load, limits, one, set(later)) for name, load in left.items()}
    return left, tuple(settled)


def _settle(
    loads: Mapping[str, sympy.Expr],
    limits: Mapping[str, sympy.Expr],
    parameter: ElasticParameter,
    later: Mapping[sympy.Symbol, sympy.Expr],
    points: Sequence[Mapping[sympy.Symbol, sympy.Expr]],
) -> SettledParameter:
    left: dict[str, sympy.Expr] = {}
    at_most: dict[str, sympy.Expr] = {}
    at_least: dict[str, sympy.Expr] = {}
    for name, load in loads.items():
        fixed, slope = (part.xreplace(dict(later)) for part in _line(name, load, parameter))
        growth = [slope.xreplace(dict(point)) for point in points]
        if any(value.is_negative for value in growth):
            _refuse(name, parameter, "falls while")
        if all(value == 0 for value in growth):
            continue
        limit = limits.get(name, sympy.S.One)
        left[name] = Ratio(limit - fixed, slope)
        at_most[name] = (fixed + slope * parameter.most) / limit
        at_least[name] = (fixed + slope * parameter.least) / limit
    value = parameter.most
    if left:
        value = Minimum(parameter.most, Maximum(parameter.least, Minimum(*left.values())))
    return SettledParameter(parameter, value, left, at_most, at_least)


def _put_in(
    name: str,
    load: sympy.Expr,
    limits: Mapping[str, sympy.Expr],
    settled: SettledParameter,
    later: Collection[sympy.Symbol],
) -> sympy.Expr:
    """Return a load with a parameter put in.

    A load grows with the parameter, so the maxima and minima can go outside: a resource that
    limits the parameter is then loaded exactly to its limit, not to 1 + 1e-17. Where others
    are still open, the load must stay proportional to them.
    """
    parameter = settled.parameter
    if parameter.symbol not in load.free_symbols:
        return load
    fixed, slope = _line(name, load, parameter)
    if not settled.left:
        return fixed + slope * parameter.most
    if load.free_symbols.intersection(later):
        return fixed + slope * settled.value
    limit = limits.get(name, sympy.S.One)
    wished = [
        limit if other == name else fixed + _times(slope, left)
        for other, left in settled.left.items()
    ]
    most, least = (fixed + slope * end for end in (parameter.most, parameter.least))
    return Minimum(most, Maximum(least, Minimum(*wished)))


def _times(slope: sympy.Expr, left: sympy.Expr) -> sympy.Expr:
    """Return a product; where slope and divisor both vanish, nothing is taken or limited."""
    if isinstance(left, Ratio):
        above, below = left.args
        return Ratio(slope * above, below)
    return slope * left


def _line(
    name: str, load: sympy.Expr, parameter: ElasticParameter
) -> tuple[sympy.Expr, sympy.Expr]:
    """Return A and B of a load A + B x; QpsError where it is none."""
    line = _as_line(load, parameter.symbol)
    if line is None:
        _refuse(name, parameter, "does not grow in proportion with")
    return line


@lru_cache(maxsize=1024)  # most loads stay as they are when one place or number changes
def _as_line(load: sympy.Expr, symbol: sympy.Symbol) -> tuple[sympy.Expr, sympy.Expr] | None:
    if symbol not in load.free_symbols:
        return load, sympy.S.Zero
    slope = sympy.diff(load, symbol)
    if symbol in slope.free_symbols:
        slope = sympy.diff(sympy.expand(load), symbol)
    if symbol in slope.free_symbols:
        return None
    return load.xreplace({symbol: sympy.S.Zero}), slope


def _refuse(name: str, parameter: ElasticParameter, how: str) -> NoReturn:
    sink = Sink()
    sink.report(
        codes.NO_ANSWER,
        parameter.span,
        f"the load of {name} {how} `{parameter.name}`" + (" grows" if how == "falls while" else ""),
        hint="an elastic parameter is a rate, a size or a number of repetitions that loads "
        "are proportional to; take another one, or fix it with `=`",
    )
    raise QpsError(sink.found)
