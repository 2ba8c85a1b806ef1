"""Words of the language in words: what measures, functions and ways to wait are."""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler import ir
from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.check.values.check_measures import measures_of
from qps.compiler.ir.measure_names import CAPACITY, current_name, percentile_level, percentile_text
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast
from qps.engine.operations import BY_NAME

_WAITING: Mapping[str, str] = {one.value: one.traits.meaning for one in ir.Discipline}
_NAMED: Mapping[str, str] = {
    "count": "count(place): number of machines, links or groups",
    "members": "members(group): number of users in each group",
    "sum": "sum(parameter): sum over its kinds",
    "quantile": "quantile(stream.latency, share): percentile of a latency, such as 99 %",
    "probability": "probability(condition): probability that it is true, given uncertain inputs",
    "saturation": "saturation(place): population at which it saturates",
    "largest": "largest(value): value with all measured numbers at their largest",
    "least": "least(value): value with all measured numbers at their least",
    "average": "average(value): value with all measured numbers at their average",
}
_ANSWERS: Mapping[str, str] = {
    CAPACITY: "the largest population that meets every requirement",
    "holds_until": "the last date of the calendar up to which the forecast is supported",
    "availability": "part of the time in which all requirements are met, if machines fail",
    "lowest_cost": "purchase price of the cheapest configuration that supports a population",
    "lowest_running_cost": "running cost of the cheapest configuration for a population",
    "quality": "distance to the limits of all requirements; at most 1 passes",
    "cost": "total price of machines and networks",
    "running_cost": "total recurring price of machines and networks per unit of time",
    "shared": "shared medium: all ends take turns",
    "switched": "one port per end, one direction at a time",
    "duplex": "one port per end, both directions at once",
}


def word_documentation(word: str) -> str:
    """Return what a word of the language means, empty where it has no description.

    >>> word_documentation("erlang_b")
    '**erlang_b**, a function: `erlang_b(servers, traffic)`'
    >>> word_documentation("latency")
    '**latency**, a measure of a stream: a time (s)'
    """
    current = current_name(word)
    if current != word:
        return f"**{word}**, the former name of `{current}`"
    if percentile_level(word) is not None:
        return f"**{word}**: {percentile_text(word)[1:]} % of the items have at most this latency"
    if word in _WAITING:
        return f"**{word}**, a queueing discipline: {_WAITING[word]}"
    if word in _NAMED:
        return f"**{word}**, a function: {_NAMED[word]}"
    if word in _ANSWERS:
        return f"**{word}**: {_ANSWERS[word]}"
    if word in LANGUAGE_FUNCTIONS:
        row = BY_NAME.get(word)
        called = f": `{word}({', '.join(row.arguments)})`" if row and row.arguments else ""
        return f"**{word}**, a function{called}"
    for kind, of in ((ast.Stream, "a stream"), (ast.Node, "a place or a resource")):
        dimension = measures_of(kind).get(word)
        if dimension is not None:
            return f"**{word}**, a measure of {of}: {_in_words(dimension)}"
    return ""


def _in_words(dimension: Dimension) -> str:
    return "a plain number" if dimension == DIMENSIONLESS else dimension.in_words
