"""How every command lays out what it prints: title and file, facts, tables, notes."""

from __future__ import annotations

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.reports.text.layout.facts import (
    COLUMNS,
    facts_text,
    notes_text,
    title_lines,
    warnings_text,
)
from qps.reports.text.layout.table import Table, escaped, joined
from qps.reports.text.layout.wrapping import with_plain_blanks


class TextLayout(Struct, frozen=True, kw_only=True):
    """What a command prints; the same for a terminal and in Markdown.

    `facts` have labels; `warnings` and `notes` are sentences below the tables. `pasted` is a text
    to copy into a spec: its lines stay as they are.
    """

    title: str
    place: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    pasted: str = ""

    def as_text(self, width: int = COLUMNS) -> str:
        """Return it for a terminal of a width."""
        tables = [table.as_text(width=width) for table in self.tables if table.rows]
        head = "\n".join(title_lines(self.title, self.place, width))
        warnings, notes = warnings_text(self.warnings, width), notes_text(self.notes, width)
        facts, pasted = facts_text(self.facts, width), printable(self.pasted)
        return joined([head, facts, *tables, warnings, notes, pasted])

    def as_markdown(self) -> str:
        """Return it as a section of Markdown."""
        place = f" ({self.place})" if self.place else ""
        tables = [table.as_markdown() for table in self.tables if table.rows]
        warnings = [escaped(f"warning: {warning}") for warning in self.warnings]
        notes = [escaped(note) for note in self.notes]
        pasted = f"```qps\n{printable(self.pasted)}```" if self.pasted else ""
        head = f"### {escaped(self.title + place)}"
        return joined([head, self._facts(), *tables, *warnings, *notes, pasted])

    def _facts(self) -> str:
        """Return the facts as a list; one without a label belongs to that before it."""
        lines: list[str] = []
        for label, fact in self.facts:
            if not fact:
                continue
            if label or not lines:
                lines.append(f"- **{escaped(label)}:** {escaped(with_plain_blanks(fact))}")
            else:
                lines[-1] += f"; {escaped(with_plain_blanks(fact))}"
        return "\n".join(lines)

    def printed(self, *, markdown: bool, width: int = COLUMNS) -> str:
        """Return it in either form."""
        return self.as_markdown() if markdown else self.as_text(width)
