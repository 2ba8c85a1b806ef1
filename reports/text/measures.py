"""The measures of a spec's own: what they come to at the answer."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.lower.losses_in_series import known_at
from qps.compiler.quantities.certainty import Certainty
from qps.reports.text.how_known import marked_value
from qps.reports.text.labels import PLAIN, Labels
from qps.reports.text.quantities import is_share, quantity
from qps.reports.text.table import Table
from qps.solver.answers.answering import value_at
from qps.solver.answers.solution import Solution


class MeasureView(Struct, frozen=True, kw_only=True):
    """A measure declared in the spec, at capacity, in its base unit; null without a value."""

    name: str
    value: float
    unit: str
    doc: str | None
    known: Certainty


def measure_views(solution: Solution) -> tuple[MeasureView, ...]:
    """Return what the spec's measures come to, in the order of their declaration."""
    graph = solution.graph
    return tuple(
        MeasureView(
            name=name,
            value=value_at(graph, one.value, solution.at),
            unit=str(one.dimension),
            doc=one.doc,
            known=known_at(graph, one, solution.at),
        )
        for name, one in graph.measures.items()
    )


def measure_table(solution: Solution, labels: Labels = PLAIN, *, named: bool = False) -> Table:
    """Return the measures that no requirement shows already, with what their docs say first.

    With labels these are their names; where `named`, identifiers stand behind.
    """
    has_names = named and not labels.is_plain
    graph = solution.graph
    required = {item.criterion.name for item in solution.requirements}
    rows = tuple(
        (
            labels.of(view.name),
            marked_value(
                quantity(
                    view.value, graph.measures[view.name].dimension, share=is_share(view.name)
                ),
                view.value,
                known_at(graph, graph.measures[view.name], solution.at),
            ),
            *([view.doc.splitlines()[0] if view.doc else ""] * labels.is_plain),
            *([view.name] * has_names),
        )
        for view in measure_views(solution)
        if view.name not in required
    )
    headings = (
        "Measure",
        f"At {solution.at:,}",
        *([""] * labels.is_plain),
        *(["Name"] * has_names),
    )
    return Table(headings, rows, frozenset([1]), long=frozenset([0, len(headings) - 1]))
