"""The measures of a spec's own: what they come to at the answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from qps.compiler.ir.measure_names import percentile_text
from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.quantities import is_share, quantity
from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import MeasureAnswer


def measure_table(answer: Answer, labels: Labels = PLAIN, *, named: bool = False) -> Table:
    """Return the measures that no requirement shows already, with what their docs say first.

    With labels these are their names; where `named`, identifiers stand behind. Percentiles that
    are listed together are one row.
    """
    has_names = named and not labels.is_plain
    required = {one.name for one in answer.requirements}
    lists = [
        (name, tuple(found))
        for name, found in groupby(answer.measures, key=lambda one: one.percentile_of or one.name)
    ]
    rows = tuple(
        (
            labels.of(name),
            _value(found),
            *([_doc(found[0])] * labels.is_plain),
            *([_identifier(found)] * has_names),
        )
        for name, found in lists
        if not required.issuperset(one.name for one in found)
    )
    headings = (
        "Measure",
        f"At {answer.at:,}",
        *([""] * labels.is_plain),
        *(["Name"] * has_names),
    )
    return Table(headings, rows, frozenset([1]), long=frozenset([0, len(headings) - 1]))


def _doc(one: MeasureAnswer) -> str:
    return one.doc.splitlines()[0] if one.doc else ""


def _identifier(found: Sequence[MeasureAnswer]) -> str:
    """Return how the spec calls a measure, or a list of percentiles."""
    first = found[0]
    if not first.percentile_of:
        return first.name
    return f"{first.percentile_of} {', '.join(map(_level, found))}"


def _level(one: MeasureAnswer) -> str:
    return one.name.rpartition(".")[2]


def _value(found: Sequence[MeasureAnswer]) -> str:
    """Return the value of a measure; of percentiles all, with their unit once if it is one.

    `p50 4.4 · p95 29 · ~ p99 51 ms`.
    """
    texts = [quantity(one.value, one.dimension, share=is_share(one.name)) for one in found]
    if not found[0].percentile_of:
        return marked_value(texts[0], found[0].value, found[0].known)
    units = {text.rpartition(" ")[2] for text in texts}
    if len(units) == 1:
        texts = [*(text.rpartition(" ")[0] for text in texts[:-1]), texts[-1]]
    return " · ".join(
        f"{percentile_text(_level(one))} {marked_value(text, one.value, one.known)}"
        for one, text in zip(found, texts, strict=True)
    )
