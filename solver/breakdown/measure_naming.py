"""Formulas with the measures inside them called by their names.

A loss says `1 - 1/max(1, lan.utilization)`, and `qps explain … lan.utilization` says the rest.
Measures are recognized by their formulas, and two that have nothing to do with each other may have
the same one: only what a formula rests on may be named in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.quality_axes import joined_axes
from qps.compiler.quantities.dimension import Dimension
from qps.engine.expressions.formulas import Formula, symbol, total
from qps.engine.expressions.substitution import substituted


class NumberPart(Struct, frozen=True):
    """A part of a number: its name, its formula, and what that rests on, the closest first."""

    name: str
    value: Formula
    scope: tuple[str, ...] = ()


def in_named_measures(graph: LoadGraph, expr: Formula, scope: Sequence[str]) -> Formula:
    """Return an expression with the measures and elastic parameters inside it by their names.

    `scope` are the streams, resources, nodes and links that it rests on, the closest first; of
    two measures that have the same formula, the one of the closest is named.
    """
    known: dict[Formula, Formula] = {}
    for value, name in (*_measures(graph, scope), *_elastic(graph), *_groups(graph)):
        if value is not expr and value.operands:
            known.setdefault(value, name)
    return substituted(expr, known)


def _measures(graph: LoadGraph, scope: Sequence[str]) -> Iterator[tuple[Formula, Formula]]:
    ways = [(s, *graph.streams[s].rests_on) if s in graph.streams else (s,) for s in scope]
    for subject in dict.fromkeys(subject for way in ways for subject in way):
        for resource in graph.loads_of(subject):
            yield resource.load, symbol(utilization_of(resource.name))
        stream = graph.streams.get(subject)
        if stream is None:
            continue
        for measure, value in (
            ("latency", stream.mean_latency),
            ("jitter", total(part.value for part in stream.jitter)),
            ("buffer", stream.buffer),
            ("max_wait", stream.max_wait),
            ("loss", stream.loss),
        ):
            yield value, symbol(f"{stream.name}.{measure}")


def _groups(graph: LoadGraph) -> Iterator[tuple[Formula, Formula]]:
    for name, group in graph.stated.groups.items():
        yield group.members, symbol(f"members({name})")


def _elastic(graph: LoadGraph) -> Iterator[tuple[Formula, Formula]]:
    for elastic in graph.elastic:
        yield elastic.value, elastic.parameter.symbol


def named_whole(
    graph: LoadGraph, expr: Formula, scope: Sequence[str], parts: Sequence[NumberPart]
) -> Formula:
    """Return an expression by the names that its parts have, where it is made of its parts."""
    values = [part.value for part in parts]
    named = [in_named_measures(graph, part.value, part.scope) for part in parts]
    if parts and expr is total(values):
        return total(named)
    if parts and expr is graph.quality is joined_axes(graph.metric, values):
        return joined_axes(graph.metric, named)
    return in_named_measures(graph, expr, scope)


class ElasticThere(Struct, frozen=True):
    """An elastic parameter, and what it comes to at a population, in base units."""

    name: str
    value: float
    dimension: Dimension


def elastic_in(graph: LoadGraph, exprs: Sequence[Formula], at: int) -> Iterator[ElasticThere]:
    """Yield the elastic parameters that are named in some formulas."""
    free = frozenset[Formula]().union(*(expr.symbols for expr in exprs))
    for elastic in graph.elastic:
        one = elastic.parameter
        if one.symbol in free:
            yield ElasticThere(one.name, graph.at(at).number(elastic.value), one.dimension)
