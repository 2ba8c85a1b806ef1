"""What changes between two specs are called, and what each of them moves the capacity by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import floor

from qps.reports.text.layout.table import Table
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import (
    joined_words,
)
from qps.solver.what_if.assumption_changes import AssumptionChange, AssumptionChangeKind


def changes_table(changes: Sequence[AssumptionChange], *, values: bool = True) -> Table:
    """Return what each change moves the answer by, with its `values` before and after."""
    shares_users = is_shared(changes)
    rows = tuple(
        (
            change_name(change),
            *((change.before, change.after) if values else ()),
            *_effects(change, changes, [effect] if shares_users else []),
        )
        for change, effect in zip(changes, effects_of(changes), strict=True)
    )
    names = ("Change", "Before", "After") if values else ("Attribution",)
    ways = (phrase("diff.in_isolation"), "Cumulative", *(("Attributed",) if shares_users else ()))
    return Table((*names, *ways), rows, frozenset(range(len(names), len(names) + len(ways))))


def _effects(
    change: AssumptionChange, changes: Sequence[AssumptionChange], attributed: Sequence[int | None]
) -> tuple[str, ...]:
    """Return what a change moves the answer by."""
    effects = (change.alone, change.step, *attributed)
    if not change.kind.moves:
        return (no_separate_effect(change, changes), *[""] * (len(effects) - 1))
    return tuple(map(_signed, effects))


def no_separate_effect(change: AssumptionChange, changes: Sequence[AssumptionChange]) -> str:
    """Return where a change has its effect that cannot be made alone."""
    if change.kind is AssumptionChangeKind.SPREAD:
        return phrase("diff.uncertainty_only")
    is_structural = any(one.kind is AssumptionChangeKind.FORMULAS for one in changes)
    return phrase("diff.other_changes") if is_structural else phrase("diff.no_effect")


def moving(changes: Sequence[AssumptionChange]) -> list[AssumptionChange]:
    """Return the changes that can be made alone: how arrivals wait is part of the formulas.

    How far off a number may be moves no answer.
    """
    return [change for change in changes if change.kind.moves]


def effects_of(changes: Sequence[AssumptionChange]) -> list[int | None]:
    """Return what each change moves the answer by in whole users, which add up to the whole.

    Shares are rounded down, and what that leaves goes to those that lost most of it. Where an
    answer that they need does not exist, each has what it moves in the order of the changes.
    """
    moved = moving(changes)
    if not is_shared(changes):
        return [change.step if change.kind.moves else None for change in changes]
    shares = [change.share or 0.0 for change in moved]
    whole = [floor(share) for share in shares]
    left = round(sum(shares)) - sum(whole)
    # Of equal remainders the earlier change has more; what is one number but for roundings is.
    order = sorted(range(len(moved)), key=lambda n: round(whole[n] - shares[n], _ROUNDING))
    for place in order[:left]:
        whole[place] += 1
    effects = iter(whole)
    return [next(effects) if change.kind.moves else None for change in changes]


_ROUNDING = 6


def is_shared(changes: Sequence[AssumptionChange]) -> bool:
    """Return whether shares are known: they need an answer for many changes made together."""
    moved = moving(changes)
    return bool(moved) and all(one.share is not None for one in moved)


def change_name(change: AssumptionChange) -> str:
    """Return what a change is called."""
    if change.kind is AssumptionChangeKind.FORMULAS:
        return _OTHERS
    name = _TARGET.sub(r"\1 target", change.name)
    if not change.modes:
        return name
    return phrase(
        "diff.name_in_modes",
        name=name,
        s="s" * (len(change.modes) > 1),
        names=joined_words(change.modes),
    )


_TARGET = re.compile(r"target of (.+)")

_OTHERS = phrase("diff.other_model_changes")
"""Steps, streams, machines, requirements: what is no number, option or range."""


def _signed(users: int | None) -> str:
    if users is None:
        return "?"
    return f"{users:+,}" if users else "0"


def is_divided(changes: Sequence[AssumptionChange]) -> bool:
    """Return whether several changes move the answer, so that each has its share of it."""
    effects = [{one.alone, one.step} for one in moving(changes)]
    return sum(bool(each - {0}) for each in effects) > 1


def values_moved(before: str, after: str) -> str:
    """Return two values of a change, a unit that both have once.

    >>> values_moved("0.1 request/s", "0.09 request/s"), values_moved("1 Gbit/s", "500 Mbit/s")
    ('0.1 -> 0.09 request/s', '1 Gbit/s -> 500 Mbit/s')
    """
    was, is_now = _VALUE.fullmatch(before), _VALUE.fullmatch(after)
    if was is not None and is_now is not None and was[2] == is_now[2]:
        return f"{was[1]} -> {after}"
    return " -> ".join(filter(None, (before, after)))


_VALUE = re.compile(r"([\d_.,]+)( [^\d+-][^+-]*|)")
