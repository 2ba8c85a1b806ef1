"""What an update of a spec found, as text: old, new and interval of each number that drifted."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff

from qps.compiler.diagnostics.suggest import shortened
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.systems.spec_numbers import duration, percent, plain
from qps.reports.text.systems.updates.evidence import NumberEstimate
from qps.reports.text.systems.updates.number_drift import FALSE_ALARMS, NumberDrift
from qps.reports.text.systems.updates.spec_update import SpecUpdate
from qps.reports.text.words.phrases import phrase

_MOST = 40
_CHANGED = 1e-9


def update_text(found: SpecUpdate, spec: str, *, is_written: bool, width: int = COLUMNS) -> str:
    """Return which numbers have drifted, which stay, and what the spec lacks or has too much."""
    layout = TextLayout(
        title=_verdict(found),
        place=spec,
        facts=(),
        tables=(_table(found),),
        warnings=tuple(_warnings(found)),
        notes=tuple(_notes(found, spec, is_written=is_written)),
    )
    return layout.printed(markdown=False, width=width)


def line_changes(before: str, after: str, spec: str) -> str:
    """Return the lines that change, as `diff -u` prints them."""
    old, new = (one.splitlines(keepends=True) for one in (before, after))
    return "".join(unified_diff(old, new, spec, spec, n=0))


def _verdict(found: SpecUpdate) -> str:
    count, drifted = len(found.drifts), len(found.drifted)
    key = "update.drifted" if drifted else "update.none" if count else "update.nothing"
    return phrase(key, drifted=drifted, count=count, s="s" * (count != 1))


def _table(found: SpecUpdate) -> Table:
    headings = ("Number", "Line", "Spec", "Observed", "95 % interval", "Change")
    rows = tuple(_row(one) for one in found.drifted[:_MOST])
    return Table(headings, rows, right=frozenset([1, 2, 3, 5]), long=frozenset([0, 4]))


def _row(one: NumberDrift) -> tuple[str, ...]:
    interval = ""
    if one.interval is not None:
        least, most = (_shown(one.now, end, digits=3).partition(" ") for end in one.interval)
        start = least[0] if least[2] == most[2] else "".join(least)  # a unit that is the same, once
        interval = f"{start} to {''.join(most)}"
    return (
        phrase(f"update.kind.{one.kind.replace(' ', '_')}", name=one.name),
        str(one.line),
        _shown(one.before, one.before.value),
        _shown(one.now, one.now.value),
        interval,
        _change(one),
    )


def _change(one: NumberDrift) -> str:
    before, now = one.before.value, one.now.value
    if before <= _CHANGED:
        return ""
    share = percent(abs(now / before - 1), 2)
    return f"{'+' if now > before else '-'}{share}"


def _shown(estimate: NumberEstimate, value: float, digits: int = 4) -> str:
    unit, _, per = estimate.unit.partition("/")
    if unit == "s":
        return f"{duration(float(f'{value:.{digits}g}'))}{f'/{per}' if per else ''}"
    return f"{plain(value, digits)} {estimate.unit}".strip()


def _warnings(found: SpecUpdate) -> Iterator[str]:
    if found.missing:
        yield phrase("update.missing", names=_names(found.missing))
    if found.gone:
        yield phrase("update.gone", names=_names(found.gone))


def _names(names: tuple[str, ...]) -> str:
    return ", ".join(names[:_MOST]) + ", …" * (len(names) > _MOST)


def _notes(found: SpecUpdate, spec: str, *, is_written: bool) -> Iterator[str]:
    more = len(found.drifted) - _MOST
    if more > 0:
        yield phrase("update.more", more=more)
    for one in found.own[:_MOST]:
        yield phrase(
            "update.own",
            name=one.name,
            line=one.line,
            text=shortened(one.text),
            observed=shortened(one.observed),
        )
    if found.assumed:
        yield phrase("update.assumed", names=", ".join(found.assumed))
    if found.named:
        yield phrase("update.named", names=", ".join(found.named))
    if found.drifts:
        yield phrase("update.test", chance=percent(FALSE_ALARMS))
    if found.is_changed:
        yield phrase("update.written" if is_written else "update.not_written", spec=spec)
