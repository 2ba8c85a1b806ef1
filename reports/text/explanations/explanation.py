"""A number taken apart, as plain values: its formulas, its parts, and the numbers it rests on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.case_tables import CaseTable
from qps.compiler.diagnostics.former_names import former
from qps.compiler.lower.load_graph import Assumption, Cited
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import TIME
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.expressions.formulas import ONE, Formula
from qps.reports.text.explanations.method_rows import ExplainedMethod, explained_methods
from qps.reports.text.explanations.spread_text import spread_lines
from qps.reports.text.formulas.formula_text import formula, in_population, with_numbers
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import is_share, number, percent, population_text, quantity
from qps.solver.breakdown.breakdown_types import CallThere, NumberApart, SaturationApart
from qps.solver.uncertainty.interval_result import ValueUncertainty

SYMBOLS, _NUMBERS = "formula", phrase("explain.with_values")


class ExplainedPart(Struct, frozen=True):
    """One part of a number, such as the load of a component or a stage of a latency."""

    name: str
    value: str
    share: str
    formula: str


class ExplainedCall(Struct, frozen=True, kw_only=True):
    """A call, or a node or link within one, with its visits, duration and start time.

    `starts` and `ends` are seconds after the source, as the times in words are.
    """

    depth: int
    name: str
    times: str
    each: str
    start: str
    end: str
    starts: float
    ends: float

    made = former("made", "times")


class ExplainedNumber(Struct, frozen=True):
    """An input of the formula, and its source."""

    name: str
    value: str
    place: str
    source: str


class ExplainedCase(Struct, frozen=True, kw_only=True):
    """One case of a parameter: its probability and its values. `values` is empty if none are given.

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
    """A number and how it is computed. `value` is in base units of `unit`, at the population `at`.

    `mode` is the mode in which it is so; None outside of any. `modes` are those of the spec.
    `methods` are those by which it is `known`. `spread` explains how far the value may be off,
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
    spread: ValueUncertainty | None = None
    uncertainty: tuple[str, ...] = ()


def explanation_view(apart: NumberApart) -> Explanation:
    """Return a number taken apart as plain values."""
    name, dimension, spread = apart.name, apart.dimension, apart.spread
    formatted = partial(quantity, dimension=dimension, share=is_share(name))
    at_text = f"{apart.population.name} = {apart.at:,}"
    sure = () if spread is None else spread_lines(spread, name, dimension, is_share=is_share(name))
    stated: tuple[Assumption | Cited, ...] = (*apart.rests_on, *apart.cited)
    return Explanation(
        schema="qps/explain/4",
        name=name,
        what=_what(apart),
        at=apart.at,
        at_text=at_text,
        value=apart.value,
        unit=str(dimension),
        formulas=tuple(_formulas(apart, at_text, formatted)),
        parts=tuple(
            ExplainedPart(
                part.name,
                formatted(part.value),
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
        return phrase("explain.saturates_at_full", what=apart.what)
    return phrase(
        "explain.target_set_by",
        what=apart.what,
        share=percent(found.planned),
        formula=formula(found.target),
    )


def _formulas(
    apart: NumberApart, at_text: str, phrase_of: Callable[..., str]
) -> Iterator[tuple[str, str]]:
    """Yield a number in symbols, with its numbers and in the population, and what it comes to."""
    yield SYMBOLS, formula(apart.named)
    free = apart.formula.symbols
    if free - {apart.population}:
        yield _NUMBERS, with_numbers(apart.named, apart.assumptions)
    for one in apart.elastic:
        value = f"{quantity(one.value, one.dimension)} at {at_text}"
        shows = phrase("explain.run_for_formula", name=one.name)
        yield f"{one.name} (elastic)", f"{value}; {shows}"
    if apart.population in free:
        yield _in_population(apart, at_text)
    yield f"at {at_text}", phrase_of(apart.value, digits=6)
    if apart.saturation is not None:
        is_planned = apart.saturation.target is not ONE
        reached = phrase("explain.reaches_target") if is_planned else "saturates"
        yield reached, _saturation(apart.saturation, apart.population)
    if apart.groups is not None:
        count, many = apart.groups
        yield phrase("explain.number_of_groups"), formula(count)
        yield phrase("explain.groups_at", at=at_text), number(many)


def _saturation(apart: SaturationApart, population: Formula) -> str:
    """Return where a resource saturates, as a formula where there is a readable one."""
    found = apart.saturation
    if found.not_below is not None:
        least = population_text(found.not_below)
        if found.at is None:
            return phrase("explain.no_upper_bound", population=population, least=least)
        return phrase(
            "explain.between", population=population, least=least, most=number(found.at, 6)
        )
    if found.at is None:
        return phrase("explain.not_reached")
    text = f"{population} = {number(found.at, 6)} ({found.method.value})"
    return text if apart.root is None else f"{text}: {population} = {formula(apart.root)}"


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
        times=percent(one.times) if one.times < 1 else times,
        each=quantity(one.each, TIME, 4),
        start=quantity(one.starts, TIME, 4),
        end=quantity(one.ends, TIME, 4),
        starts=one.starts,
        ends=one.ends,
    )


_READABLE = 160
"""Characters of a formula, beyond which a part of it says more."""


def _in_population(apart: NumberApart, at_text: str) -> tuple[str, str]:
    """Return an expression in the population alone; where it is long, the piece that holds now."""
    population = apart.population
    whole = in_population(apart.formula, apart.values, population)
    if len(whole) > _READABLE and apart.piece is not None:
        return f"near {at_text}", in_population(apart.piece, {}, population)
    return phrase("explain.for_any", name=population.name), whole
