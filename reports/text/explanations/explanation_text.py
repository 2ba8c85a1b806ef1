"""A number taken apart, as text and Markdown: how it is known, its formulas, parts and inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from qps.compiler.diagnostics.render import printable
from qps.compiler.ir.measure_names import UTILIZATION
from qps.reports.text.explanations.explanation import (
    SYMBOLS,
    ExplainedNumber,
    ExplainedPart,
    Explanation,
)
from qps.reports.text.explanations.explanation_summary import CALLS, INPUTS, SCREEN, summarized
from qps.reports.text.explanations.method_rows import methods_tables
from qps.reports.text.formulas.formula_excerpts import READABLE, shortened
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.reliability import EXACT_HERE, because_first

_FEW_REASONS = 2
_SHORTENED = phrase("explain.shortened")


def explanation_text(
    explanation: Explanation,
    place: str = "",
    *,
    labels: Labels = PLAIN,
    markdown: bool = False,
    width: int = COLUMNS,
    summary: Sequence[ExplainedPart] | None = None,
) -> str:
    """Return a number, its formulas, its parts, and the inputs that it rests on.

    With a `summary`, its largest parts, a text that is longer than a screen is cut to one.
    """
    full = _layout(explanation, place, labels, markdown=markdown, width=width)
    text = full.printed(markdown=markdown, width=width)
    if markdown or summary is None or text.count("\n") <= SCREEN:
        return text
    facts = tuple(_facts(explanation, full.title, labels, _FEW_REASONS))
    return summarized(replace(full, facts=facts), explanation, summary, labels, width)


def _layout(
    explanation: Explanation, place: str, labels: Labels, *, markdown: bool, width: int
) -> TextLayout:
    """Return all that is known of a number."""
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
        (INPUTS, "Value", phrase("term.defined"), "Source"),
        tuple((a.name, _input(a), _in_file(a.place), a.source) for a in explanation.assumptions),
        firm=frozenset([0, 2]),
        long=frozenset([1, 3]),
    )
    notes = [_SHORTENED] if any(len(text) > READABLE for _, text in explanation.formulas) else []
    title = labels.of(explanation.name)
    is_utilization = not labels.is_plain and explanation.name.endswith(UTILIZATION)
    return TextLayout(
        title=title + " utilization" * is_utilization,
        place=place,
        facts=tuple(_facts(explanation, title, labels, None)),
        tables=(
            *([parted] if markdown else _parted(parted, width)),
            _calls(explanation, markdown=markdown),
            _cases(explanation),
            *methods_tables(explanation.methods, labels),
            numbers,
        ),
        notes=tuple(notes),
    )


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


_HEADINGS = {phrase("explain.reaches_target"): phrase("explain.at_target")}


def _facts(
    explanation: Explanation, title: str, labels: Labels, most_reasons: int | None
) -> Iterator[tuple[str, str]]:
    """Yield the value first, then how it is known, its formulas, and its uncertainty."""
    formulas = dict(explanation.formulas)
    at = f"at {explanation.at_text}"
    yield "Value", f"{formulas[at]} {at}"
    if explanation.known.is_exact:
        yield phrase("accuracy"), EXACT_HERE
    else:
        what = explanation.known.kind.value
        reasons = explanation.known.reasons
        sentence = because_first(what, reasons, labels, most=most_reasons, others_in="--all")
        yield phrase("accuracy"), sentence
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
            readable = _readable(explanation, heading, text, labels)
            yield _heading(heading), _spaced(printable(readable))


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


def _readable(explanation: Explanation, heading: str, text: str, labels: Labels) -> str:
    """Return a formula as a person reads it: a long one that adds up by the names of its parts."""
    adds_up = len(explanation.parts) > 1 and all(part.share for part in explanation.parts)
    if len(text) > READABLE and heading == SYMBOLS and adds_up:
        return shortened(" + ".join(labels.stage(part.name) for part in explanation.parts))
    return shortened(text)


def _calls(explanation: Explanation, *, markdown: bool) -> Table:
    """Return the tree of the calls of a request, each with its start and end."""
    inwards = "– " if markdown else "  "
    return Table(
        (CALLS, "Calls", "Each", "Start", "End"),
        tuple(
            (inwards * call.depth + call.name, call.times, call.each, call.start, call.end)
            for call in explanation.calls
        ),
        frozenset([1, 2, 3, 4]),
    )


def _in_mode(explanation: Explanation) -> str:
    """Return which of a spec's modes is explained, or that it is none of them."""
    if any(":" in mode for mode in explanation.modes):  # times of profiles
        return phrase("explain.time", time=explanation.mode or phrase("explain.worst_time"))
    if explanation.mode is not None:
        others = [mode for mode in explanation.modes if mode != explanation.mode]
        beside = phrase("explain.other_modes", names=", ".join(others)) if others else ""
        return f"{explanation.mode}{beside}"
    return phrase("explain.no_mode", names=", ".join(explanation.modes))


def _cases(explanation: Explanation) -> Table:
    """Return a parameter's values by case, and by kind where it has kinds."""
    headings = ("Kind", "Share", "Average", "Least", "Largest", phrase("term.defined"), "Source")
    rows = tuple(
        (c.kind, c.share, c.average, c.least, c.largest, c.place, c.source)
        for c in explanation.cases
    )
    if len(rows) > 1:
        return Table(headings, rows, frozenset([1, 2, 3, 4]))
    return Table(headings[2:], tuple(row[2:] for row in rows), frozenset([0, 1, 2]))
