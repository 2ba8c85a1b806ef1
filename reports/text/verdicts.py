"""What became of claims: how many hold, by what right, and what was chosen or is missed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite
from pathlib import Path

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.visible import one_line
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.reports.text.coverage_text import coverage_lines, interval_heading, interval_text
from qps.reports.text.how_known import claims_known_line, marked, marked_value
from qps.reports.text.quantities import quantity, with_interval
from qps.reports.text.table import Table, joined
from qps.reports.text.tones import Tone, toned
from qps.reports.text.wrapping import labelled
from qps.solver.claims.claim_results import ClaimResult, Coverage, Side, Verdict

MARKS = {
    Verdict.HOLDS: "ok",
    Verdict.FAILS: "FAIL",
    Verdict.MISSED: "missed",
    Verdict.STALE: "FAIL",
    Verdict.ACCEPTED: "accepted",
    Verdict.SHOWN: "shown",
    Verdict.UNPLAYED: "-",
    Verdict.UNCLAIMED: "-",
}
"""What stands before a claim; of one that holds `mark` says what it rests on."""

_TONES = {
    Verdict.FAILS: Tone.MISS,
    Verdict.STALE: Tone.MISS,
    Verdict.MISSED: Tone.LIMIT,
    Verdict.ACCEPTED: Tone.LIMIT,
}

_COLUMNS = 80

STALE = "is said to be missed, and holds: take `missed` away"


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
        specs = f"{self.specs:,} {'spec' if self.specs == 1 else 'specs'} could not be read"
        has = "claim has" if self.claims == 1 else "claims have"
        return [specs] * bool(self.specs) + [f"{self.claims:,} {has} no answer"] * bool(self.claims)


NOTHING_UNTESTED = Untested()


def summary(results: Sequence[ClaimResult], untested: Untested = NOTHING_UNTESTED) -> str:
    """Return in one line what became of claims; nothing counts for two."""
    found = tally(results)
    parts = []
    if found.has_published:
        parts.append(f"{found.unfitted:,} published {_hold(found.unfitted)} with nothing fitted")
    if found.on_other_fits:
        parts.append(f"{found.on_other_fits:,} with what was fitted to other numbers")
    if found.fitted_to_it:
        count = found.fitted_to_it
        parts.append(f"{count:,} fitted to {_these(count)}, which {_count(count)} as nothing")
    if found.arithmetic:
        parts.append(f"{found.arithmetic:,} arithmetic of the inputs")
    if found.own:
        parts.append(f"{found.own:,} of the model itself {_hold(found.own)}")
    if found.missed:
        parts.append(f"{found.missed:,} missed{_errors(results, Verdict.MISSED)}")
    if found.unclaimed:
        parts.append(f"{found.unclaimed:,} without a claim")
    if found.accepted:
        parts.append(f"{found.accepted:,} accepted until a day")
    if found.shown:
        errors = _errors(results, Verdict.SHOWN) or " (not judged)"
        parts.append(f"{found.shown:,} shown beside what was measured{errors}")
    if found.unplayed:
        parts.append(f"{found.unplayed:,} not simulated")
    return ", ".join([*parts, f"{found.failed:,} fail", *untested.parts])


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
    told = ", ".join([f"{failed:,} of {len(results):,} claims fail", *untested.parts])
    return [*(f"{one.folder}: {one.summary}" for one in folders), told]


def _hold(count: int) -> str:
    return "holds" if count == 1 else "hold"


def _these(count: int) -> str:
    return "this very number" if count == 1 else "these very numbers"


def _count(count: int) -> str:
    return "counts" if count == 1 else "count"


def _errors(results: Iterable[ClaimResult], verdict: Verdict) -> str:
    """Return how far the model is off in claims of a verdict, empty where nothing says so."""
    off = [r.relative_difference for r in results if r.verdict is verdict]
    known = [share for share in off if share is not None]
    if not known:
        return ""
    ends = dict.fromkeys(f"{end:+.1%}" for end in (min(known), max(known)))
    told = f"off by {' to '.join(ends)}"
    return f" (not judged: {told})" if verdict is Verdict.SHOWN else f" ({told})"


def mark(result: ClaimResult) -> str:
    """Return the word before a claim: `chosen` where something was fitted to it, else `fitted`."""
    if result.verdict is not Verdict.HOLDS or result.fitted is None:
        return MARKS[result.verdict]
    return "chosen" if result.is_fitted_to_it else "fitted"


def grounds(results: Iterable[ClaimResult]) -> tuple[Table, ...]:
    """Return what was chosen to hit claims, why others are missed or not made, as tables."""
    chosen: dict[str, list[str]] = {}
    missed: dict[str, list[str]] = {}
    unclaimed: dict[str, list[str]] = {}
    untold: dict[str, list[str]] = {}
    excepted: dict[str, list[str]] = {}
    for result in results:
        if result.fitted is not None:
            chosen.setdefault(result.fitted, []).append(result.name)
        if result.missed is not None:
            missed.setdefault(why_missed(result), []).append(result.name)
        if result.verdict is Verdict.UNCLAIMED:
            unclaimed.setdefault(result.note or "", []).append(result.name)
        if result.excepted is not None:
            excepted.setdefault(result.excepted, []).append(result.name)
        if result.near is not None and result.near.why is not None:
            untold.setdefault(result.near.why, []).append(result.name)
    tables = (
        _ground("fitted", "what was chosen", chosen),
        _ground("missed", "why", missed),
        _ground("without a claim", "why", unclaimed),
        _ground("not told", "why", untold),
        _ground("excepted", "by the project file", excepted),
    )
    return tuple(table for table in tables if table.rows)


def why_missed(result: ClaimResult) -> str:
    """Return why a claim is known to be missed, empty where it is not."""
    return STALE if result.verdict is Verdict.STALE else result.missed or ""


def _ground(kind: str, heading: str, reasons: dict[str, list[str]]) -> Table:
    rows = tuple((_listed(names), reason) for reason, names in reasons.items())
    return Table((kind, heading), rows)


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
    width: int | None = None,
) -> str:
    """Return every claim with what was claimed and predicted, what is fitted, and a count.

    What fails is told whole, once more, before the count; that alone where it is to be `quiet`.
    With `color`, what fails is red, what is missed yellow, and so is the count, or green. Rows are
    cut to the `width` of a terminal, and are whole for programs.
    """
    told = [] if quiet else results
    table = claims_table(told)
    reasons = [reason.as_text("", width) for reason in grounds(told)]
    known = claims_known_line([result.known for result in told])
    told_table = ""
    if table.rows:
        head, *rows = table.as_text("", width).splitlines()
        tones = [_TONES.get(result.verdict) for result in told]
        shown = (toned(row, tone, color=color) for row, tone in zip(rows, tones, strict=True))
        told_table = "\n".join([toned(head, None, color=color), *shown])
    covered = "" if quiet else coverage_lines(coverages)
    beside = [toned(part, None, color=color) for part in (known, covered, *reasons)]
    failing = [_failure(result, width, color=color) for result in results if result.fails]
    is_well = not untested.parts and not any(result.fails for result in results)
    tone = Tone.ANSWER if is_well else Tone.MISS
    count = [toned(line, tone, color=color) for line in summary_lines(results, untested)]
    return joined([told_table, *beside, *failing, "\n".join(count)])


def _failure(result: ClaimResult, width: int | None, *, color: bool) -> str:
    """Return a claim that fails: its place, what it claims, what is predicted, how far off."""
    head = one_line(f"{mark(result)}  {result.name}  {result.file}:{result.line}")
    off = result.relative_difference
    claims_less = within(result)
    facts = [
        ("", result.title or ""),
        ("claimed", claimed(result) + (f" within {claims_less}" if claims_less else "")),
        ("predicted", predicted(result)),
        ("off by", "" if off is None else f"{off:+.1%}"),
        ("fitted", result.fitted or ""),
        ("why", STALE if result.verdict is Verdict.STALE else result.expired or ""),
    ]
    shown = labelled([fact for fact in facts if fact[1]], width or _COLUMNS, "      ")
    lines = [toned(line, None, color=color) for fact in shown for line in fact]
    return "\n".join([toned(head, Tone.MISS, color=color), *lines])


def claims_table(results: Sequence[ClaimResult]) -> Table:
    """Return claims as a table, one row each."""
    intervals = interval_heading(results)
    rows = tuple(
        (
            mark(result),
            result.name,
            claimed(result),
            predicted(result),
            "" if result.relative_difference is None else f"{result.relative_difference:+.1%}",
            within(result),
            *([interval(result)] if intervals else []),
            f"{result.file}:{result.line}",
        )
        for result in results
    )
    shown = (intervals,) if intervals else ()
    headings = ("", "claim", "claimed", "predicted", "difference", "within", *shown, "place")
    return Table(headings, rows, frozenset([4, 5]))


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
        return "too few came"
    told = with_interval(mean, half, result.dimension, share=_is_written_in_percent(result))
    return f"simulated {' ± '.join(told)}"


def predicted(result: ClaimResult) -> str:
    """Return what the model says, in its unit; for a condition, the values of its sides."""
    if result.counted is not None:
        of_any = bool(result.compared[-1].value)
        return marked(result.counted, result.known) if of_any else result.counted
    if result.verdict is Verdict.UNCLAIMED:
        return ""
    if result.condition is not None:
        return "; ".join(_side(side) for side in result.compared)
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
    return interval_text(result, _quantity)


def _side(side: Side) -> str:
    """Return one side of a comparison; counts are whole, and told so."""
    is_whole = side.dimension == DIMENSIONLESS and side.value.is_integer()
    told = f"{side.value:,.0f}" if is_whole else quantity(side.value, side.dimension)
    return marked_value(told, side.value, side.known)


def _quantity(value: float, result: ClaimResult) -> str:
    return quantity(value, result.dimension, share=_is_written_in_percent(result))


def _is_written_in_percent(result: ClaimResult) -> bool:
    """True for `~ 70 % within …` and for a measured column `in % -> …`."""
    if result.kind == "observation":
        return result.text.partition("->")[0].rstrip().endswith("%")
    if result.kind == "simulated":
        return True  # of what has no unit loads and losses alone are simulated
    return "%" in result.text.partition("~")[2].partition("within")[0]
