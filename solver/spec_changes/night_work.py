"""Work at other hours: what nobody waits for is done when the load of the others is lowest.

That is a stream that is one in all, of which no requirement says how long it takes, and whose
traffic does not follow a profile of others. As much is done in a day as before.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.clock_times import DAY, clock
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import replacement
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit
from qps.solver.spec_changes.statement_edits import line_behind

_MOST_LEVELS = 2
"""Levels of the load of the others up to which hours are tried, the lowest ones."""


def night_work(limited: Limited) -> Iterator[SpecEdit]:
    """Yield streams that may run at other hours of the day, where these have room."""
    full = limited.full
    profiles = {one.name: one for one in limited.model.profiles if one.cycle == DAY}
    if full is None or not profiles or len(profiles) < len(limited.model.profiles):
        return
    sharing = [one for one in limited.model.streams if one.name in limited.sharing(full)]
    for stream in sharing:
        own = _profiles_of(stream) & profiles.keys()
        others = [
            name
            for other in sharing
            if other is not stream
            for name in sorted(_profiles_of(other) & profiles.keys())
        ]
        if not others or own & set(others) or len(own) > 1 or not _may_wait(limited, stream):
            continue
        mean = Fraction(1)
        for name in own:
            mean = sum((one.value * _length(one) for one in profiles[name].periods), Fraction(0))
            mean /= DAY
        for start, end in _hours(profiles[others[0]]):
            change = _at_hours(limited, stream.name, own, others[0], mean, (start, end))
            if change is not None:
                yield change


def _profiles_of(stream: ir.Stream) -> set[str]:
    values = stream.emission.values[:1]
    parts = (part for value in values for part in parts_of(value.expr))
    return {part.name for part in parts if isinstance(part, ir.ParameterValue)}


def _may_wait(limited: Limited, stream: ir.Stream) -> bool:
    return (
        stream.flows_from is ir.Whose.ALL
        and not stream.is_closed
        and not limited.has_requirement(stream.name)
    )


def _hours(profile: ir.Profile) -> Iterator[tuple[int, int]]:
    """Yield the longest times of a day with at most a value, for the lowest values."""
    values = sorted({one.value for one in profile.periods})[:-1]
    for most in values[:_MOST_LEVELS]:
        yield max(_runs(profile, most), key=lambda run: (run[1] - run[0], -run[0]))


def _runs(profile: ir.Profile, most: Fraction) -> Iterator[tuple[int, int]]:
    """Yield the times with at most a value; one that goes on the next day ends beyond the day."""
    runs: list[tuple[int, int]] = []
    for one in profile.periods:
        if one.value > most:
            continue
        if runs and runs[-1][1] == one.start:
            runs[-1] = (runs[-1][0], one.end)
        else:
            runs.append((one.start, one.end))
    if len(runs) > 1 and runs[0][0] == 0 and runs[-1][1] == DAY:
        runs[-1] = (runs[-1][0], DAY + runs.pop(0)[1])
    yield from runs


def _length(period: ir.ProfilePeriod) -> int:
    return period.end - period.start


def _at_hours(
    limited: Limited,
    name: str,
    own: set[str],
    of: str,
    mean: Fraction,
    hours: tuple[int, int],
) -> SpecEdit | None:
    """Return the change that lets a stream have all its traffic of a day at some hours."""
    syntax, stream = limited.spec.program.main.syntax, limited.written_stream(name)
    made, (start, end) = f"{name}_hours", hours
    profile = next(
        (one for one in syntax.declarations if isinstance(one, ast.Shared) and one.name.text == of),
        None,
    )
    if stream is None or profile is None or made in limited.spec.program.main.names:
        return None
    emission = next((one for one in stream.items if isinstance(one, ast.Emission)), None)
    if emission is None:
        return None
    rate = emission.values[0].span
    text = rate.text if re.fullmatch(r"[^+-]+", rate.text) else f"({rate.text})"
    changed = f"{text} * {made}"
    for one in own:
        changed, many = re.subn(rf"\b{re.escape(one)}\b", made, rate.text)
        if many != 1:
            return None
    value = mean * DAY / (end - start)
    amount = f"{value.numerator}" if value.denominator == 1 else f"{value}"
    first, last = clock(start), "24:00" if end == DAY else clock(end)
    declared = f"profile {made} over day {{ {first}..{last} = {amount}; else = 0 }}"
    return SpecEdit(
        method=RewriteMethod.OTHER_HOURS,
        kind=ChangeKind.SCHEDULING,
        name=name,
        parts=(name, first, last),
        edits=(line_behind(profile.span, declared), replacement(rate, changed)),
    )
