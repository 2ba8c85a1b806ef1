"""A number taken apart, as typed values: its formula, its parts, and what each comes to."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from math import isclose
from typing import TypeAlias

from msgspec import Struct

from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.lower.label_doubts import Checks
from qps.compiler.lower.load_graph import Assumption, Cited, LoadGraph
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.response_time.call_times import waterfall
from qps.compiler.lower.response_time.response_stages import LatencyPart
from qps.compiler.quantities.certainty import Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.algebraic_functions import as_rational_function
from qps.engine.expressions.formulas import ZERO, Formula
from qps.engine.expressions.linear_roots import root_of_linear
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.graph_solution import value_at
from qps.solver.answers.saturation import saturation_of
from qps.solver.answers.solution import Saturation
from qps.solver.breakdown.measure_naming import (
    ElasticThere,
    NumberPart,
    elastic_in,
    in_named_measures,
    named_whole,
)
from qps.solver.search.critical_points import piece_at
from qps.solver.uncertainty.interval_result import ValueUncertainty

SpreadOf: TypeAlias = Callable[[Callable[[LoadGraph], Formula]], ValueUncertainty | None]
"""Tells the spread of what is read off load graphs; None where it is known."""


class Apart(Struct, frozen=True, kw_only=True):
    """What a name stands for: a formula, its `parts`, and in which `scope` names are known.

    `unresolved` is the same formula with elastic parameters still open, `whole` with what is
    nothing with the numbers as they are stated; None where it is no other. Of a `resource` it is
    the utilization, of a `table` a parameter in one case; `paths` are passed by requests, `count`
    is the number of groups of which it is the size.
    """

    name: str
    what: str
    value: Formula
    dimension: Dimension
    parts: Sequence[NumberPart] = ()
    scope: Sequence[str] = ()
    unresolved: Formula | None = None
    whole: Formula | None = None
    resource: ResourceLoad | None = None
    table: CaseTable | None = None
    paths: Sequence[LatencyPart] = ()
    count: Formula | None = None


class PartThere(Struct, frozen=True):
    """A part of a number in base units, and its share where the parts add up to the number."""

    name: str
    value: float
    share: float | None
    formula: Formula


class CallThere(Struct, frozen=True, kw_only=True):
    """A call, or a node or link within calls: how many times, how long each, and when, in s."""

    depth: int
    name: str
    times: float
    each: float
    starts: float
    ends: float


class SaturationApart(Struct, frozen=True):
    """Where a resource reaches its target, and that as a formula where there is a readable one."""

    saturation: Saturation
    target: Formula
    planned: float
    root: Formula | None


class NumberApart(Struct, frozen=True, kw_only=True, dict=True):
    """A number taken apart `at` a population; `value` is in base units of its dimension.

    `formula` is in symbols, `named` with the measures in it by their names; `values` are those of
    the symbols. It rests on numbers and on what is `cited`. `mode` is the mode in which it is so;
    None outside of any.
    """

    name: str
    what: str
    at: int
    population: Formula
    value: float
    dimension: Dimension
    formula: Formula
    named: Formula
    values: Mapping[Formula, Formula]
    assumptions: Mapping[str, Assumption]
    parts: tuple[PartThere, ...]
    elastic: tuple[ElasticThere, ...]
    rests_on: tuple[Assumption, ...]
    cited: tuple[Cited, ...]
    mode: str | None
    modes: tuple[str, ...]
    known: Certainty
    checks: Checks
    """The premises that were checked on the network."""
    spread: ValueUncertainty | None
    saturation: SaturationApart | None
    table: CaseTable | None
    calls: tuple[CallThere, ...]
    groups: tuple[Formula, float] | None
    """The number of groups, where it is the size of one."""

    @cached_property
    def piece(self) -> Formula | None:
        """The piece of the formula in the population that holds here; None where it is one."""
        return piece_at(substituted(self.formula, self.values), self.population, Fraction(self.at))


def decomposed(
    graph: LoadGraph,
    apart: Apart,
    at: int,
    modes: tuple[str, ...],
    known: Certainty,
    checks: Checks,
    spread: ValueUncertainty | None,
    saturations: Mapping[str, Saturation],
) -> NumberApart:
    """Take what a name stands for apart at a population; some `saturations` are known already."""
    expr, parts, scope, resource = apart.value, apart.parts, apart.scope, apart.resource
    unresolved = apart.unresolved
    named = unresolved if unresolved is not None else named_whole(graph, expr, scope, parts)
    named_parts = [in_named_measures(graph, part.value, part.scope) for part in parts]
    total = value_at(graph, expr, at)
    shown = expr.symbols | (ZERO if resource is None else resource.target).symbols
    symbols = shown | {graph.population, *(elastic.parameter.symbol for elastic in graph.elastic)}
    subjects = (apart.name, *scope, *(subject for part in parts for subject in part.scope))
    count = apart.count
    return NumberApart(
        name=apart.name,
        what=apart.what,
        at=at,
        population=graph.population,
        value=total,
        dimension=apart.dimension,
        formula=expr,
        named=named,
        values=graph.values,
        assumptions=graph.assumptions,
        parts=_parts(graph, parts, named_parts, at, total),
        elastic=tuple(elastic_in(graph, (named, *named_parts), at)),
        rests_on=tuple(a for a in graph.assumptions.values() if a.symbol in shown),
        cited=tuple(one for one in graph.numbers.cited if one.bears_on(symbols, subjects)),
        mode=graph.mode,
        modes=modes,
        known=known,
        checks=checks,
        spread=spread,
        saturation=None if resource is None else _saturation(graph, resource, saturations),
        table=apart.table,
        calls=_calls(graph, apart.paths, at),
        groups=None
        if count is None
        else (named_whole(graph, count, scope, parts), value_at(graph, count, at)),
    )


def _parts(
    graph: LoadGraph, parts: Sequence[NumberPart], named: Sequence[Formula], at: int, total: float
) -> tuple[PartThere, ...]:
    """Return the parts of a number; their shares only where they add up to it."""
    values = [value_at(graph, part.value, at) for part in parts]
    adds_up = total != 0 and isclose(sum(values), total)
    return tuple(
        PartThere(part.name, value, value / total if adds_up else None, shown)
        for part, shown, value in zip(parts, named, values, strict=True)
    )


def _calls(graph: LoadGraph, paths: Sequence[LatencyPart], at: int) -> tuple[CallThere, ...]:
    """Return the tree of the calls of a request with its times at a population."""
    value = graph.at(at).number
    return tuple(
        CallThere(
            depth=one.depth,
            name=one.name,
            times=value(one.times),
            each=value(one.each),
            starts=value(one.starts),
            ends=value(one.ends),
        )
        for one in waterfall(list(paths))
    )


def _saturation(
    graph: LoadGraph, resource: ResourceLoad, saturations: Mapping[str, Saturation]
) -> SaturationApart:
    """Return where a resource saturates, as a formula where there is a readable one."""
    known = saturations.get(resource.name)
    found, target = known or saturation_of(graph, resource.name), resource.target
    root = None
    if found.not_below is None and found.at is not None:
        load = graph.valued(resource.demand / target)
        function = as_rational_function(load - 1, graph.population)
        if function is not None and function.numerator.degree() == 1:
            root = root_of_linear(resource.demand - target, graph.population)
    return SaturationApart(found, target, graph.number(target), root)
