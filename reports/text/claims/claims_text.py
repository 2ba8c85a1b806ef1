"""Claims as text: tables of each spec, why their verdicts are so, failures in full, a summary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from qps.compiler.diagnostics.visible_text import one_line
from qps.reports.text.claims.claim_quantities import (
    claimed,
    error,
    interval,
    predicted,
    relative_error,
    within,
)
from qps.reports.text.claims.claim_summary import NOTHING_UNTESTED, UntestedCounts, summary_lines
from qps.reports.text.claims.coverage_text import coverage_sentences, interval_heading
from qps.reports.text.claims.verdicts import STALE, grounds, mark
from qps.reports.text.layout.colors import Tone, toned
from qps.reports.text.layout.facts import COLUMNS, fact_lines, facts_text, notes_text
from qps.reports.text.layout.table import Table, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.certainty_marks import claims_known_line
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict, Coverage

_TONES = {
    ClaimVerdict.FAILS: Tone.MISS,
    ClaimVerdict.STALE: Tone.MISS,
    ClaimVerdict.MISSED: Tone.LIMIT,
    ClaimVerdict.ACCEPTED: Tone.LIMIT,
}


# -- claims as text -----------------------------------------------------------------------


def claims_text(
    results: Sequence[ClaimResult],
    untested: UntestedCounts = NOTHING_UNTESTED,
    *,
    coverages: Sequence[Coverage] = (),
    quiet: bool = False,
    color: bool = False,
    width: int = COLUMNS,
) -> str:
    """Return the claims of each spec with their predictions, why they are so, and a summary.

    What fails is printed once more in full before the summary; with `quiet`, that alone. With
    `color`, failures are red and misses yellow.
    """
    shown = [] if quiet else _by_spec(results)
    parts = [_of_spec(spec, of, width, color=color) for spec, of in shown]
    known = claims_known_line([result.known for _, of in shown for result in of])
    beside = [*([known] if known else []), *([] if quiet else coverage_sentences(coverages))]
    parts.append(toned(notes_text(beside, width).rstrip("\n"), None, color=color))
    parts += [_failure(result, width, color=color) for result in results if result.fails]
    is_well = not untested.parts and not any(result.fails for result in results)
    tone = Tone.ANSWER if is_well else Tone.MISS
    lines = [
        line
        for each in summary_lines(results, untested)
        for line in wrapped(each, width, "  ", "    ")
    ]
    count = [toned(line, tone, color=color) for line in lines]
    return joined([*parts, "\n".join(count)])


def _by_spec(results: Iterable[ClaimResult]) -> list[tuple[str, list[ClaimResult]]]:
    found: dict[str, list[ClaimResult]] = {}
    for result in results:
        found.setdefault(result.spec, []).append(result)
    return list(found.items())


def _of_spec(spec: str, results: Sequence[ClaimResult], width: int, *, color: bool) -> str:
    """Return the claims of a spec below its name, a row each, and why they are so."""
    tables = []
    for columns in _TABLES:
        chosen = [result for result in results if columns.holds(result)]
        if chosen:
            tables.append(_rows(claims_table(chosen, columns), chosen, width, color=color))
    facts = [fact for each in grounds(results) for fact in each.as_facts]
    why = facts_text(facts, width).rstrip("\n")
    return joined([one_line(spec) + "\n" + tables[0], *tables[1:], toned(why, None, color=color)])


def _rows(table: Table, results: Sequence[ClaimResult], width: int, *, color: bool) -> str:
    """Return a table of claims, its rows in the tones of their verdicts."""
    tones = [None, *(_TONES.get(result.verdict) for result in results)]
    lines = zip(table.as_lines(width=width), tones, strict=True)
    return "".join(f"{toned(line, tone, color=color)}\n" for row, tone in lines for line in row)


def _failure(result: ClaimResult, width: int, *, color: bool) -> str:
    """Return a claim that fails: its place, what it requires, what is predicted, the error."""
    head = one_line(f"{mark(result)}  {result.name}  {result.file}:{result.line}")
    off = result.relative_difference
    tolerance = within(result)
    facts = [
        ("Title", result.title or ""),
        ("Expected", claimed(result) + (f" within {tolerance}" if tolerance else "")),
        ("Predicted", predicted(result)),
        ("Error", "" if off is None else relative_error(off)),
        ("Calibrated", result.fitted or ""),
        ("Why", STALE if result.verdict is ClaimVerdict.STALE else result.expired or ""),
    ]
    lines = [toned(line, None, color=color) for fact in fact_lines(facts, width) for line in fact]
    return "\n".join([toned(head, Tone.MISS, color=color), *lines])


class _Columns(Struct, frozen=True):
    """Which claims a table of `qps test` has, and what it calls what they state."""

    kinds: frozenset[str]
    stated: str
    place: str

    def holds(self, result: ClaimResult) -> bool:
        """Return whether a claim is of the table."""
        return result.kind in self.kinds


_TABLES = (
    _Columns(frozenset(["condition", "matrix", "unclaimed"]), "Required", "Line"),
    _Columns(frozenset(["value", "simulated"]), "Expected", "Line"),
    _Columns(frozenset(["observation"]), "Measured", ""),
)
_ALL = _Columns(frozenset(), "Expected", phrase("term.defined"))


def claims_table(results: Sequence[ClaimResult], columns: _Columns = _ALL) -> Table:
    """Return claims as a table, one row each; columns that no row fills are left out.

    Rows of an observation have their line in their name.
    """
    intervals = interval_heading(results)
    rows = [
        (
            mark(result),
            result.name,
            claimed(result),
            predicted(result),
            error(result),
            within(result),
            interval(result),
            f"{result.file}:{result.line}" if columns is _ALL else str(result.line),
        )
        for result in results
    ]
    names = ("Outcome", "Claim", columns.stated, "Predicted", "Error", "Tolerance")
    headings = (*names, intervals or "", columns.place)
    shown = [
        i
        for i, heading in enumerate(headings)
        if heading and (i not in _MAY_BE_EMPTY or any(row[i] for row in rows))
    ]
    return Table(
        tuple(headings[i] for i in shown),
        tuple(tuple(row[i] for i in shown) for row in rows),
        right=frozenset(new for new, i in enumerate(shown) if i in _RIGHT or headings[i] == "Line"),
        long=frozenset(new for new, i in enumerate(shown) if i in _LONG),
    )


_MAY_BE_EMPTY = (4, 5, 6)
_RIGHT = (4, 5)
_LONG = (0, 1, 2, 3, 5, 6)
