"""Figures in numbers: which load leads from where to where, and the lines as a table."""

from __future__ import annotations

from qps.reports.text.layout.table import Table, joined
from qps.reports.text.words.certainty_marks import known_numbers, parenthesis
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import joined_words, number, quantity, scale_of, unit_symbols
from qps.solver.claims.figure_lines import DrawnCurve, DrawnFigure, Lead, Leads

_ROWS, _MOST_ROWS = 16, 40
"""Steps between the rows of a long axis; of few users each number has a row."""


def figure_json(drawn: DrawnFigure, population: str) -> dict[str, object]:
    """Return a drawn figure as plain values, in base units of `axis_unit` and `unit`.

    `population` is the name of the users. A line has a value for each point of the axis.
    """
    figure = drawn.figure
    return {
        "schema": "qps/figure/1",
        "name": figure.name,
        "title": figure.title or figure.name,
        "axis": figure.parameter or population,
        "axis_unit": str(figure.dimension),
        "unit": str(drawn.dimension),
        "at": drawn.at,
        "lines": drawn.curves,
        "leads": drawn.leads,
        "source": figure.source,
        "note": figure.note,
    }


def figure_text(drawn: DrawnFigure, population: str, *, markdown: bool = False) -> str:
    """Return a figure as text: its title, who leads, and its lines at some points."""
    figure = drawn.figure
    axis = figure.parameter or population
    title = f"{figure.name}: {figure.title or figure.name}"
    table = _table(drawn, axis)
    return joined(
        [
            f"## {title}" if markdown else title,
            *leads_text(drawn, axis),
            table.as_markdown() if markdown else table.as_text(),
            lines_known(drawn),
            " ".join(part for part in (figure.source, figure.note) if part),
        ]
    )


def _table(drawn: DrawnFigure, axis: str) -> Table:
    """Return the lines at some points of the axis, the first and the last among them."""
    x_factor, x_unit = scale_of(drawn.at[-1], drawn.figure.dimension)
    last = len(drawn.at) - 1
    has_all = drawn.figure.parameter is None and last < _MOST_ROWS
    steps = last if has_all else _ROWS
    chosen = sorted({round(last * step / max(1, steps)) for step in range(steps + 1)})
    rows = tuple(
        (
            number(drawn.at[i] / x_factor),
            *(quantity(curve.values[i], drawn.dimension) for curve in drawn.curves),
        )
        for i in chosen
    )
    headings = (
        f"{axis}, {unit_symbols(x_unit)}" if x_unit else axis,
        *(line_label(c) for c in drawn.curves),
    )
    return Table(headings, rows, frozenset(range(len(headings))))


def line_label(curve: DrawnCurve) -> str:
    """Return what stands for a line in a legend: where it is not exact, how it is known, too."""
    return curve.label + parenthesis(curve.known)


def lines_known(drawn: DrawnFigure) -> str:
    """Return which lines are not exact, and why; or that all are."""
    return " ".join(known_numbers({curve.label: curve.known for curve in drawn.curves}))


def leads_text(drawn: DrawnFigure, axis: str) -> tuple[str, ...]:
    """Return, in a sentence for each model, which load is the highest from where to where."""
    return tuple(_sentence(group, drawn, axis) for group in drawn.leads)


def _sentence(group: Leads, drawn: DrawnFigure, axis: str) -> str:
    def text_of(place: float) -> str:
        text = quantity(place, drawn.figure.dimension)
        return text if drawn.figure.parameter else f"{axis} = {text}"

    *before, last = group.leads
    stretches = [
        phrase("figure.one_up_to", lines=_lines(lead), at=text_of(lead.to)) for lead in before
    ]
    if not stretches:
        sentence = f"{joined_words(last.lines)} {_verb(last.lines)} throughout"
    else:
        first = group.leads[0].lines
        stretches[0] = phrase(
            "figure.several_up_to",
            names=joined_words(first),
            verb=_verb(first),
            at=text_of(group.leads[0].to),
        )
        sentence = ", then ".join([*stretches, _lines(last)])
    sentence += "" if group.exact else phrase("chart.tried")
    return f"{group.of}: {sentence}." if group.of else f"{sentence}."


def _lines(lead: Lead) -> str:
    return joined_words(lead.lines) if lead.lines else phrase("figure.unknown_lines")


def _verb(lines: tuple[str, ...]) -> str:
    return "leads" if len(lines) == 1 else phrase("figure.lead_together")
