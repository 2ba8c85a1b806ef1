"""What `qps ci` found: a verdict, and a row of an overview for each spec, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.project.review_rules import BY_NAME, Level
from qps.reports.text.changes.answer_pair import is_clear, moved_by
from qps.reports.text.layout.table import Table
from qps.reports.text.words.certainty_marks import marked
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import percent
from qps.reviewing.comparison_base import Base
from qps.reviewing.findings import ANSWER, CAPACITY, CLAIM, COST, LAYOUT, UNCERTAIN, Finding
from qps.reviewing.spec_answers import SpecAnswer
from qps.reviewing.spec_changes import ChangeState, SpecChange
from qps.reviewing.thresholds import Threshold, ThresholdQuantity
from qps.solver.claims.accepted_failures import Accepted

MOST_ROWS = 50
"""Rows of an overview: those that follow are counted."""
_LONGEST_NAME, _LONGEST_BOTTLENECK = 40, 28
NONE = "\N{EN DASH}"


class Review(Struct, frozen=True, kw_only=True):
    """What was found in the specs that a change touches, and what became of these since the base.

    `specs` and `touched` count specs: modules, which answer nothing, are none. Where it was
    requested, or there is no base, `checks_all` of them, changed or not.
    """

    base: Base
    specs: int
    touched: int
    findings: tuple[Finding, ...]
    changes: tuple[SpecChange, ...]
    checks_all: bool = False

    @property
    def errors(self) -> list[Finding]:
        """What makes the check fail."""
        return [one for one in self.findings if one.level is Level.ERROR]

    @property
    def has_news(self) -> bool:
        """True where a comment is worth writing: something is touched, gone or found."""
        return bool(self.touched or self.changes or self.findings)

    @property
    def weaker(self) -> list[Finding]:
        """What became weaker, by the rules of a review."""
        return [one for one in self.findings if one.code in BY_NAME]

    @property
    def passes(self) -> bool:
        """Return whether nothing fails, and there was something to compare with."""
        return not self.errors and (self.base.commit is not None or self.base.is_none_needed)

    @property
    def title(self) -> str:
        """The verdict: what fails, else what moved."""
        parts = [f"{count:,} {one if count == 1 else many}" for count, one, many in self._counts()]
        if not self.touched and not parts:
            return phrase("review.no_spec")
        if not parts:
            claims = any(one.counts.count for one in self.changes)
            parts = [phrase("review.no_change"), *([phrase("review.all_claims")] if claims else [])]
        return ", ".join(parts)

    @property
    def scope(self) -> str:
        """How many specs changed, or were checked all the same."""
        gone = sum(one.state is ChangeState.GONE for one in self.changes)
        word = "checked" if self.checks_all else "changed"
        changed = f"{self.touched:,} of {self.specs:,} {_specs(self.specs)} {word}"
        return f"{changed}, {gone:,} removed" if gone else changed

    @property
    def summary(self) -> str:
        """What was found, in a line: "1 of 3 specs changed: 1 claim fails"."""
        return f"{self.scope}: {self.title}" if self.touched or self.errors else self.scope

    def _counts(self) -> Iterator[tuple[int, str, str]]:
        errors = [one.code for one in self.errors if one.code not in BY_NAME]
        known = (CLAIM, LAYOUT, CAPACITY, COST)
        warnings = [one for one in self.findings if one.level is Level.WARNING]
        down, up = (sum(sign * one.users > 0 for one in self.changes) for sign in (-1, 1))
        accepted = sum(one.accepted is not None for one in self.findings)
        found = [
            (errors.count(CLAIM), phrase("review.claim_fails"), phrase("review.claims_fail")),
            (sum(code not in known for code in errors), "error", "errors"),
            (
                errors.count(CAPACITY),
                phrase("review.too_large_decrease"),
                phrase("review.too_large_decreases"),
            ),
            (
                errors.count(COST),
                phrase("review.too_large_increase"),
                phrase("review.too_large_increases"),
            ),
            (len(self.weaker), phrase("review.check_weaker"), phrase("review.checks_weaker")),
            (
                errors.count(LAYOUT),
                phrase("review.not_formatted"),
                phrase("review.several_not_formatted"),
            ),
            (down - errors.count(CAPACITY), phrase("review.decrease"), phrase("review.decreases")),
            (up, phrase("review.increase"), phrase("review.increases")),
            (sum(one.code not in BY_NAME for one in warnings), "warning", "warnings"),
            (accepted, phrase("term.accepted_failure"), phrase("review.accepted_failures")),
        ]
        yield from (one for one in found if one[0])

    @property
    def compared(self) -> list[SpecChange]:
        """Return the specs that changed, the worst first; modules have no answer."""
        failing = {one.file for one in self.errors}

        def rank(one: SpecChange) -> tuple[int, float, str]:
            if one.file in failing or one.counts.failed or one.state is ChangeState.FAULT:
                first = 0
            else:
                first = _RANKS.get(one.state, 1)
            old = (one.before.capacity if one.before else None) or 0
            return first, one.users / old if old else one.users, one.file

        shown = [one for one in self.changes if one.state is not ChangeState.MODULE]
        return sorted(shown, key=rank)

    def overview(self, marks: Mapping[bool, str], arrow: str) -> Table:
        """Return the table of specs; `marks` stand before what passes and what fails.

        An `arrow` stands between what was before and what is now.
        """
        moves = [one for one in self.findings if one.code in (CAPACITY, COST, ANSWER)]
        broken = {one.file for one in moves if one.level is Level.ERROR}
        accepted = {one.file for one in moves if one.accepted is not None}
        rows = []
        for one in self.compared[:MOST_ROWS]:
            mark = f"{marks[False]} " if one.file in broken else ""
            moved = f"{mark}{_moved(one)}{', accepted' if one.file in accepted else ''}"
            ends = (_bottleneck(one), _claims(one, marks))
            rows.append((_ending(one.file), _capacities(one, arrow), moved, *ends))
        headings = ("Spec", "Capacity", "Change", "Bottleneck", "Claims")
        return Table(headings, tuple(rows), frozenset([1, 2]), long=frozenset(range(5)))

    @property
    def has_intervals(self) -> bool:
        """Return whether the overview has intervals, which are to be explained."""
        answers = (answer for one in self.changes for answer in (one.before, one.after))
        return any(one is not None and one.interval is not None for one in answers)

    @property
    def left_out(self) -> str:
        """How many specs do not stand in the overview, empty where all do."""
        rest = self.compared[MOST_ROWS:]
        same = sum(one.state is ChangeState.SAME for one in rest)
        unchanged = phrase("review.unchanged_left_out", same=same) if same else ""
        return f"{len(rest):,} more {_specs(len(rest))}{unchanged}" if rest else ""


_RANKS = {
    ChangeState.UNKNOWN: 1,
    ChangeState.MOVED: 2,
    ChangeState.GONE: 3,
    ChangeState.NEW: 4,
    ChangeState.SAME: 5,
}


def _specs(count: int) -> str:
    return "spec" if count == 1 else "specs"


def _capacities(one: SpecChange, arrow: str) -> str:
    """Return the capacity before and after, once where it is the same."""
    before, after = (_capacity(answer) for answer in (one.before, one.after))
    if before == after or (one.state is ChangeState.NEW and not one.before):
        return after
    return f"{before} {arrow} {after}"


def _capacity(answer: SpecAnswer | None) -> str:
    if answer is None:
        return NONE
    text = marked(f"{answer.capacity or 0:,}", answer.known)
    if answer.interval is None:
        return text
    ends = (answer.interval.least or 0, answer.interval.most or 0)
    return f"{text} ({ends[0]:,}{NONE}{ends[1]:,})"


def _moved(one: SpecChange) -> str:
    """Return by how much the capacity moved, or what became of the spec."""
    words = {
        ChangeState.NEW: "new",
        ChangeState.GONE: "removed",
        ChangeState.UNKNOWN: phrase("term.not_compared"),
    }
    if one.state in words:
        return words[one.state]
    if one.state is ChangeState.FAULT or one.before is None or one.after is None:
        return phrase("term.not_compared")
    text = moved_by(one.before.capacity or 0, one.after.capacity or 0)
    uncertainty = None if one.view is None else one.view.uncertainty
    if one.view is not None and one.view.within_error:
        return phrase("review.within_model", text=text)
    is_doubtful = uncertainty is not None and one.users and not is_clear(uncertainty)
    if is_doubtful:
        return phrase("review.within_uncertainty", text=text)
    return "0" if text == "+0" else text


def _bottleneck(one: SpecChange) -> str:
    if one.after is None:
        return NONE
    was = one.before.bottleneck if one.before else one.after.bottleneck
    now = one.after.bottleneck or phrase("review.none_range")
    text = _beginning(now)
    return text if was == one.after.bottleneck else f"{text} (was {_beginning(was or 'none')})"


def _claims(one: SpecChange, marks: Mapping[bool, str]) -> str:
    counts = one.counts
    if not counts.count:
        return NONE
    accepted = f", {counts.accepted:,} accepted" if counts.accepted else ""
    if counts.failed:
        return phrase(
            "review.claims_pass",
            marks=marks[False],
            passed=counts.passed,
            count=counts.count,
            accepted=accepted,
        )
    uncertain = f", {len(one.uncertain):,} uncertain" if one.uncertain else ""
    return phrase(
        "review.claims_pass_uncertain",
        marks=marks[True],
        passed=counts.passed,
        count=counts.count,
        accepted=accepted,
        uncertain=uncertain,
    ).strip()


def _ending(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else "…" + text[1 - _LONGEST_NAME :]


def _beginning(text: str) -> str:
    longest = _LONGEST_BOTTLENECK
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"


# -- what thresholds say -------------------------------------------------------------------


def capacity_findings(
    changes: Sequence[SpecChange],
    thresholds: Sequence[Threshold],
    accepted: Mapping[str, Accepted],
) -> Iterator[Finding]:
    """Yield how capacities move, and which thresholds that exceeds, unless it is accepted.

    `accepted` holds by files what their project accepts.
    """
    for one in changes:
        if one.before is None or one.after is None or one.view is None:
            continue
        unmoved = one.view.within_error
        exceeded = {
            each.quantity: text
            for each in thresholds
            if (text := each.exceeded_by(one.before, one.after, within_error=unmoved)) is not None
        }
        lasting, over = None, None
        if one.users < 0:
            entries = accepted.get(one.file, Accepted())
            lasting, over = entries.decrease(one.after.capacity or 0)
        if ThresholdQuantity.COST in exceeded:
            yield _error(one.file, COST, "cost", exceeded[ThresholdQuantity.COST])
        if ThresholdQuantity.CAPACITY in exceeded:
            found = _error(one.file, CAPACITY, "capacity", exceeded[ThresholdQuantity.CAPACITY])
            if lasting is not None:
                found = replace(found, level=Level.NOTE, accepted=lasting)
            elif over is not None:
                found = replace(found, message=f"{found.message}\n{over}")
            yield found
        elif one.users:
            yield Finding(
                level=Level.NOTE,
                code=ANSWER,
                title="capacity",
                message=one.view.in_words,
                file=one.file,
                accepted=lasting,
            )
        yield from _uncertain(one)


def _uncertain(one: SpecChange) -> Iterator[Finding]:
    """Yield the claims that the capacity passes, and its interval no longer does."""
    assert one.after is not None
    interval = one.after.interval
    for claim in one.uncertain:
        assert interval is not None
        yield Finding(
            level=Level.WARNING,
            code=UNCERTAIN,
            title=claim.name,
            message=(
                phrase(
                    "review.claim_uncertain",
                    sure=percent(interval.probability),
                    low=interval.least or 0,
                    high=interval.most or 0,
                    least=claim.least,
                    name=claim.name,
                    nominal=one.after.nominal_capacity or 0,
                )
            ),
            file=one.file,
            line=claim.line,
            end_line=claim.line,
        )


def _error(file: str, code: str, title: str, message: str) -> Finding:
    return Finding(level=Level.ERROR, code=code, title=title, message=message, file=file)
