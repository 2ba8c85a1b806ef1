"""A number taken apart: its formulas, its parts, and the numbers that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from math import isclose

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.render import printable
from qps.compiler.lower.load_graph import (
    LoadGraph,
)
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import (
    Dimension,
)
from qps.engine.formulas import ZERO, Formula
from qps.engine.points import Point
from qps.engine.substitution import substituted
from qps.reports.text.explained_methods import ExplainedMethod, methods_tables
from qps.reports.text.facts import COLUMNS
from qps.reports.text.formula_text import formula, in_population, with_numbers
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.naming import Part, elastic_notes, in_named_measures, named_whole
from qps.reports.text.phrases import phrase
from qps.reports.text.quantities import is_share, percent, quantity
from qps.reports.text.reliability import EXACT_HERE, because_first
from qps.reports.text.shortened import READABLE, shortened
from qps.reports.text.table import Table
from qps.reports.text.text_layout import Layout
from qps.solver.odds.told import Spread
from qps.solver.search.critical import piece_at

_SYMBOLS, _NUMBERS = "in symbols", "with its numbers"
_SHORTENED = "Long formulas are shortened, marked by …; --format json has them in full."


class ExplainedPart(Struct, frozen=True):
    """A part of the number: a component's load, a stage of a latency."""

    name: str
    value: str
    share: str
    formula: str


class ExplainedCall(Struct, frozen=True, kw_only=True):
    """A call, or a node or link within calls: how often it is passed, how long, and when.

    `starts` and `ends` are seconds after the source, as the times in words are.
    """

    depth: int
    name: str
    made: str
    each: str
    start: str
    end: str
    starts: float
    ends: float


class ExplainedNumber(Struct, frozen=True):
    """A number that the formula rests on, and where it comes from."""

    name: str
    value: str
    place: str
    source: str


class ExplainedCase(Struct, frozen=True, kw_only=True):
    """A kind of a parameter, its share, and its value in each case; empty where none is stated.

    The row of all kinds together has an empty name.
    """

    kind: str
    share: str
    average: str
    least: str
    largest: str
    place: str
    source: str


class Explanation(Struct, frozen=True, kw_only=True):
    """A number taken apart; `value` is in base units of `unit`, at the population `at`.

    `mode` is the mode in which it is so; None outside of any. `modes` are those of the spec.
    `methods` are those by which it is `known`. `spread` tells how far the value may be off,
    `uncertainty` the same in words.
    """

    schema: str
    name: str
    what: str
    at: int
    at_text: str
    value: float
    unit: str
    formulas: tuple[tuple[str, str], ...]
    parts: tuple[ExplainedPart, ...]
    assumptions: tuple[ExplainedNumber, ...]
    mode: str | None = None
    modes: tuple[str, ...] = ()
    cases: tuple[ExplainedCase, ...] = ()
    calls: tuple[ExplainedCall, ...] = ()
    known: Certainty = EXACT
    methods: tuple[ExplainedMethod, ...] = ()
    spread: Spread | None = None
    uncertainty: tuple[str, ...] = ()


def _no_more(explanation: Explanation) -> Explanation:
    return explanation


class Apart(Struct, frozen=True, kw_only=True):
    """What a name stands for: a formula, its `parts`, and in which `scope` names are known.

    `unsettled` is the same formula with elastic parameters still open, `whole` with what is nothing
    with the numbers as they are stated; None where it is no other. The numbers of what stands
    `beside` it are listed, too. `more` is told besides, where it is told at all.
    """

    name: str
    what: str
    value: Formula
    dimension: Dimension
    parts: Sequence[Part] = ()
    scope: Sequence[str] = ()
    unsettled: Formula | None = None
    whole: Formula | None = None
    beside: Formula = ZERO
    more: Callable[[Explanation], Explanation] = _no_more


def taken_apart(graph: LoadGraph, apart: Apart, at: int) -> Explanation:
    """Take what a name stands for apart at a population."""
    name, expr, dimension = apart.name, apart.value, apart.dimension
    parts, scope, unsettled = apart.parts, apart.scope, apart.unsettled
    total = graph.at(at).number(expr)
    told = partial(quantity, dimension=dimension, share=is_share(name))
    at_text = f"{graph.population.name} = {at:,}"
    named = unsettled if unsettled is not None else named_whole(graph, expr, scope, parts)
    formulas = [(_SYMBOLS, formula(named))]
    free = expr.symbols
    if free - {graph.population}:
        formulas.append((_NUMBERS, with_numbers(named, graph.assumptions)))
    named_parts = [in_named_measures(graph, part.value, part.scope) for part in parts]
    formulas += elastic_notes(graph, (named, *named_parts), at)
    if graph.population in free:
        formulas.append(_in_population(graph, expr, at, at_text))
    formulas.append((f"at {at_text}", told(total, digits=6)))
    shown = free | apart.beside.symbols
    used = [a for a in graph.assumptions.values() if a.symbol in shown]
    known = shown | {graph.population, *(elastic.parameter.symbol for elastic in graph.elastic)}
    subjects = (name, *scope, *(subject for part in parts for subject in part.scope))
    cited = [one for one in graph.cited if one.bears_on(known, subjects)]
    explanation = Explanation(
        schema="qps/explain/2",
        name=name,
        what=apart.what,
        at=at,
        at_text=at_text,
        value=total,
        unit=str(dimension),
        formulas=tuple(formulas),
        parts=_parts(parts, named_parts, graph.at(at), total, told),
        assumptions=tuple(
            ExplainedNumber(a.name, a.text, a.span.place, " ".join((a.source or "").split()))
            for a in used
        )
        + tuple(
            ExplainedNumber(c.name, c.text, c.span.place, " ".join(c.source.split())) for c in cited
        ),
    )
    return apart.more(explanation)


_READABLE = 160
"""Characters of a formula, beyond which a piece of it tells more."""


def _in_population(graph: LoadGraph, expr: Formula, at: int, at_text: str) -> tuple[str, str]:
    """Return an expression in the population alone; where it is long, the piece that holds now."""
    population = graph.population
    whole = in_population(expr, graph.values, population)
    if len(whole) > _READABLE:
        piece = piece_at(substituted(expr, graph.values), population, Fraction(at))
        if piece is not None:
            return f"in {population.name}, around {at_text}", in_population(piece, {}, population)
    return f"in {population.name}", whole


def _parts(
    parts: Sequence[Part],
    named: Sequence[Formula],
    point: Point,
    total: float,
    told: Callable[[float], str],
) -> tuple[ExplainedPart, ...]:
    """Return the parts of a number; their shares only where they add up to it."""
    values = [point.number(part.value) for part in parts]
    adds_up = total != 0 and isclose(sum(values), total)
    return tuple(
        ExplainedPart(
            part.name,
            told(value),
            percent(value / total) if adds_up else "",
            formula(shown),
        )
        for part, shown, value in zip(parts, named, values, strict=True)
    )


# -- as text --------------------------------------------------------------------------------


def explanation_text(
    explanation: Explanation,
    place: str = "",
    *,
    labels: Labels = PLAIN,
    markdown: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return a number, its formulas, its parts, and the inputs that it rests on."""
    parted = Table(
        ("Part", "Value", "Share", "Formula"),
        tuple(
            (labels.stage(p.name), p.value, p.share, _spaced(shortened(p.formula)))
            for p in explanation.parts
        ),
        frozenset([1, 2]),
        firm=frozenset([0]),
    )
    numbers = Table(
        ("Input", "Value", "Defined at", "Source"),
        tuple((a.name, a.value, _in_file(a.place), a.source) for a in explanation.assumptions),
        firm=frozenset([0, 2]),
        long=frozenset([1, 3]),
    )
    notes = [_SHORTENED] if any(len(text) > READABLE for _, text in explanation.formulas) else []
    title = labels.of(explanation.name)
    is_utilization = not labels.is_plain and explanation.name.endswith(".load")
    layout = Layout(
        title=title + " utilization" * is_utilization,
        place=place,
        facts=tuple(_facts(explanation, title, labels)),
        tables=(
            *([parted] if markdown else _parted(parted, width)),
            _calls(explanation, markdown=markdown),
            _cases(explanation),
            *methods_tables(explanation.methods, labels),
            numbers,
        ),
        notes=tuple(notes),
    )
    return layout.printed(markdown=markdown, width=width)


def _in_file(place: str) -> str:
    """Return a place without the folder of its file: the title has that."""
    return place.rpartition("/")[2]


def _parted(table: Table, width: int) -> list[Table]:
    """Return the parts of a number; their formulas in a table below where they have no room."""
    *others, formulas = range(len(table.headings))
    if formulas in table.fitting(width, [formulas]):
        return [table]
    below = table.with_columns([0, formulas])
    return [table.with_columns(others), replace(below, long=frozenset([1]))]


_HEADINGS = {_SYMBOLS: "Formula", _NUMBERS: "With values", "reaches its target": "At target"}


def _facts(explanation: Explanation, title: str, labels: Labels) -> Iterator[tuple[str, str]]:
    """Yield the value first, then how it is known, its formulas, and its uncertainty."""
    formulas = dict(explanation.formulas)
    at = f"at {explanation.at_text}"
    yield "Value", f"{formulas[at]} {at}"
    if explanation.known.is_exact:
        yield phrase("accuracy"), EXACT_HERE
    else:
        what = explanation.known.kind.value
        yield phrase("accuracy"), because_first(what, explanation.known.reasons, labels)
    for number, line in enumerate(explanation.uncertainty):
        yield "" if number else "Uncertainty", line
    if explanation.modes:
        yield "Mode", _in_mode(explanation)
    if title != explanation.name:
        yield "Name", explanation.name
    if explanation.what != title:
        yield "Meaning", explanation.what
    for heading, text in explanation.formulas:
        if heading != at:
            named = _HEADINGS.get(heading, heading[0].upper() + heading[1:])
            yield named, _spaced(printable(_readable(explanation, heading, text)))


def _spaced(formula: str) -> str:
    """Return a formula with blanks where a line may end: around its products and quotients.

    >>> _spaced("N*(a + b)/(2*c)")
    'N · (a + b) / (2 · c)'
    """
    return formula.replace("*", " · ").replace(")/(", ") / (")


def _readable(explanation: Explanation, heading: str, text: str) -> str:
    """Return a formula as a person reads it: a long one that adds up by the names of its parts."""
    adds_up = len(explanation.parts) > 1 and all(part.share for part in explanation.parts)
    if len(text) > READABLE and heading == _SYMBOLS and adds_up:
        return shortened(" + ".join(part.name for part in explanation.parts))
    return shortened(text)


def _calls(explanation: Explanation, *, markdown: bool) -> Table:
    """Return the tree of the calls of a request, each with its start and end."""
    inwards = "– " if markdown else "  "
    return Table(
        ("Of an average request", "Calls", "Each", "Start", "End"),
        tuple(
            (inwards * call.depth + call.name, call.made, call.each, call.start, call.end)
            for call in explanation.calls
        ),
        frozenset([1, 2, 3, 4]),
    )


def _in_mode(explanation: Explanation) -> str:
    """Return which of a spec's modes is explained, or that it is none of them."""
    if explanation.mode is not None:
        others = [mode for mode in explanation.modes if mode != explanation.mode]
        beside = f" (others, with `--set mode=NAME`: {', '.join(others)})" if others else ""
        return f"{explanation.mode}{beside}"
    return (
        "none, the spec without its modes "
        f"(choose one with `--set mode=NAME`: {', '.join(explanation.modes)})"
    )


def _cases(explanation: Explanation) -> Table:
    """Return a parameter's values by case, and by kind where it has kinds."""
    headings = ("Kind", "Share", "Average", "Least", "Largest", "Defined at", "Source")
    rows = tuple(
        (c.kind, c.share, c.average, c.least, c.largest, c.place, c.source)
        for c in explanation.cases
    )
    if len(rows) > 1:
        return Table(headings, rows, frozenset([1, 2, 3, 4]))
    return Table(headings[2:], tuple(row[2:] for row in rows), frozenset([0, 1, 2]))
