"""The measures of a spec's own: what they come to at the answer."""

from __future__ import annotations

from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import marked_value
from qps.reports.text.words.labels import PLAIN, Labels
from qps.reports.text.words.quantities import is_share, quantity
from qps.solver.answer import Answer


def measure_table(answer: Answer, labels: Labels = PLAIN, *, named: bool = False) -> Table:
    """Return the measures that no requirement shows already, with what their docs say first.

    With labels these are their names; where `named`, identifiers stand behind.
    """
    has_names = named and not labels.is_plain
    required = {one.name for one in answer.requirements}
    rows = tuple(
        (
            labels.of(one.name),
            marked_value(
                quantity(one.value, one.dimension, share=is_share(one.name)), one.value, one.known
            ),
            *([one.doc.splitlines()[0] if one.doc else ""] * labels.is_plain),
            *([one.name] * has_names),
        )
        for one in answer.measures
        if one.name not in required
    )
    headings = (
        "Measure",
        f"At {answer.at:,}",
        *([""] * labels.is_plain),
        *(["Name"] * has_names),
    )
    return Table(headings, rows, frozenset([1]), long=frozenset([0, len(headings) - 1]))
