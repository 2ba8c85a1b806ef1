"""Whether a system is still what its spec says, as text, Markdown, annotations and plain values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import chain, repeat
from math import isfinite

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.quantities.dimension import INFORMATION_BASE
from qps.reports.text.claims.claim_formats import workflow_command
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.notebook import NotebookView, ShowsItself
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.measurements.fit_text import cost_scale
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent
from qps.solver.claims.drift import CostDrift, Drift

_LEAST_CHANCE = 1e-6
_FINE = timedelta(hours=6)


def drift_text(
    found: Drift, spec: str, *, tolerance: float, markdown: bool = False, width: int = COLUMNS
) -> str:
    """Return whether service demands have drifted, since when, and each of them in a table."""
    layout = TextLayout(
        title=phrase("drift.title", resource=_resource(found)),
        place=f"{spec}, {found.file}",
        facts=(
            ("Result", _verdict(found, tolerance).removesuffix(".")),
            *zip(chain(["Change"], repeat("")), _changes(found), strict=False),
            ("Since", _since(found)),
            ("Runs", f"{found.rows:,} rows{_span(found)}"),
        ),
        tables=(_table(found),),
        warnings=tuple(_warnings(found)),
    )
    return layout.printed(markdown=markdown, width=width)


def _resource(found: Drift) -> str:
    stated = found.stated
    cores = number(float(stated.reading.processors or 1))
    return f"{stated.machine}.{stated.reading.resource} ({cores} core{'s' * (cores != '1')})"


def sentences(found: Drift, tolerance: float) -> list[str]:
    """Return what has moved, by how much, since when, and how likely that is noise."""
    since = _since(found)
    facts = [_verdict(found, tolerance), *_changes(found), since and f"since {since}"]
    said = [f"{fact[0].upper()}{fact[1:].removesuffix('.')}." for fact in facts if fact]
    return [*said, *(f"warning: {warning}" for warning in _warnings(found))]


def _changes(found: Drift) -> list[str]:
    """Return which service demands have changed, or which may have where no single one is sure."""
    moved = [_moved(cost, found) for cost in found.costs if cost.has_moved]
    return moved or [_unidentified(found)] * found.has_moved


def _warnings(found: Drift) -> list[str]:
    """Return where the runs are not those that the service demands are for."""
    if found.stated.loads is None or not found.is_elsewhere:
        return []
    runs, stated = (
        f"{percent(low)} to {percent(high)}" for low, high in (found.loads, found.stated.loads)
    )
    where = phrase("drift.utilizations", runs=runs, stated=stated)
    return [phrase("drift.batching", where=where)]


def _verdict(found: Drift, tolerance: float) -> str:
    level = f"{percent(abs(found.higher), 2)} {'higher' if found.higher > 0 else 'lower'}"
    chance = _chance(found.by_chance)
    if found.has_moved:
        return phrase("drift.detected", level=level, chance=chance, describe=_describe(found))
    would = phrase("drift.detectable", share=percent(found.sees, 2))
    if not found.is_significant:
        return phrase("drift.none", chance=chance, would=would)
    return phrase(
        "drift.within_tolerance", level=level, share=percent(tolerance), chance=chance, would=would
    )


def _describe(found: Drift) -> str:
    if found.begin is None:
        return ""
    return phrase(
        "drift.tested", compared_rows=f"{found.compared_rows:,}", moment=_moment(found.begin, found)
    )


def _moved(cost: CostDrift, found: Drift) -> str:
    factor, unit = cost_scale(cost.item, max(abs(cost.stated), abs(cost.found)))
    is_more, of = cost.difference > 0, listed(found.stated.components, "and")
    by = (
        f"{number(abs(cost.difference) * factor, 3)} {unit.partition(' per ')[0].partition('/')[0]}"
    )
    what = (
        phrase("drift.idle_utilization")
        if cost.item is None
        else phrase("drift.demand_per", word=_word(cost))
    )
    return phrase(
        "drift.demand",
        what=what,
        by=by,
        verb="higher" if is_more else "lower",
        of=of,
        relative=_relative(cost),
        changes=phrase("drift.increases") if is_more else phrase("drift.decreases"),
        share=percent(abs(cost.share), 2),
        chance=_chance(cost.by_chance),
    )


def _relative(cost: CostDrift) -> str:
    return f" ({cost.relative:+.1%})".replace("%", " %") if isfinite(cost.relative) else ""


def _word(cost: CostDrift) -> str:
    return "byte" if cost.item == INFORMATION_BASE else f"{cost.item}"


def _unidentified(found: Drift) -> str:
    """Return which service demands alone would explain the drift."""
    warnings = []
    by_item = {cost.item: cost for cost in found.costs}
    for item, moved in found.alone:
        cost = by_item[item]
        name = (
            phrase("drift.idle_utilization")
            if item is None
            else phrase("drift.input_demand_per", word=_word(cost))
        )
        share = f" by {moved / cost.stated:+.1%}".replace("%", " %") if cost.stated else ""
        warnings.append(f"{name}{share}")
    if not warnings:
        return phrase("drift.several")
    if len(warnings) == 1:
        return phrase("drift.one", change=warnings[0])
    return phrase("drift.candidates", names=" or ".join(warnings))


def _since(found: Drift) -> str:
    """Return when the drift began, empty where there is none."""
    since = found.since
    if since is None:
        unknown = phrase("drift.no_time")
        return unknown if found.has_moved else ""
    times = (since.at, since.earliest, since.latest)
    at, earliest, latest = (_moment(one, found) for one in times)
    if since.may_be_before:
        return phrase("drift.latest", latest=latest)
    return phrase("drift.since", at=at, earliest=earliest, latest=latest)


def _table(found: Drift) -> Table:
    rows = []
    for cost in found.costs:
        factor, unit = cost_scale(cost.item, max(abs(cost.stated), abs(cost.found)))
        name = {None: "idle", INFORMATION_BASE: "byte"}.get(cost.item, cost.item) or ""
        rows.append(
            (
                name,
                number(cost.stated * factor),
                number(cost.found * factor),
                _with_interval(cost.difference * factor, cost.half_width * factor),
                unit,
                _chance(cost.by_chance).removeprefix("p ").removeprefix("= "),
                "DRIFT" if cost.has_moved else "",
            )
        )
    headings = ("Per", "Spec", "Runs", "Change, 95 % CI", "Unit", "p-value", "")
    return Table(headings, tuple(rows), frozenset([1, 2, 3, 5]), long=frozenset([0, 4]))


def _with_interval(difference: float, half_width: float) -> str:
    sign = "+" if difference > 0 else ""
    return f"{sign}{number(difference, 3)} ± {number(half_width, 2)}"


def _chance(value: float) -> str:
    """Return a p-value: `p = 0.0051`, `p < 0.000001`."""
    return f"p < {_LEAST_CHANCE:f}" if value < _LEAST_CHANCE else f"p = {number(value, 2)}"


def _moment(at: datetime, found: Drift) -> str:
    """Return a moment, to the second where all runs are of a few hours."""
    at = at.astimezone(UTC)
    is_fine = found.ends is not None and found.ends[1] - found.ends[0] < _FINE
    clock = f" {at:%H:%M:%S}" if is_fine else f" {at:%H:%M}" * ((at.hour, at.minute) != (0, 0))
    return f"{at:%Y-%m-%d}{clock}"


def _span(found: Drift) -> str:
    if found.ends is None:
        return ""
    return f", {_moment(found.ends[0], found)} to {_moment(found.ends[1], found)} (UTC)"


def drift_github(found: Drift, spec: str, tolerance: float) -> str:
    """Return a workflow command that annotates the spec where something has moved."""
    level = "error" if found.has_moved else "notice"
    where = {"file": spec, "title": "drift"}
    return workflow_command(level, where, "\n".join(sentences(found, tolerance))) + "\n"


class CostView(Struct, frozen=True, kw_only=True):
    """A service demand: a utilization if `per` is null, otherwise CPU seconds per item.

    `relative_difference` is null if the spec has no value to compare.
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
    """A service demand that explains the drift by itself, and its difference."""

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
    compared_rows: int
    from_: str | None
    to: str | None
    moved: bool
    by_chance: float
    utilization_difference: float
    utilization_rms_difference: float
    smallest_detectable: float
    tolerance: float
    chance: float
    costs: tuple[CostView, ...]
    explained_alone_by: tuple[AloneView, ...]
    compared_from: str | None
    since: SinceView | None
    text: tuple[str, ...]

    def _shown(self) -> NotebookView:
        """Return what a notebook shows of it."""
        return NotebookView(
            title=phrase(
                "drift.heading",
                file=self.file,
                observed=self.observed,
                resource=self.resource,
                machine=self.machine,
            ),
            answer=self.text[0],
            facts=tuple(("", line) for line in self.text[1:]),
        )


def drift_view(found: Drift, spec: str, *, tolerance: float, chance: float) -> DriftView:
    """Return what `qps test --observed --format json` prints."""
    stated, since = found.stated, found.since
    return DriftView(
        schema="qps/drift/3",
        file=spec,
        observed=found.file,
        resource=stated.reading.resource or "",
        machine=stated.machine,
        cores=float(stated.reading.processors or 1),
        components=stated.components,
        row_count=found.rows,
        compared_rows=found.compared_rows,
        from_=None if found.ends is None else found.ends[0].isoformat(),
        to=None if found.ends is None else found.ends[1].isoformat(),
        moved=found.has_moved,
        by_chance=found.by_chance,
        utilization_difference=found.higher,
        utilization_rms_difference=found.off,
        smallest_detectable=found.sees,
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
        compared_from=None if found.begin is None else found.begin.isoformat(),
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
