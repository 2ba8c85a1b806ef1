"""A row a setting: the median of its runs, how far these lie apart, and the table of all rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from statistics import median

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import IDLE, CampaignAxis, Setting
from qps.compiler.measurement.campaigns.run_results import MeasuredRun
from qps.compiler.measurement.fit_columns import CORES
from qps.compiler.measurement.sheet_cells import csv_of
from qps.compiler.quantities.dimension import INFORMATION_BASE

BYTE = "byte"
PACKET = "packet"
_BYTE_BITS = 8
_RESOLUTION = {BYTE: 0.03, PACKET: 0.15}
"""Part of a column that the ones before it must leave open, so that it has a cost of its own.

Packets of files come in steps with their bytes: so little shows no cost, and spoils those of both.
"""


class TableLayout(Struct, frozen=True, kw_only=True):
    """What the columns of a table are: `items` in the order of their counts.

    `cores` is how many processors the load is a share of, `machine_cores` how many there are.
    """

    axes: tuple[CampaignAxis, ...]
    items: tuple[str, ...]
    cores: float
    machine_cores: int


class SettingRow(Struct, frozen=True, kw_only=True):
    """The results of a setting; each number is the median of its runs.

    `loads` are fractions of the usable cores, by column; `rates` are items per second, with `byte`
    and `packet` if they are known; `seconds` is the CPU time of the server. `each` is that time for
    one of the first items (None if there were none), and `spread` its range, or that of the load,
    relative to the median. Other fractions are of the whole machine, except for the busiest
    threads. `requested_rates` are by item.
    """

    setting: Setting
    repetitions: int
    loads: dict[str, float]
    rates: dict[str, float]
    seconds: float
    elapsed: float
    each: float | None
    spread: float
    generator: float
    others: float
    stolen: float
    busiest: float
    generator_busiest: float
    requested_rates: dict[str, float]
    notes: tuple[str, ...]

    @property
    def load(self) -> float:
        """The load of all that was measured."""
        return sum(self.loads.values())

    @property
    def reached(self) -> float | None:
        """The fraction of the requested rate that was reached; None if no rate was requested."""
        parts = [
            self.rates[item] / rate
            for item, rate in self.requested_rates.items()
            if item in self.rates
        ]
        return min(parts, default=None)


def rows_of(
    runs: Iterable[MeasuredRun], settings: Sequence[Setting], layout: TableLayout
) -> list[SettingRow]:
    """Return a row for each setting that was measured, in the order of the settings."""
    by_setting: dict[Setting, list[MeasuredRun]] = {}
    for run in runs:
        by_setting.setdefault(run.setting, []).append(run)
    return [_row(by_setting[one], one, layout) for one in settings if one in by_setting]


def _row(runs: Sequence[MeasuredRun], setting: Setting, layout: TableLayout) -> SettingRow:
    def middle(value: Callable[[MeasuredRun], float]) -> float:
        return median(value(run) for run in runs)

    first = layout.items[0]
    costs = [run.cpu / run.counted[first] for run in runs if run.counted[first]]
    spreads = costs or [run.cpu / run.elapsed for run in runs]
    rates = [_rates(run, layout) for run in runs]
    machine = layout.machine_cores
    return SettingRow(
        setting=setting,
        repetitions=len(runs),
        loads={
            name: middle(lambda run, own=name: run.used[own] / run.elapsed) / layout.cores  # type: ignore[misc]
            for name in runs[0].used
        },
        rates={item: median(one[item] for one in rates if item in one) for item in rates[0]},
        seconds=middle(lambda run: run.cpu),
        elapsed=middle(lambda run: run.elapsed),
        each=median(costs) if costs else None,
        spread=(max(spreads) - min(spreads)) / median(spreads) if median(spreads) else 0.0,
        generator=middle(lambda run: run.generator / run.elapsed) / machine,
        others=middle(lambda run: run.others / run.elapsed) / machine,
        stolen=middle(lambda run: run.stolen / run.elapsed) / machine,
        busiest=middle(lambda run: run.busiest),
        generator_busiest=middle(lambda run: run.generator_busiest),
        requested_rates=dict(_request_columns(setting, layout)),
        notes=tuple(dict.fromkeys(note for run in runs for note in run.notes)),
    )


def _rates(run: MeasuredRun, layout: TableLayout) -> dict[str, float]:
    """Return how many of each item were done in a second, and bytes and packets where known."""
    rates = {item: run.counted[item] / run.counted_over for item in layout.items}
    if BYTE not in rates:
        sizes = _size(run.setting, layout)
        if sizes is not None:
            rates[BYTE] = rates[layout.items[0]] * sizes
    if PACKET not in rates and run.packets is not None:
        rates[PACKET] = run.packets / run.elapsed
    return rates


def _size(setting: Setting, layout: TableLayout) -> float | None:
    """Return the bytes of each of the first item; None where nothing that is varied says so."""
    sized = [one for one in layout.axes if one.sized == layout.items[0]]
    if not sized:
        return None
    if setting == IDLE:
        return 0.0
    values = dict(zip(layout.axes, setting, strict=True))
    total = sum((one.value(values[one]) or Fraction(0) for one in sized), Fraction(0))
    return float(total / _BYTE_BITS)


def _request_columns(setting: Setting, layout: TableLayout) -> Iterator[tuple[str, float]]:
    if setting == IDLE:
        return
    for one, text in zip(layout.axes, setting, strict=True):
        value = one.value(text)
        if one.item is None or value is None:
            continue
        if one.item == INFORMATION_BASE:
            yield BYTE, float(value / _BYTE_BITS)
        else:
            yield one.item, float(value)


def rate_items(rows: Sequence[SettingRow], layout: TableLayout) -> tuple[str, ...]:
    """Return which rates have columns of their own: those that rows distinguish.

    Items that are counted always have. Bytes and packets that move with what stands before them,
    or of which there are as many columns as rows, would leave a fit without an answer; they are
    listed for each item instead. Of too few rows for any fit, as of one that is to be compared with
    what a spec says, bytes have one.
    """
    if len(rows) <= len(layout.items):
        return tuple(dict.fromkeys((*layout.items, *(BYTE for row in rows if BYTE in row.rates))))
    known = [item for item in (*layout.items, BYTE, PACKET) if any(item in r.rates for r in rows)]
    candidates = list(dict.fromkeys(known))
    taken: list[str] = []
    basis = [_unit([1.0] * len(rows))]
    for item in candidates:
        column = _unit([row.rates.get(item, 0.0) for row in rows])
        rest = column
        for one in basis:
            along = sum(a * b for a, b in zip(rest, one, strict=True))
            rest = [a - along * b for a, b in zip(rest, one, strict=True)]
        is_own = sqrt(sum(a * a for a in rest)) > _RESOLUTION.get(item, 0.0)
        if item in layout.items or (is_own and len(rows) > len(basis) + 1):
            taken.append(item)
            if is_own:
                basis.append(_unit(rest))
    return tuple(taken)


def _unit(column: Sequence[float]) -> list[float]:
    length = sqrt(sum(value * value for value in column))
    return [value / length if length else 0.0 for value in column]


def table_text(rows: Sequence[SettingRow], layout: TableLayout) -> str:
    """Return the table as CSV, in the columns that `qps fit` reads, and others for people."""
    if not rows:
        return ""
    items = rate_items(rows, layout)
    items_without = [
        i for i in (BYTE, PACKET) if i not in items and any(i in r.rates for r in rows)
    ]
    headings = [
        *(f"{name} in %" for name in rows[0].loads),
        *(f"{item}/s" for item in items),
        *(f"{item}s each" for item in items_without),
        *(f"requested {one.name}" for one in layout.axes),
        "repetitions",
        "spread in %",
        "generator in %",
        "others in %",
        "stolen in %",
        CORES,
    ]
    return csv_of([headings, *(_cells(row, items, items_without, layout) for row in rows)])


def _cells(
    row: SettingRow, items: Sequence[str], columns: Sequence[str], layout: TableLayout
) -> Iterator[str]:
    first = row.rates[layout.items[0]]
    for load in row.loads.values():
        yield _cell(100 * load)
    for item in items:
        yield _cell(row.rates.get(item, 0.0))
    for item in columns:
        yield _cell(row.rates.get(item, 0.0) / first) if first else "-"
    yield from row.setting or ("-",) * len(layout.axes)
    yield str(row.repetitions)
    for share in (row.spread, row.generator, row.others, row.stolen):
        yield _cell(100 * share)
    yield _cell(layout.cores)


def _cell(value: float) -> str:
    """Return a number as tables have it: six digits, no powers of ten where none are needed.

    >>> _cell(1234567.8), _cell(0.0123456789), _cell(12.0)
    ('1234568', '0.0123457', '12')
    """
    return f"{value:.0f}" if abs(value) >= 1e5 else f"{value:.6g}"  # noqa: PLR2004


def named_setting(setting: Setting, axes: Sequence[CampaignAxis]) -> str:
    """Return a setting in words: `rate 100, size 10`."""
    if setting == IDLE:
        return "idle" if axes else "the run"
    return ", ".join(f"{one.name} {value}" for one, value in zip(axes, setting, strict=True))


def by_item(values: Mapping[str, float]) -> str:
    """Return rates in words: `100 request/s, 2000 byte/s`."""
    return ", ".join(f"{_cell(value)} {item}/s" for item, value in values.items())
