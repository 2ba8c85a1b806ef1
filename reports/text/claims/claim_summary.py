"""How many claims pass and on what grounds, and how many do not: of all, or by folder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from qps.compiler import ir
from qps.reports.text.claims.claim_quantities import relative_error
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict


class Tally(Struct, frozen=True, kw_only=True):
    """How many claims hold, by what they rest on, and how many do not.

    Of what documents state, `unfitted` rest on nothing that was fitted, `on_other_fits` on numbers
    that were fitted to others, `fitted_to_it` on what was fitted to the very number, which says
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
    not_simulated: int
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
    holding = [result for result in results if result.verdict is ClaimVerdict.HOLDS]
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
        shown=verdicts.count(ClaimVerdict.SHOWN),
        missed=verdicts.count(ClaimVerdict.MISSED),
        unclaimed=verdicts.count(ClaimVerdict.UNCLAIMED),
        accepted=verdicts.count(ClaimVerdict.ACCEPTED),
        not_simulated=verdicts.count(ClaimVerdict.NOT_SIMULATED),
        failed=sum(result.fails for result in results),
        has_published=any(r.is_published and r.holds is not None for r in results),
    )


class UntestedCounts(Struct, frozen=True):
    """How many specs could not be read, and how many claims of the others have no answer."""

    specs: int = 0
    claims: int = 0

    @property
    def parts(self) -> list[str]:
        """What a summary says of them, nothing where there are none."""
        specs = phrase(
            "claims.with_errors", count=self.specs, which="spec" if self.specs == 1 else "specs"
        )
        claims = phrase(
            "claims.without_result",
            count=self.claims,
            which="claim" if self.claims == 1 else "claims",
        )
        return [specs] * bool(self.specs) + [claims] * bool(self.claims)


NOTHING_UNTESTED = UntestedCounts()


def summary(results: Sequence[ClaimResult], untested: UntestedCounts = NOTHING_UNTESTED) -> str:
    """Return in one line what became of claims; nothing counts for two."""
    found = tally(results)
    parts = _passed(found)
    if found.missed:
        errors = _errors(results, ClaimVerdict.MISSED)
        misses = phrase("claims.known_miss") if found.missed == 1 else phrase("claims.known_misses")
        parts.append(f"{found.missed:,} {misses}{errors and f' ({errors})'}")
    if found.unclaimed:
        parts.append(
            phrase(
                "claims.without_claim",
                counted=_counted(found.unclaimed, phrase("claims.published_value")),
            )
        )
    if found.accepted:
        parts.append(f"{_counted(found.accepted, phrase('term.accepted_failure'))}")
    if found.shown:
        errors = _errors(results, ClaimVerdict.SHOWN)
        parts.append(
            phrase("claims.comparison", shown=f"{found.shown:,}", part=errors and f" ({errors})")
        )
    if found.not_simulated:
        parts.append(phrase("claims.count_not_simulated", count=found.not_simulated))
    return ", ".join([*parts, f"{found.failed:,} failed", *untested.parts])


def _passed(found: Tally) -> list[str]:
    """Return how many claims passed, by what they are evidence of where that differs.

    Calibration targets are no evidence, and count by themselves.
    """
    checks = {
        phrase("claims.arithmetic_check"): found.arithmetic,
        phrase("claims.other_check"): found.own,
    }
    counts = [_counted(count, kind) for kind, count in checks.items() if count]
    if found.has_published:
        without = phrase("claims.without_calibration") * bool(
            found.on_other_fits + found.fitted_to_it
        )
        after = f"{found.on_other_fits:,} {phrase('claims.calibrated')}"
        published = [f"{_counted(found.unfitted, phrase('claims.published_value'))}{without}"]
        counts = [*published, *[after] * bool(found.on_other_fits), *counts]
    parts = []
    if counts:
        of = f" ({', '.join(counts)})" if len(counts) > 1 or found.arithmetic else ""
        parts.append(f"{found.holding - found.fitted_to_it:,} passed{of}")
    if found.fitted_to_it:
        targets = _counted(found.fitted_to_it, phrase("claims.calibration_target"))
        parts.append(phrase("claims.targets", targets=targets))
    return parts


class InFolder(Struct, frozen=True):
    """Verdicts on the claims in one folder."""

    folder: str
    summary: str


def in_folders(results: Sequence[ClaimResult]) -> tuple[InFolder, ...]:
    """Return what became of claims, folder by folder: those of one say nothing of another."""
    folders: dict[str, list[ClaimResult]] = {}
    for result in results:
        folders.setdefault(Path(result.spec).parent.as_posix(), []).append(result)
    return tuple(InFolder(one, summary(of)) for one, of in folders.items())


def summary_lines(results: Sequence[ClaimResult], untested: UntestedCounts) -> list[str]:
    """Return what became of claims: a line, or one for each of several folders and what fails."""
    folders = in_folders(results)
    if not folders[1:]:
        return [summary(results, untested)]
    failed = sum(result.fails for result in results)
    total = phrase("claims.some_failed", failed=failed, counted=_counted(len(results), "claim"))
    total = ", ".join([total, *untested.parts])
    return [*(f"{one.folder}: {one.summary}" for one in folders), total]


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' * (count != 1)}"


def _errors(results: Iterable[ClaimResult], verdict: ClaimVerdict) -> str:
    """Return how far predictions of a verdict are off, empty where nothing says so."""
    off = [r.relative_difference for r in results if r.verdict is verdict]
    known = [share for share in off if share is not None]
    if not known:
        return ""
    ends = dict.fromkeys(relative_error(end) for end in (min(known), max(known)))
    return f"error {' to '.join(ends)}"
