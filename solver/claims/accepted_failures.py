"""What a project accepts until a day: it is shown, and makes nothing fail until then.

A claim that fails, or a capacity that decreases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Diagnostic, Sink
from qps.compiler.project.exceptions import with_project_severity
from qps.compiler.project.project_file import Acceptance, Project
from qps.solver.claims.claim_results import ClaimResult


def _today() -> date:
    return date.today()  # noqa: DTZ011 - of where this runs


class Accepted(Struct, frozen=True):
    """What may fail of a spec, by the entries of its project file, as of a day."""

    entries: tuple[Acceptance, ...] = ()
    today: date = field(default_factory=_today)

    def with_acceptance(self, result: ClaimResult) -> ClaimResult:
        """Return a claim of the spec, with what its project says of it where it fails."""
        if not result.fails or result.holds:
            return result
        ends = list(self._ends(result))
        lasting = [text for text, is_over in ends if not is_over]
        if lasting:
            return replace(result, accepted=lasting[0])
        return replace(result, expired=ends[0][0]) if ends else result

    def unused(
        self, results: Sequence[ClaimResult], project: Project | None
    ) -> tuple[Diagnostic, ...]:
        """Return which entries let nothing fail: their claims hold, or are gone.

        `results` are all claims of the spec that have an answer; its `project` says how grave that
        is.
        """
        sink = Sink()
        for entry in self.entries:
            if entry.capacity is not None:
                continue  # only a comparison with what was before knows of decreases
            named = [result for result in results if _is_of(entry, result)]
            if any(result.fails or result.accepted for result in named):
                continue
            what = "holds" if named else "is not a claim of this spec with a result"
            sink.report(
                codes.UNUSED_EXCEPTION,
                entry.span,
                f"`{entry.claim}` may fail until {entry.until}, and {what}",
                hint="remove this entry" if named else "run `qps test` for the names of claims",
            )
        return with_project_severity(sink.found, project)

    def decrease(self, capacity: int) -> tuple[str | None, str | None]:
        """Return how a decrease to a capacity is accepted, and how it was until a day now over."""
        found = [
            self._end(one)
            for one in self.entries
            if one.capacity is not None and capacity >= one.capacity
        ]
        ends = ([text for text, is_over in found if is_over is wanted] for wanted in (False, True))
        lasting, over = (next(iter(texts), None) for texts in ends)
        return lasting, None if lasting else over

    def _ends(self, result: ClaimResult) -> Iterator[tuple[str, bool]]:
        """Yield what entries say of a claim, and whether their day is over."""
        for entry in self.entries:
            if _is_of(entry, result):
                yield self._end(entry)

    def _end(self, entry: Acceptance) -> tuple[str, bool]:
        """Return what an entry says, and whether its day is over."""
        is_over = self.today > entry.until
        word = "was accepted" if is_over else "accepted"
        return f"{word} until {entry.until} ({entry.span.place}): {entry.reason}", is_over


def _is_of(entry: Acceptance, result: ClaimResult) -> bool:
    """Return whether an entry is about a claim: about it alone, or about all of its block."""
    return entry.capacity is None and entry.claim in (result.name, result.name.partition("[")[0])
