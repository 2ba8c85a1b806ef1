"""Verdicts on claims: how many pass and on what grounds, what was calibrated, what is a miss."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from math import isfinite
from pathlib import Path

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.claims.coverage_text import (
    coverage_sentences,
    interval_heading,
    interval_text,
)
from qps.reports.text.layout.colors import Tone, toned
from qps.reports.text.layout.facts import COLUMNS, fact_lines, facts_text, notes_text
from qps.reports.text.layout.table import Table, joined
from qps.reports.text.layout.wrapping import wrapped
from qps.reports.text.words.certainty_marks import claims_known_line, marked, marked_value
from qps.reports.text.words.estimates import estimate
from qps.reports.text.words.quantities import quantity
from qps.solver.claims.claim_results import ClaimResult, Coverage, Side, Verdict

MARKS = {
    Verdict.HOLDS: "pass",
    Verdict.FAILS: "FAIL",
    Verdict.MISSED: "MISS",
    Verdict.STALE: "FAIL",
    Verdict.ACCEPTED: "accepted",
    Verdict.SHOWN: "shown",
    Verdict.UNPLAYED: "-",
    Verdict.UNCLAIMED: "-",
}
"""The word before a claim; `mark` says of one that passes whether anything was calibrated."""

_TONES = {
    Verdict.FAILS: Tone.MISS,
    Verdict.STALE: Tone.MISS,
    Verdict.MISSED: Tone.LIMIT,
    Verdict.ACCEPTED: Tone.LIMIT,
}

STALE = "passes although it is marked `missed`: remove `missed`"


class Tally(Struct, frozen=True, kw_only=True):
    """How many claims hold, by what they rest on, and how many do not.

    Of what documents state, `unfitted` rest on nothing that was fitted, `on_other_fits` on numbers
    that were fitted to others, `fitted_to_it` on what was fitted to the very number, which tells
    nothing, and `arithmetic` follow from its own numbers alone. `own` are of the model itself:
    laws, identities, our own reckoning. Those that are `shown` beside a measurement are not judged;
    of `unclaimed` ones nothing is claimed.
    """

    unfitted: int
    on_other_fits: int
    fitted_to_it: int
    arithmetic: int
    own: int
    shown: int
    missed: int
    unclaimed: int
    accepted: int
    unplayed: int
    failed: int
    has_published: bool

    @property
    def holding(self) -> int:
        """How many hold, by whatever right."""
        published = self.unfitted + self.on_other_fits + self.fitted_to_it
        return published + self.arithmetic + self.own


def tally(results: Sequence[ClaimResult]) -> Tally:
    """Count what became of claims."""
    verdicts = [result.verdict for result in results]
    holding = [result for result in results if result.verdict is Verdict.HOLDS]
    stated = [result for result in holding if result.origin is not ir.Origin.MODEL]
    to_others = [result for result in stated if not result.is_fitted_to_it]
    published = [result for result in to_others if result.is_published]
    unfitted = sum(result.fitted is None for result in published)
    return Tally(
        unfitted=unfitted,
        on_other_fits=len(published) - unfitted,
        fitted_to_it=len(stated) - len(to_others),
        arithmetic=len(to_others) - len(published),
        own=len(holding) - len(stated),
        shown=verdicts.count(Verdict.SHOWN),
        missed=verdicts.count(Verdict.MISSED),
        unclaimed=verdicts.count(Verdict.UNCLAIMED),
        accepted=verdicts.count(Verdict.ACCEPTED),
        unplayed=verdicts.count(Verdict.UNPLAYED),
        failed=sum(result.fails for result in results),
        has_published=any(r.is_published and r.holds is not None for r in results),
    )


class Untested(Struct, frozen=True):
    """How many specs could not be read, and how many claims of the others have no answer."""

    specs: int = 0
    claims: int = 0

    @property
    def parts(self) -> list[str]:
        """What a summary says of them, nothing where there are none."""
        specs = f"{self.specs:,} {'spec' if self.specs == 1 else 'specs'} with errors"
        claims = f"{self.claims:,} {'claim' if self.claims == 1 else 'claims'} without a result"
        return [specs] * bool(self.specs) + [claims] * bool(self.claims)


NOTHING_UNTESTED = Untested()


def summary(results: Sequence[ClaimResult], untested: Untested = NOTHING_UNTESTED) -> str:
    """Return in one line what became of claims; nothing counts for two."""
    found = tally(results)
    parts = []
    if found.has_published:
        # What all claims have in common is not said of them.
        calibrated = found.on_other_fits + found.fitted_to_it
        is_divided = calibrated + found.arithmetic + found.own > 0
        claims = _counted(found.unfitted, "published claim") if is_divided else found.unfitted
        how = " without calibration" * (calibrated > 0)
        parts.append(f"{claims} passed{how}")
    if found.on_other_fits:
        parts.append(f"{found.on_other_fits:,} passed after calibration on other data")
    if found.fitted_to_it:
        targets = _counted(found.fitted_to_it, "calibration target")
        parts.append(f"{targets} passed (not counted as evidence)")
    if found.arithmetic:
        parts.append(f"{_counted(found.arithmetic, 'arithmetic claim')} passed")
    if found.own:
        own = _counted(found.own, "other claim") if parts else f"{found.own:,}"
        parts.append(f"{own} passed")
    if found.missed:
        errors = _errors(results, Verdict.MISSED)
        misses = "known miss" if found.missed == 1 else "known misses"
        parts.append(f"{found.missed:,} {misses}{errors and f' ({errors})'}")
    if found.unclaimed:
        parts.append(f"{_counted(found.unclaimed, 'published value')} without a claim")
    if found.accepted:
        parts.append(f"{_counted(found.accepted, 'accepted failure')}")
    if found.shown:
        errors = _errors(results, Verdict.SHOWN)
        parts.append(f"{found.shown:,} for comparison only{errors and f' ({errors})'}")
    if found.unplayed:
        parts.append(f"{found.unplayed:,} not simulated")
    return ", ".join([*parts, f"{found.failed:,} failed", *untested.parts])


class InFolder(Struct, frozen=True):
    """What became of the claims of the specs of one folder."""

    folder: str
    summary: str


def in_folders(results: Sequence[ClaimResult]) -> tuple[InFolder, ...]:
    """Return what became of claims, folder by folder: those of one say nothing of another."""
    folders: dict[str, list[ClaimResult]] = {}
    for result in results:
        folders.setdefault(Path(result.spec).parent.as_posix(), []).append(result)
    return tuple(InFolder(one, summary(of)) for one, of in folders.items())


def summary_lines(results: Sequence[ClaimResult], untested: Untested) -> list[str]:
    """Return what became of claims: a line, or one for each of several folders and what fails."""
    folders = in_folders(results)
    if not folders[1:]:
        return [summary(results, untested)]
    failed = sum(result.fails for result in results)
    total = f"{failed:,} of {_counted(len(results), 'claim')} failed"
    total = ", ".join([total, *untested.parts])
    return [*(f"{one.folder}: {one.summary}" for one in folders), total]


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _errors(results: Iterable[ClaimResult], verdict: Verdict) -> str:
    """Return how far predictions of a verdict are off, empty where nothing says so."""
    off = [r.relative_difference for r in results if r.verdict is verdict]
    known = [share for share in off if share is not None]
    if not known:
        return ""
    ends = dict.fromkeys(relative_error(end) for end in (min(known), max(known)))
    return f"error {' to '.join(ends)}"


_TENTH, _LEAST = 0.1, 0.0005


def relative_error(share: float) -> str:
    """Return how far a prediction is off, with its sign.

    >>> relative_error(0.0114), relative_error(-0.5), relative_error(-0.0003)
    ('+1.1 %', '-50 %', '0 %')
    >>> relative_error(float("inf"))
    '+∞'
    """
    if not isfinite(share):
        return f"{'-' * (share < 0) or '+'}{quantity(abs(share), DIMENSIONLESS)}"
    if abs(share) < _LEAST:
        return "0 %"
    return f"{share * 100:+.{0 if abs(share) >= _TENTH else 1}f} %"


def error(result: ClaimResult) -> str:
    """Return how far a prediction is off, empty where nothing says so."""
    off = result.relative_difference
    return "" if off is None else relative_error(off)


def mark(result: ClaimResult) -> str:
    """Return the verdict before a claim; of one that passes, whether anything was calibrated."""
    if result.verdict is not Verdict.HOLDS or result.fitted is None:
        return MARKS[result.verdict]
    return "calibration target" if result.is_fitted_to_it else "calibrated"


class Grounds(Struct, frozen=True):
    """Why claims have their verdicts: reasons of one kind, each with the claims that share it."""

    kind: str
    reasons: tuple[tuple[str, str], ...]

    @property
    def as_table(self) -> Table:
        """The same as a table, with the reason behind the claims."""
        return Table((self.kind, "Reason"), self.reasons)

    @property
    def as_facts(self) -> list[tuple[str, str]]:
        """The same as facts: what kind it is, and each reason behind its claims."""
        said = [f"{names}: {reason}" for names, reason in self.reasons]
        return list(zip([self.kind, *[""] * len(said)], said, strict=False))


def grounds(results: Iterable[ClaimResult]) -> tuple[Grounds, ...]:
    """Return what was calibrated, why claims are missed, not made, not judged or accepted."""
    found: dict[str, dict[str, list[str]]] = {kind: {} for kind in _KINDS_OF_GROUNDS}
    for result in results:
        for kind, reason in _reasons(result):
            found[kind].setdefault(reason, []).append(result.name)
    return tuple(
        Grounds(kind, tuple((_listed(names), reason) for reason, names in reasons.items()))
        for kind, reasons in found.items()
        if reasons
    )


_KINDS_OF_GROUNDS = ("Calibrated", "Missed", "No claim", "Undecided", "Accepted")


def _reasons(result: ClaimResult) -> Iterator[tuple[str, str]]:
    """Yield why a claim has its verdict, each with its kind."""
    if result.fitted is not None:
        yield "Calibrated", result.fitted
    if result.missed is not None:
        yield "Missed", why_missed(result)
    if result.verdict is Verdict.UNCLAIMED:
        yield "No claim", result.note or ""
    if result.near is not None and result.near.why is not None:
        yield "Undecided", result.near.why
    if result.excepted is not None:
        yield "Accepted", result.excepted


def why_missed(result: ClaimResult) -> str:
    """Return why a claim is known to be missed, empty where it is not."""
    return STALE if result.verdict is Verdict.STALE else result.missed or ""


def _listed(names: Sequence[str]) -> str:
    """Return the claims that share a reason; those of one block are told by its name."""
    return ", ".join(dict.fromkeys(name.partition("[")[0] for name in names))


# -- claims as text -----------------------------------------------------------------------


def claims_text(
    results: Sequence[ClaimResult],
    untested: Untested = NOTHING_UNTESTED,
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
        ("Why", STALE if result.verdict is Verdict.STALE else result.expired or ""),
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
_ALL = _Columns(frozenset(), "Expected", "Defined at")


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
    names = ("Verdict", "Claim", columns.stated, "Predicted", "Error", "Tolerance")
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
_LONG = (0, 1, 2, 3, 6)


def claimed(result: ClaimResult) -> str:
    """Return what was claimed, in its unit; of what nobody claims, what it is."""
    if result.verdict is Verdict.UNCLAIMED:
        return result.title or ""
    if result.condition is not None:
        return result.condition
    if result.kind == "simulated":
        return _simulated(result)
    assert result.claimed is not None
    return _quantity(result.claimed, result)


def _simulated(result: ClaimResult) -> str:
    """Return what was simulated with its interval."""
    if result.near is None:
        return "not simulated"
    mean, half = result.near.mean, result.near.half_width
    if not isfinite(mean):
        return "too few items simulated"
    share = _is_written_in_percent(result)
    return f"simulated {estimate(mean, half, result.dimension, share=share)}"


def predicted(result: ClaimResult) -> str:
    """Return what the model says, in its unit; for a condition, the values of its sides."""
    if result.counted is not None:
        of_any = bool(result.compared[-1].value)
        return marked(result.counted, result.known) if of_any else result.counted
    if result.verdict is Verdict.UNCLAIMED:
        return ""
    if result.condition is not None:
        return "; ".join(_sides(result))
    assert result.predicted is not None
    return marked_value(_quantity(result.predicted, result), result.predicted, result.known)


def within(result: ClaimResult) -> str:
    """Return how far a prediction may be off, empty where nothing is judged by that."""
    if result.tolerance is None:
        return ""
    amount = float(result.tolerance.amount)
    if result.tolerance.relative:
        return f"{amount * 100:g} %"
    return _quantity(amount, result)


def interval(result: ClaimResult) -> str:
    """Return the prediction interval of a measured value, and how far that lies outside of it."""
    return interval_text(result, partial(_quantity, digits=3))


def _sides(result: ClaimResult) -> list[str]:
    """Return the values of a comparison, without those that are written in it."""
    written = (result.condition or "").replace("_", "")
    found = [_side(side) for side in result.compared]
    return [one for one in found if one.replace(",", "") not in written] or found[:1]


def _side(side: Side) -> str:
    """Return one side of a comparison; counts are whole, and told so."""
    is_whole = side.dimension == DIMENSIONLESS and side.value.is_integer()
    told = f"{side.value:,.0f}" if is_whole else quantity(side.value, side.dimension)
    return marked_value(told, side.value, side.known)


def _quantity(value: float, result: ClaimResult, digits: int = 4) -> str:
    share = _is_written_in_percent(result)
    return quantity(value, result.dimension, digits, share=share, beside=result.claimed)


def _is_written_in_percent(result: ClaimResult) -> bool:
    """True for `~ 70 % within …` and for a measured column `in % -> …`."""
    if result.kind == "observation":
        return result.text.partition("->")[0].rstrip().endswith("%")
    if result.kind == "simulated":
        return True  # of what has no unit loads and losses alone are simulated
    return "%" in result.text.partition("~")[2].partition("within")[0]
