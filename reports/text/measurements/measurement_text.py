"""What was measured as text and plain values: rows, doubts, and what to do next."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from msgspec import Struct

from qps.compiler.ir.distributions import NORMAL_SIDE
from qps.compiler.measurement.campaigns.campaign_axes import CampaignAxis, Setting
from qps.compiler.measurement.campaigns.measured_rows import SettingRow, named_setting
from qps.compiler.measurement.campaigns.measured_rows import TableLayout as Columns
from qps.compiler.measurement.campaigns.row_doubts import Doubt
from qps.compiler.measurement.campaigns.run_conditions import Conditions
from qps.compiler.measurement.campaigns.run_results import FailedRun
from qps.compiler.measurement.campaigns.step_runs import START, ItemCost, StepCosts, scale_of
from qps.compiler.quantities.units import built_in
from qps.reports.text.layout.facts import COLUMNS
from qps.reports.text.layout.table import Table
from qps.reports.text.layout.text_layout import TextLayout
from qps.reports.text.measurements.fit_text import cost_lines, demands_table, quoted
from qps.reports.text.words.phrases import phrase
from qps.reports.text.words.quantities import number, percent

_MOST_NAMED = 3
"""Settings that a doubt names one by one."""


class MeasuredView(Struct, frozen=True, kw_only=True):
    """All that is printed of a campaign; `planned_count` is the number of runs to measure."""

    table: str
    runs_file: str
    layout: Columns
    rows: tuple[SettingRow, ...]
    doubts: tuple[Doubt, ...]
    failures: tuple[FailedRun, ...]
    conditions: Conditions
    run_count: int
    planned_count: int
    stopped: str | None
    own_units: tuple[str, ...]


def measured_json(view: MeasuredView) -> dict[str, object]:
    """Return what `qps measure --format json` prints. Loads and shares are of one, times seconds.

    `each` is processor time for each of the first item.
    """
    return {
        "schema": "qps/measured/2",
        "table": view.table,
        "runs": view.runs_file,
        "cores": view.layout.cores,
        "measured_runs": view.run_count,
        "planned_runs": view.planned_count,
        "stopped": view.stopped,
        "rows": [
            {
                "setting": _values(row.setting, view.layout.axes),
                "repetitions": row.repetitions,
                "loads": row.loads,
                "rates": row.rates,
                "requested_rates": row.requested_rates,
                "each": row.each,
                "spread": row.spread,
                "generator": row.generator,
                "others": row.others,
                "stolen": row.stolen,
            }
            for row in view.rows
        ],
        "warnings": [
            {
                "kind": doubt.kind,
                "settings": [_values(one, view.layout.axes) for one in doubt.settings],
                "text": doubt.text,
            }
            for doubt in view.doubts
        ],
        "failures": [
            {
                "setting": _values(one.setting, view.layout.axes),
                "repetition": one.repetition,
                "reason": one.reason,
            }
            for one in view.failures
        ],
        "accounts": view.conditions.accounts,
    }


def _values(setting: Setting, axes: Sequence[CampaignAxis]) -> dict[str, str]:
    return dict(zip((one.name for one in axes), setting, strict=False))


def measured_text(view: MeasuredView, width: int = COLUMNS) -> str:
    """Return the rows, what is doubtful of them, and the command that comes next."""
    cores = number(view.layout.cores)
    runs = f"{view.run_count:,} of {view.planned_count:,}"
    if view.run_count < view.planned_count:
        runs += phrase("measure.resume")
    accounts = sorted({f"{name}: {by}" for name, by in view.conditions.accounts.items()})
    table = _table(view) if view.rows else Table((), ())
    shown = table.fitting(width, _least_first(table))
    hidden = [heading for i, heading in enumerate(table.headings) if i not in shown]
    notes = [
        phrase(
            "measure.failed",
            setting=named_setting(one.setting, view.layout.axes),
            repetition=one.repetition,
            reason=one.reason,
        )
        for one in view.failures
    ]
    if hidden:
        notes.append(phrase("measure.columns_not_shown", names=", ".join(hidden)))
    layout = TextLayout(
        title=phrase("measure.title", cores=cores, s="s" * (cores != "1")),
        place=view.table,
        facts=(
            ("Runs", runs),
            ("Stopped", view.stopped or ""),
            ("CPU time", "; ".join(accounts)),
            (phrase("measure.raw_data"), view.runs_file),
            ("Next", _next(view)),
        ),
        tables=(table.with_columns(shown),),
        warnings=tuple(_doubt(one, view) for one in view.doubts),
        notes=tuple(notes),
    )
    return layout.as_text(width)


def _least_first(table: Table) -> list[int]:
    """Return the columns that a narrow terminal can do without, the least important first."""
    last = len(table.headings) - 1
    return [last, last - 1, last - 2] if table.headings else []


def _table(view: MeasuredView) -> Table:
    layout = view.layout
    first = layout.items[0]
    headings = (
        *(one.name for one in layout.axes),
        f"{first}/s",
        *view.rows[0].loads,
        f"cpu/{first}",
        "spread",
        "generator",
        "others",
    )
    rows = tuple(
        (
            *(row.setting or ("-",) * len(layout.axes)),
            number(row.rates[first]),
            *(percent(load) for load in row.loads.values()),
            "-" if row.each is None else _time(row.each),
            percent(row.spread, 2),
            percent(row.generator, 2),
            percent(row.others, 2),
        )
        for row in view.rows
    )
    every = frozenset(range(len(headings)))
    return Table(headings, rows, every, long=every)


def _time(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{number(seconds * factor, 3)} {unit}"
    return f"{number(seconds * 1e6, 3)} us"


def _doubt(doubt: Doubt, view: MeasuredView) -> str:
    if not doubt.settings:
        return doubt.text
    if len(doubt.settings) == len(view.rows) > 1:
        return phrase("measure.all_rows", text=doubt.text)
    named = [named_setting(one, view.layout.axes) for one in doubt.settings[-_MOST_NAMED:]]
    more = len(doubt.settings) - len(named)
    text = "; ".join(named) + (phrase("measure.and_more", more=more) if more else "")
    return f"{text}: {doubt.text}"


def _next(view: MeasuredView) -> str:
    """Return the command that fits service demands to the rows."""
    if not view.rows:
        return ""
    columns = list(view.rows[0].loads)
    resource = f" --resource {columns[0]}" if len(columns) > 1 else ""
    units = "".join(f" --unit {unit}" for unit in view.own_units)
    return f"qps fit {view.table}{resource}{units}"


def step_json(step: StepCosts, component: str | None) -> dict[str, object]:
    """Return what `qps measure step --format json` prints; times are seconds of a processor."""
    return {
        "schema": "qps/measured_step/1",
        "item": step.item,
        "costs": [
            {"per": cost.item, "value": cost.seconds, "half_width": cost.half_width}
            for cost in step.costs
        ],
        "runs": [
            {"items": run.items, "bytes": run.octets, "seconds": run.seconds} for run in step.runs
        ],
        "missed": step.missed,
        "component": component,
    }


def step_text(step: StepCosts, component: str | None, command: str, width: int = COLUMNS) -> str:
    """Return the service demands of a step with their intervals, and the component to paste."""
    rows = []
    for cost in step.costs:
        factor, unit = scale_of(cost)
        interval = "" if cost.half_width is None else f"± {number(cost.half_width * factor)}"
        rows.append((cost.item, number(cost.seconds * factor), interval, unit))
    nothing = phrase("measure.nothing_to_paste")
    layout = TextLayout(
        title=phrase("measure.step_title"),
        facts=(
            ("Command", command),
            ("Runs", f"{len(step.runs):,}"),
            (
                phrase("term.fit_error"),
                phrase("measure.largest_error", share=percent(step.missed, 2)),
            ),
        ),
        tables=(demands_table(rows),),
        warnings=tuple(step_warnings(step)),
        notes=(nothing,) if component is None else (),
        pasted=component or "",
    )
    return layout.as_text(width)


def step_warnings(step: StepCosts) -> list[str]:
    """Return what makes the costs of a step doubtful."""
    warnings = []
    names = {cost.item for cost in step.costs}
    if START not in names:
        warnings.append(phrase("measure.includes_start", item=step.item))
    if any(cost.half_width is None for cost in step.costs):
        warnings.append(phrase("measure.as_many_runs"))
    doubtful = [c.item for c in step.costs if c.half_width is not None and c.half_width > c.seconds]
    warnings += [phrase("measure.not_significant", item=item) for item in doubtful]
    return warnings


def step_component(step: StepCosts, command: str, cores: int) -> str | None:
    """Return the machine and the component to paste; None where a cost is not above zero."""
    costs = [cost for cost in step.costs if cost.item != START]
    if any(cost.seconds <= 0 for cost in costs):
        return None
    terms = " + ".join(_term(cost) for cost in costs)
    source = quoted(f"measured: {command}")
    cores_text = f"{cores} core{'s' * (cores != 1)}"
    own = "" if built_in(step.item) is not None else f"unit {step.item}\n"
    return (
        f"{own}machine tested {{ cpu {cores_text} }}\n"
        f"component step {{\n{cost_lines(f'cpu {terms}', 'tested')}\n  source {source}\n}}\n"
    )


def _term(cost: ItemCost) -> str:
    """Return a cost as a spec takes it: one that may be zero is not normal, as none is below."""
    factor, unit = scale_of(cost)
    value = f"{cost.seconds * factor:.6g}"
    if cost.half_width is None:
        return f"{value} {unit}"
    width = f"{cost.half_width * factor:.3g}"
    if float(width) < float(value):
        return f"({value} {unit} +- {width} {unit})"
    # Half of it lies below the value, and as much above the upper end of the interval as before.
    spread = log(1 + float(width) / float(value)) / float(NORMAL_SIDE)
    return f"lognormal({value} {unit}, {100 * spread:.3g} %)"
