"""A number taken apart: its formulas, its parts, and the numbers that it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.diagnostics.render import printable
from qps.compiler.lower.load_graph import Assumption, Cited
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import TIME
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.expressions.formulas import ONE, Formula
from qps.reports.text.explanations.method_rows import (
    ExplainedMethod,
    explained_methods,
    methods_tables,
)
from qps.reports.text.explanations.spread_text import spread_lines
from qps.reports.text.formulas.formula_excerpts import READABLE, shortened
from qps.reports.text.formulas.formula_text import formula, in_population, with_numbers
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import Layout
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, number, percent, population_text, quantity
from qps.reports.text.words.reliability import EXACT_HERE, because_first
from qps.solver.apart.apart import CallThere, NumberApart, SaturationApart
from qps.solver.uncertainty.interval_result import Spread

_SYMBOLS, _NUMBERS = "formula", "with values"
_SHORTENED = "`…` marks a shortened formula; `--format json` prints it in full."


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


def explanation_view(apart: NumberApart) -> Explanation:
    """Return a number taken apart as plain values."""
    name, dimension, spread = apart.name, apart.dimension, apart.spread
    told = partial(quantity, dimension=dimension, share=is_share(name))
    at_text = f"{apart.population.name} = {apart.at:,}"
    sure = () if spread is None else spread_lines(spread, name, dimension, is_share=is_share(name))
    stated: tuple[Assumption | Cited, ...] = (*apart.rests_on, *apart.cited)
    return Explanation(
        schema="qps/explain/3",
        name=name,
        what=_what(apart),
        at=apart.at,
        at_text=at_text,
        value=apart.value,
        unit=str(dimension),
        formulas=tuple(_formulas(apart, at_text, told)),
        parts=tuple(
            ExplainedPart(
                part.name,
                told(part.value),
                "" if part.share is None else percent(part.share),
                formula(part.formula),
            )
            for part in apart.parts
        ),
        assumptions=tuple(
            ExplainedNumber(a.name, a.text, a.span.place, " ".join((a.source or "").split()))
            for a in stated
        ),
        mode=apart.mode,
        modes=apart.modes,
        cases=() if apart.table is None else tuple(_cases_of(apart.table)),
        calls=tuple(map(_call, apart.calls)),
        known=apart.known,
        methods=explained_methods(apart.known, apart.checks),
        spread=spread,
        uncertainty=tuple(sure),
    )


def _what(apart: NumberApart) -> str:
    """Return what a number is, of a utilization with where it is too much."""
    found = apart.saturation
    if found is None:
        return apart.what
    if found.target is ONE:
        return f"{apart.what} (saturates at 100 %)"
    return f"{apart.what} (target {percent(found.planned)}: {formula(found.target)})"


def _formulas(
    apart: NumberApart, at_text: str, told: Callable[..., str]
) -> Iterator[tuple[str, str]]:
    """Yield a number in symbols, with its numbers and in the population, and what it comes to."""
    yield _SYMBOLS, formula(apart.named)
    free = apart.formula.symbols
    if free - {apart.population}:
        yield _NUMBERS, with_numbers(apart.named, apart.assumptions)
    for one in apart.elastic:
        value = f"{quantity(one.value, one.dimension)} at {at_text}"
        shows = f"for its formula, run `qps explain … {one.name}`"
        yield f"{one.name} (elastic)", f"{value}; {shows}"
    if apart.population in free:
        yield _in_population(apart, at_text)
    yield f"at {at_text}", told(apart.value, digits=6)
    if apart.saturation is not None:
        is_planned = apart.saturation.target is not ONE
        reached = "reaches its target" if is_planned else "saturates"
        yield reached, _saturation(apart.saturation, apart.population)
    if apart.groups is not None:
        count, many = apart.groups
        yield "number of groups", formula(count)
        yield f"groups at {at_text}", number(many)


def _saturation(apart: SaturationApart, population: Formula) -> str:
    """Return where a resource saturates, as a formula where there is a readable one."""
    found = apart.saturation
    if found.not_below is not None:
        known = "" if found.at is None else f", and at the latest at {number(found.at, 6)}"
        least = population_text(found.not_below)
        return f"not before {population} = {least}{known}; not known more precisely"
    if found.at is None:
        return "not reached"
    told = f"{population} = {number(found.at, 6)} ({found.method.value})"
    return told if apart.root is None else f"{told}: {population} = {formula(apart.root)}"


def _cases_of(table: CaseTable) -> Iterator[ExplainedCase]:
    """Yield the values of a parameter by case, a row a kind."""
    for row in table.rows:
        average, least, largest = (
            "" if value is None else quantity(as_float(value), table.dimension)
            for value in map(row.values.get, (ir.Case.AVERAGE, ir.Case.LEAST, ir.Case.LARGEST))
        )
        yield ExplainedCase(
            kind=row.kind or ("" if len(table.rows) == 1 else "all"),
            share="" if row.share is None else percent(float(row.share)),
            average=average,
            least=least,
            largest=largest,
            place=row.place,
            source=" ".join((table.source or "").split()),
        )


def _call(one: CallThere) -> ExplainedCall:
    times = "" if one.times == 1 else f"{one.times:.4g}"
    return ExplainedCall(
        depth=one.depth,
        name=one.name,
        made=percent(one.times) if one.times < 1 else times,
        each=quantity(one.each, TIME, 4),
        start=quantity(one.starts, TIME, 4),
        end=quantity(one.ends, TIME, 4),
        starts=one.starts,
        ends=one.ends,
    )


_READABLE = 160
"""Characters of a formula, beyond which a piece of it tells more."""


def _in_population(apart: NumberApart, at_text: str) -> tuple[str, str]:
    """Return an expression in the population alone; where it is long, the piece that holds now."""
    population = apart.population
    whole = in_population(apart.formula, apart.values, population)
    if len(whole) > _READABLE and apart.piece is not None:
        return f"near {at_text}", in_population(apart.piece, {}, population)
    return f"for any {population.name}", whole


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
        tuple((a.name, _input(a), _in_file(a.place), a.source) for a in explanation.assumptions),
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


def _input(one: ExplainedNumber) -> str:
    """Return a value; of arrivals, their coefficient of variation, as a spec states it."""
    return f"cv {one.value}" if one.name.endswith(".arrivals") else one.value


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


_HEADINGS = {"reaches its target": "At target"}


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
    for place, line in enumerate(explanation.uncertainty):
        yield "" if place else "Uncertainty", line
    if explanation.modes:
        yield "Mode", _in_mode(explanation)
    if title != explanation.name:
        yield "Name", explanation.name
    if explanation.what != title:
        yield "Meaning", explanation.what
    for heading, text in explanation.formulas:
        if heading != at:
            yield _heading(heading), _spaced(printable(_readable(explanation, heading, text)))


def _heading(named: str) -> str:
    """Return the label of a formula.

    >>> _heading("for any N"), _heading("reaches its target")
    ('For any N', 'At target')
    """
    return _HEADINGS.get(named, named[0].upper() + named[1:])


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
        ("Timeline of an average request", "Calls", "Each", "Start", "End"),
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
        beside = f" (other modes, with `--set mode=NAME`: {', '.join(others)})" if others else ""
        return f"{explanation.mode}{beside}"
    return f"none (choose one with `--set mode=NAME`: {', '.join(explanation.modes)})"


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
