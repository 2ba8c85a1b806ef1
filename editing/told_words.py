"""Words of the language in words: what measures, functions and ways to wait are."""

from __future__ import annotations

from collections.abc import Mapping

from qps.compiler.check.values.check_calls import LANGUAGE_FUNCTIONS
from qps.compiler.check.values.check_measures import measures_of
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.compiler.syntax import ast
from qps.engine.operations import BY_NAME

_WAITING: Mapping[str, str] = {
    "none": "waiting is not modelled",
    "mm1": "random arrivals at one server, exponential service times",
    "md1": "random arrivals at one server, service times that are fixed for each stream",
    "mg1": "random arrivals at one server, service times of a coefficient of variation `cv`",
    "mmc": "random arrivals at several cores with one queue, exponential service times",
    "mgc": "random arrivals at several cores with one queue, service times of some variation",
    "ps": "random arrivals that share the server, or the cores",
    "priority": "random arrivals, of streams that go before others",
    "loss": "random arrivals at the cores of a processor, lost where all are busy",
    "periodic": "equal streams with one visit a period, at random phases",
}
_NAMED: Mapping[str, str] = {
    "count": "count(place): how many machines, links or groups there are",
    "members": "members(group): how many users are in each",
    "sum": "sum(parameter): what its kinds come to, added up",
    "quantile": "quantile(stream.latency, share): what so many of all stay below",
    "probability": "probability(condition): how likely it holds, of what is not known exactly",
    "saturation": "saturation(place): at how many users it is full",
    "largest": "largest(value): it with every measured number at its largest",
    "least": "least(value): it with every measured number at its least",
    "average": "average(value): it with every measured number on average",
}
_ANSWERS: Mapping[str, str] = {
    "largest_acceptable": "the largest number of users of which all that is required holds",
    "quality": "how near to the limits of what is required: at most 1 is acceptable",
    "cost": "what all machines and networks cost that have a price",
    "running_cost": "what all machines and networks cost in a time",
    "shared": "a network that all take turns to use",
    "switched": "a network with ports of its own for each end, one way at a time",
    "duplex": "a network with ports of its own for each end, both ways at once",
}


def told_word(word: str) -> str:
    """Return what a word of the language means, empty where nothing is told of it.

    >>> told_word("erlang_b")
    '**erlang_b**, a function: `erlang_b(servers, traffic)`'
    >>> told_word("latency")
    '**latency**, a measure of a stream: a time (s)'
    """
    if word in _WAITING:
        return f"**{word}**, how what arrives waits: {_WAITING[word]}"
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
