"""Whether a system is still what its spec says, as text, Markdown, annotations and plain values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics.render import printable
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.reports.text.claim_formats import workflow_command
from qps.reports.text.fit_text import cost_scale
from qps.reports.text.notebook import Shown, ShowsItself
from qps.reports.text.quantities import number, percent
from qps.reports.text.table import Table, joined
from qps.solver.claims.drift import CostDrift, Drift
from qps.solver.claims.drift_cuts import Since

_LEAST_CHANCE = 1e-6
_FINE = timedelta(hours=6)


def drift_text(found: Drift, spec: str, *, tolerance: float, markdown: bool = False) -> str:
    """Return the costs as stated and found, and what has moved."""
    stated = found.stated
    cores = number(float(stated.reading.processors or 1))
    head = (
        f"{printable(spec)} against {printable(found.file)}: `{stated.reading.resource}` of "
        f"`{stated.machine}`, {cores} core{'s' * (cores != '1')}; {found.rows:,} rows{_span(found)}"
    )
    indent = "" if markdown else "  "
    table = _table(found)
    parts = [f"### {head}" if markdown else head]
    parts.append(table.as_markdown() if markdown else table.as_text())
    parts += [f"{indent}{line}" for line in sentences(found, tolerance)]
    return joined(parts)


def sentences(found: Drift, tolerance: float) -> list[str]:
    """Return what has moved, by how much, since when, and how likely that is noise."""
    lines = [_verdict(found, tolerance)]
    moved = [cost for cost in found.costs if cost.has_moved]
    lines += [_moved(cost, found) for cost in moved]
    if found.has_moved and not moved:
        lines.append(_untold(found))
    if found.since is not None:
        lines.append(_since(found.since, found))
    elif found.has_moved:
        lines.append("The runs do not say since when: they have no column `time` or `day`.")
    if found.stated.loads is not None and found.is_elsewhere:
        ends = (
            f"{percent(low)} to {percent(high)}" for low, high in (found.loads, found.stated.loads)
        )
        lines.append(
            "warning: these runs are at loads of {}, the costs were measured at {}: an item costs "
            "less where work is done in batches".format(*ends)
        )
    return lines


def _verdict(found: Drift, tolerance: float) -> str:
    level = f"{percent(abs(found.higher), 2)} {'higher' if found.higher > 0 else 'lower'}"
    chance = _chance(found.by_chance)
    if found.has_moved:
        return (
            f"Drift: at the rates of these runs utilization is {level} than the spec predicts. "
            f"Without drift, noise alone does this in {chance} of tests.{_told_of(found)}"
        )
    would = f"a change of ±{percent(found.sees, 2)} would have been detected"
    if not found.is_sure:
        return f"No drift: noise alone does this in {chance} of tests; {would}."
    return (
        f"No drift: at the rates of these runs utilization is {level} than the spec predicts, "
        "within "
        f"the tolerance of {percent(tolerance)}; noise alone does this in {chance} of tests; "
        f"{would}."
    )


def _told_of(found: Drift) -> str:
    if found.begin is None:
        return ""
    return f" Tested: the {found.asked_rows:,} rows from {_moment(found.begin, found)} on."


def _moved(cost: CostDrift, found: Drift) -> str:
    factor, unit = cost_scale(cost.item, max(abs(cost.stated), abs(cost.found)))
    side = "more" if cost.difference > 0 else "less"
    what = "the fixed load uses" if cost.item is None else f"{_word(cost)} costs"
    return (
        f"{what[0].upper()}{what[1:]} {number(abs(cost.difference) * factor, 3)} {unit} {side} "
        f"than the spec says{_relative(cost)}: {percent(abs(cost.share), 2)} of utilization. Noise "
        f"alone does this in {_chance(cost.by_chance)} of tests. {_whose(found)}"
    ).rstrip()


def _whose(found: Drift) -> str:
    names = listed(found.stated.components, "and")
    return f"The spec's number is that of {names}."


def _relative(cost: CostDrift) -> str:
    return f" ({cost.relative:+.1%})".replace("%", " %") if isfinite(cost.relative) else ""


def _word(cost: CostDrift) -> str:
    return "a byte" if cost.item == INFORMATION_BASE else f"each {cost.item}"


def _untold(found: Drift) -> str:
    """Return which costs might have moved, where no single one is told for sure."""
    told = []
    by_item = {cost.item: cost for cost in found.costs}
    for item, moved in found.alone:
        cost = by_item[item]
        name = "the fixed load" if item is None else _word(cost)
        share = f" by {moved / cost.stated:+.1%}".replace("%", " %") if cost.stated else ""
        told.append(f"{name}{share}")
    if not told:
        return "Several costs changed together; these runs cannot separate them."
    if len(told) == 1:
        return f"One cost alone would explain it: {told[0]}. Others cannot be excluded."
    return (
        f"These runs cannot identify the cost: {' or '.join(told)} alone would explain it, the "
        "first one best. Runs whose rates vary independently would separate them."
    )


def _since(since: Since, found: Drift) -> str:
    times = (since.at, since.earliest, since.latest)
    at, earliest, latest = (_moment(one, found) for one in times)
    if since.may_be_before:
        return f"Since {latest} at the latest; it may have begun before these runs."
    return f"Since {at} (95 % confidence interval {earliest} to {latest})."


def _table(found: Drift) -> Table:
    rows = []
    for cost in found.costs:
        factor, unit = cost_scale(cost.item, max(abs(cost.stated), abs(cost.found)))
        name = {None: "fixed", INFORMATION_BASE: "byte"}.get(cost.item, cost.item) or ""
        rows.append(
            (
                name,
                number(cost.stated * factor),
                number(cost.found * factor),
                f"{'+' if cost.difference > 0 else ''}{number(cost.difference * factor, 3)}",
                f"± {number(cost.half_width * factor, 3)}",
                unit,
                _chance(cost.by_chance),
                "moved" if cost.has_moved else "",
            )
        )
    headings = ("cost", "spec", "runs", "difference", "95 %", "unit", "by chance", "")
    return Table(headings, tuple(rows), frozenset([1, 2, 3, 4, 6]))


def _chance(value: float) -> str:
    return "under 0.0001 %" if value < _LEAST_CHANCE else percent(value, 2)


def _moment(at: datetime, found: Drift) -> str:
    """Return a moment in words, to the second where all runs are of a few hours."""
    at = at.astimezone(UTC)
    is_fine = found.ends is not None and found.ends[1] - found.ends[0] < _FINE
    clock = f" {at:%H:%M:%S}" if is_fine else f" {at:%H:%M}" * ((at.hour, at.minute) != (0, 0))
    return f"{at.day} {at:%B %Y}{clock}"


def _span(found: Drift) -> str:
    if found.ends is None:
        return ""
    return f" from {_moment(found.ends[0], found)} to {_moment(found.ends[1], found)} (UTC)"


def drift_github(found: Drift, spec: str, tolerance: float) -> str:
    """Return a workflow command that annotates the spec where something has moved."""
    level = "error" if found.has_moved else "notice"
    where = {"file": spec, "title": "drift"}
    return workflow_command(level, where, "\n".join(sentences(found, tolerance))) + "\n"


class CostView(Struct, frozen=True, kw_only=True):
    """A service demand: a utilization if `per` is null, else CPU seconds per item.

    `relative_difference` is null if the spec does not state it.
    """

    per: str | None
    stated: float
    found: float
    difference: float
    relative_difference: float | None
    half_width: float
    by_chance: float
    share_of_load: float
    moved: bool


class AloneView(Struct, frozen=True, kw_only=True):
    """A service demand that alone explains the drift, and its difference."""

    per: str | None
    difference: float


class SinceView(Struct, frozen=True, kw_only=True):
    """Start of the drift in ISO 8601, with a 95 % interval from `earliest` to `latest`."""

    at: str
    earliest: str
    latest: str
    may_be_before: bool


class DriftView(ShowsItself, Struct, frozen=True, kw_only=True):
    """Drift of the service demands of a spec; times in ISO 8601."""

    schema: str
    file: str
    observed: str
    resource: str
    machine: str
    cores: float
    components: tuple[str, ...]
    row_count: int
    asked_rows: int
    from_: str | None
    to: str | None
    moved: bool
    by_chance: float
    load_higher: float
    load_off: float
    would_be_told: float
    tolerance: float
    chance: float
    costs: tuple[CostView, ...]
    explained_alone_by: tuple[AloneView, ...]
    asked_from: str | None
    since: SinceView | None
    text: tuple[str, ...]

    def _shown(self) -> Shown:
        """Return what a notebook shows of it."""
        return Shown(
            title=f"{self.file} against {self.observed}: {self.resource} of {self.machine}",
            answer=self.text[0],
            facts=tuple(("", line) for line in self.text[1:]),
        )


def drift_view(found: Drift, spec: str, *, tolerance: float, chance: float) -> DriftView:
    """Return what `qps test --observed --format json` prints."""
    stated, since = found.stated, found.since
    return DriftView(
        schema="qps/drift/1",
        file=spec,
        observed=found.file,
        resource=stated.reading.resource or "",
        machine=stated.machine,
        cores=float(stated.reading.processors or 1),
        components=stated.components,
        row_count=found.rows,
        asked_rows=found.asked_rows,
        from_=None if found.ends is None else found.ends[0].isoformat(),
        to=None if found.ends is None else found.ends[1].isoformat(),
        moved=found.has_moved,
        by_chance=found.by_chance,
        load_higher=found.higher,
        load_off=found.off,
        would_be_told=found.sees,
        tolerance=tolerance,
        chance=chance,
        costs=tuple(
            CostView(
                per=_per(cost.item),
                stated=cost.stated,
                found=cost.found,
                difference=cost.difference,
                relative_difference=cost.relative if isfinite(cost.relative) else None,
                half_width=cost.half_width,
                by_chance=cost.by_chance,
                share_of_load=cost.share,
                moved=cost.has_moved,
            )
            for cost in found.costs
        ),
        explained_alone_by=tuple(
            AloneView(per=_per(item), difference=moved) for item, moved in found.alone
        ),
        asked_from=None if found.begin is None else found.begin.isoformat(),
        since=None
        if since is None
        else SinceView(
            at=since.at.isoformat(),
            earliest=since.earliest.isoformat(),
            latest=since.latest.isoformat(),
            may_be_before=since.may_be_before,
        ),
        text=tuple(sentences(found, tolerance)),
    )


def _per(item: str | None) -> str | None:
    return "bit" if item == INFORMATION_BASE else item
