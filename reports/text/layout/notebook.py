"""Answers in a notebook: what one must know first, as HTML that loads nothing and runs nothing."""

from __future__ import annotations

import re
from collections.abc import Collection

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.reports.text.layout.facts import COLUMNS, facts_text
from qps.reports.text.layout.table import Table, joined
from qps.reports.text.layout.wrapping import wrapped


class NotebookView(Struct, frozen=True, kw_only=True):
    """What a value shows of itself: a title, an answer, facts by their labels, tables."""

    title: str
    answer: str
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()


class ShowsItself:
    """What a notebook needs of a value that says what is `shown`."""

    __slots__ = ()

    def _shown(self) -> NotebookView:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        return as_html(self._shown())

    def _repr_mimebundle_(
        self, include: Collection[str] | None = None, exclude: Collection[str] | None = None
    ) -> dict[str, str]:
        return as_bundle(self._shown(), include, exclude)


def as_bundle(
    shown: NotebookView,
    include: Collection[str] | None = None,
    exclude: Collection[str] | None = None,
) -> dict[str, str]:
    """Return the formats for Jupyter: the same as HTML, and as text for who shows none."""
    found = {"text/html": as_html(shown), "text/plain": as_plain(shown)}
    wanted = set(found) if include is None else set(include) & set(found)
    return {kind: found[kind] for kind in found if kind in wanted - set(exclude or ())}


def as_html(shown: NotebookView) -> str:
    """Return a part of a page: in the notebook's own colors, light or dark."""
    facts = "".join(
        f'<tr><th style="text-align:left">{_text(label)}</th>'
        f'<td style="text-align:left">{_text(value)}</td></tr>'
        for label, value in shown.facts
        if value
    )
    tables = "".join(_table(table) for table in shown.tables if table.rows)
    return (
        f"<div><div>{_text(shown.title)}</div>"
        f'<div style="font-size:1.3em;font-weight:bold">{_text(shown.answer)}</div>'
        f"{f'<table>{facts}</table>' if facts else ''}{tables}</div>"
    )


def as_plain(shown: NotebookView) -> str:
    """Return the same as text."""
    parts = [
        shown.title,
        "\n".join(wrapped(shown.answer, COLUMNS)),
        facts_text(shown.facts),
        *(table.as_text(width=COLUMNS) for table in shown.tables if table.rows),
    ]
    return printable(joined(parts))


def _table(table: Table) -> str:
    def row(cells: tuple[str, ...], tag: str) -> str:
        sides = ["right" if place in table.right else "left" for place in range(len(cells))]
        inner = "".join(
            f'<{tag} style="text-align:{side}">{_text(cell)}</{tag}>'
            for cell, side in zip(cells, sides, strict=True)
        )
        return f"<tr>{inner}</tr>"

    body = "".join(row(cells, "td") for cells in table.rows)
    return f"<table><thead>{row(table.headings, 'th')}</thead><tbody>{body}</tbody></table>"


def _text(text: str) -> str:
    """Return a text as HTML; what stands between backticks is code."""
    from html import escape  # noqa: PLC0415 - seldom

    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(printable(text)))
