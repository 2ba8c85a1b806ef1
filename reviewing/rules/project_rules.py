"""What a project file lets pass, before and after: failures, warnings, levels of rules."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path

from qps.compiler.project.exceptions import AllowedWarning
from qps.compiler.project.project_file import Acceptance, Project
from qps.compiler.project.review_rules import LEVELS, RULES
from qps.reviewing.rules.weakening import Weakening

Named = Callable[[Path], Sequence[Path]]
"""What a file of the old version may be called in the new one: as it was, or renamed."""


def project_weakenings(
    old: Project | None, new: Project | None, named: Named
) -> Iterator[Weakening]:
    """Yield what the project file that counts for some specs lets pass now; None where none does.

    Without a file nothing is accepted or allowed, and each rule has its usual level.
    """
    yield from _accepted(old, new, named)
    yield from _allowed(old, new, named)
    yield from _settings(old, new)


def _accepted(old: Project | None, new: Project | None, named: Named) -> Iterator[Weakening]:
    if new is None:
        return
    before: dict[Hashable, Acceptance] = {}
    for one in () if old is None else old.accepted:
        for file in named(one.file):
            known = before.get((file, *_what(one)))
            if known is None or known.until < one.until:
                before[file, *_what(one)] = one
    for one in new.accepted:
        was = before.get((one.file, *_what(one)))
        if was is not None and was.until >= one.until:
            continue
        until = f"until {one.until}" if was is None else f"until {was.until} -> {one.until}"
        yield Weakening(
            rule="accepted-added",
            message=f"{_named(one)} {until}: {one.reason}",
            span=one.span,
        )


def _what(one: Acceptance) -> tuple[str, int | None, str | None]:
    return one.claim, one.capacity, one.rule


def _named(one: Acceptance) -> str:
    if one.capacity is not None:
        return f"the capacity of {one.file.name} may fall to {one.capacity:,}"
    claim = f"`{one.claim}` in {one.file.name}" if one.claim else one.file.name
    return f"{claim} may fail" if one.rule is None else f"`{one.rule}` of {claim} is accepted"


def _allowed(old: Project | None, new: Project | None, named: Named) -> Iterator[Weakening]:
    if new is None:
        return
    entries = () if old is None else old.allowed
    before = {(one.code.id, file, one.text) for one in entries for file in named(one.file)}
    for one in new.allowed:
        whole = (one.code.id, one.file, "")
        if (one.code.id, one.file, one.text) not in before and whole not in before:
            yield Weakening(
                rule="warning-allowed",
                message=f"{one.code.id} is allowed in {one.file.name}: {one.reason}",
                span=one.span,
            )


def _settings(old: Project | None, new: Project | None) -> Iterator[Weakening]:
    if old is None:
        yield from _relaxed(old, new)
        return
    if old.warnings_are_errors and not (new is not None and new.warnings_are_errors):
        span = old.place("warnings-are-errors") if new is None else new.place("warnings-are-errors")
        yield Weakening(
            rule="warnings-not-errors",
            message="warnings are no longer treated as errors",
            span=span,
            is_before=new is None,
        )
    yield from _relaxed(old, new)


def _relaxed(old: Project | None, new: Project | None) -> Iterator[Weakening]:
    for rule in RULES:
        was, is_now = (
            rule.level.value if one is None else one.level(rule.name) for one in (old, new)
        )
        if LEVELS.index(is_now) <= LEVELS.index(was):
            continue
        one = old if new is None else new
        assert one is not None
        yield Weakening(
            rule="rule-relaxed",
            message=f"`{rule.name}`: {was} -> {is_now}",
            span=one.place("review", rule.name),
            is_before=new is None,
        )


def comment_weakenings(
    old: tuple[AllowedWarning, ...], new: tuple[AllowedWarning, ...]
) -> Iterator[Weakening]:
    """Yield the comments of a text that newly switch a warning off."""
    left = [(one.code.id, one.line_text) for one in old]
    added = []
    for one in new:
        key = (one.code.id, one.line_text)
        if key in left:
            left.remove(key)
        else:
            added.append(one)
    often = [code for code, _ in left]
    for one in added:
        if one.code.id in often:  # the line that it is about was changed
            often.remove(one.code.id)
            continue
        yield Weakening(
            rule="warning-allowed",
            message=f"a comment allows {one.code.id}: {one.reason}",
            span=one.span,
        )
