"""Verdicts on claims in words, and why: calibrated, known to be missed, accepted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.solver.claims.claim_results import ClaimResult, ClaimVerdict

MARKS = {
    ClaimVerdict.HOLDS: "pass",
    ClaimVerdict.FAILS: "FAIL",
    ClaimVerdict.MISSED: "MISS",
    ClaimVerdict.STALE: "FAIL",
    ClaimVerdict.ACCEPTED: "accepted",
    ClaimVerdict.SHOWN: "shown",
    ClaimVerdict.NOT_SIMULATED: "-",
    ClaimVerdict.UNCLAIMED: "-",
}
"""The word before a claim; `mark` says of one that passes whether anything was calibrated."""
STALE = phrase("claims.stale")


def mark(result: ClaimResult) -> str:
    """Return the verdict before a claim; of one that passes, whether anything was calibrated."""
    if result.verdict is not ClaimVerdict.HOLDS or result.fitted is None:
        return MARKS[result.verdict]
    return phrase("claims.calibration_target") if result.is_fitted_to_it else "calibrated"


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


_KINDS_OF_GROUNDS = ("Calibrated", "Missed", phrase("claims.no_claim"), "Undecided", "Accepted")


def _reasons(result: ClaimResult) -> Iterator[tuple[str, str]]:
    """Yield why a claim has its verdict, each with its kind."""
    if result.fitted is not None:
        yield "Calibrated", result.fitted
    if result.missed is not None:
        yield "Missed", why_missed(result)
    if result.verdict is ClaimVerdict.UNCLAIMED:
        yield phrase("claims.no_claim"), result.note or ""
    if result.simulated is not None and result.simulated.why is not None:
        yield "Undecided", result.simulated.why
    if result.excepted is not None:
        yield "Accepted", result.excepted


def why_missed(result: ClaimResult) -> str:
    """Return why a claim is known to be missed, empty where it is not."""
    return STALE if result.verdict is ClaimVerdict.STALE else result.missed or ""


def _listed(names: Sequence[str]) -> str:
    """Return the claims that share a reason; those of one block have its name."""
    return ", ".join(dict.fromkeys(name.partition("[")[0] for name in names))
