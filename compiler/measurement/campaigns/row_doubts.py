"""What makes measured rows doubtful: each reason once, with the settings that it is true of.

The figures are those of shared trials on nginx, Redis, Mosquitto and PostgreSQL: what a cost came
to beside what it should have been.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from qps.compiler.measurement.campaigns.campaign_axes import IDLE, Setting
from qps.compiler.measurement.campaigns.measured_rows import BYTE, SettingRow, TableLayout

FULL = 0.9
"""Share of its cores, or of the time of a thread, from which a program is full."""
_LEAST_SECONDS = 0.3
_REACHED = 0.95
_LARGE = 16_384
"""Bytes of an item from which both ends on one machine take work from each other."""
_CARD_MTU = 9_216
"""Bytes of a segment, more than which no network card sends."""
_SPREAD = 0.3
_OTHERS = 0.5
_CROWDED = 0.5
"""Share of the machine that others use, from which on programs wait for each other."""
_STOLEN = 0.02
_BATCHED = 1.3
"""How many times as much an item costs at the lowest rate as at the highest, before a warning."""
_ONE_THREAD = 0.9


class Doubt(Struct, frozen=True):
    """A reason not to trust rows; of none where it is about all of them."""

    kind: str
    settings: tuple[Setting, ...]
    text: str


def doubts(
    rows: Sequence[SettingRow], layout: TableLayout, *, is_here: bool, loopback_mtu: int | None
) -> list[Doubt]:
    """Return what makes rows doubtful, with the figures of the worst of them.

    `is_here` where the generator reaches the server by `lo`.
    """
    found = [*_of_each(rows, layout), *_batching(rows, layout), *_one_thread(rows, layout)]
    if is_here:
        found += _on_loopback(rows, layout, loopback_mtu)
    return found


Rule = Callable[[SettingRow, TableLayout], str | None]
"""Tells what is doubtful of a row, None where nothing is."""


def _of_each(rows: Sequence[SettingRow], layout: TableLayout) -> Iterator[Doubt]:
    rules: tuple[tuple[str, Rule, Callable[[SettingRow], float]], ...] = (
        ("rate not reached", _not_reached, lambda row: -(row.reached or 0.0)),
        ("saturated", _saturated, lambda row: row.load),
        ("short", _short, lambda row: -row.seconds),
        ("spread", _spread, lambda row: row.spread),
        ("others", _others, lambda row: row.others),
        ("stolen", _stolen, lambda row: row.stolen),
        ("note", lambda row, _: "; ".join(row.notes) or None, lambda row: len(row.notes)),
    )
    for kind, rule, badness in rules:
        reasons = {row.setting: text for row in rows if (text := rule(row, layout)) is not None}
        if reasons:
            worst = max((row for row in rows if row.setting in reasons), key=badness)
            yield Doubt(kind, tuple(reasons), reasons[worst.setting])


def _not_reached(row: SettingRow, layout: TableLayout) -> str | None:
    reached = row.reached
    if reached is None or reached >= _REACHED:
        return None
    item = min(
        (item for item in row.requested_rates if item in row.rates),
        key=lambda item: row.rates[item] / row.requested_rates[item],
    )
    requested = row.requested_rates[item]
    text = f"reached {row.rates[item]:,.0f} of {requested:,.0f} {item}/s"
    return f"{text}: {bottleneck(row, layout)}"


def bottleneck(row: SettingRow, layout: TableLayout) -> str:
    """Return in words what kept a rate from being reached."""
    if row.load >= FULL:
        return "the server is saturated"
    if row.generator_busiest >= FULL:
        return (
            "the generator is the bottleneck: its busiest thread was busy "
            f"{_percent(row.generator_busiest)} of the time; use more threads"
        )
    if row.busiest >= FULL:
        busy = _percent(row.busiest)
        return f"the server is saturated: its busiest thread was busy {busy} of the time"
    machine = row.load * layout.cores / layout.machine_cores + row.generator + row.others
    if machine >= FULL:
        return "server, generator and other programs together saturate the machine"
    if row.others >= _CROWDED:
        return f"other programs use {_percent(row.others)} of the machine"
    return (
        "neither the server nor the generator is saturated; use more connections in the generator"
    )


def _saturated(row: SettingRow, layout: TableLayout) -> str | None:  # noqa: ARG001 - as all rules
    # A thread that serves a rate on demand may well be busy; one that gets as much as
    # it can is full.
    is_thread_full = row.busiest >= FULL and (row.reached or 0.0) < _REACHED
    if row.load < FULL and not is_thread_full:
        return None
    how = f"utilization {_percent(row.load)}"
    if row.load < FULL:
        how = f"its busiest thread was busy {_percent(row.busiest)} of the time"
    return (
        f"saturated ({how}): the server batches work, so the demand per item is lower than at "
        "the utilization that you plan for"
    )


def _short(row: SettingRow, layout: TableLayout) -> str | None:  # noqa: ARG001 - as all rules
    if row.each is None or row.seconds >= _LEAST_SECONDS:
        return None
    return (
        f"only {row.seconds:.2g} s of CPU time per run, less than {_LEAST_SECONDS:g} s: other "
        "activity distorts the measurement; use longer runs or higher rates"
    )


def _spread(row: SettingRow, layout: TableLayout) -> str | None:  # noqa: ARG001 - as all rules
    if row.repetitions == 1 or row.spread <= _SPREAD or row.each is None:
        return None
    return (
        f"repetitions differ by up to {_percent(row.spread)}, and the table contains the median; "
        "use more repetitions or a quieter machine"
    )


def _others(row: SettingRow, layout: TableLayout) -> str | None:
    busy = row.others * layout.machine_cores
    if busy < _OTHERS:
        return None
    return (
        f"during the measurement, other programs used {busy:.1f} of {layout.machine_cores} "
        "cores, so service demands are 6 to 17 % too high"
    )


def _stolen(row: SettingRow, layout: TableLayout) -> str | None:  # noqa: ARG001 - as all rules
    if row.stolen < _STOLEN:
        return None
    return f"other virtual machines took {_percent(row.stolen)} of the CPU time"


def _batching(rows: Sequence[SettingRow], layout: TableLayout) -> Iterator[Doubt]:
    """Yield that low rates cost more: one cost cannot describe all rates."""
    rated = [i for i, one in enumerate(layout.axes) if one.item is not None]
    if not rated:
        return
    always = next((row.load for row in rows if row.setting == IDLE), 0.0)
    alike: dict[Setting, list[SettingRow]] = {}
    for row in rows:
        if row.each is not None and row.load < FULL:
            key = tuple(value for i, value in enumerate(row.setting) if i not in rated)
            alike.setdefault(key, []).append(row)
    worst, low = 1.0, []
    for group in alike.values():
        group.sort(key=lambda row: row.rates[layout.items[0]])
        costs = [(one.load - always) / one.rates[layout.items[0]] for one in group]
        first, last = costs[0], costs[-1]
        if last > 0 and first / last > _BATCHED:
            worst = max(worst, first / last)
            low.append(group[0].setting)
    if low:
        yield Doubt(
            "batching",
            tuple(low),
            f"at the lowest rate, the demand per {layout.items[0]} is up to {worst:.1f} times as "
            f"high as at the highest rate, {_cost_rise(rows)}; measure at the rates that you plan "
            "for, and omit much lower ones",
        )


def _cost_rise(rows: Sequence[SettingRow]) -> str:
    if any(row.setting == IDLE for row in rows):
        return "because the server batches work"
    return (
        "because the server batches work or because part of the work is constant (measure that "
        "with `--idle`)"
    )


def _one_thread(rows: Sequence[SettingRow], layout: TableLayout) -> Iterator[Doubt]:
    loaded = [row for row in rows if row.seconds >= _LEAST_SECONDS]
    if layout.cores > 1 and loaded:
        shares = [row.busiest * row.elapsed / row.seconds for row in loaded]
        if min(shares) >= _ONE_THREAD:
            yield Doubt(
                "one thread",
                (),
                f"one thread did all of the work: the server uses only one of "
                f"{layout.cores:g} cores; `--cores 1` reports the utilization of that core",
            )


def _on_loopback(
    rows: Sequence[SettingRow], layout: TableLayout, loopback_mtu: int | None
) -> Iterator[Doubt]:
    large, sized = [], False
    for row in rows:
        items, octets = row.rates[layout.items[0]], row.rates.get(BYTE)
        if octets is not None and items:
            sized = True
            if octets / items >= _LARGE:
                large.append(row.setting)
    if large:
        yield Doubt(
            "large items on one machine",
            tuple(large),
            "the sender and the receiver of large items are on the same machine: the kernel "
            "attributes CPU time of one to the other, so service demands can be off by a third",
        )
    if sized and loopback_mtu is not None and loopback_mtu > _CARD_MTU:
        yield Doubt(
            "loopback",
            (),
            f"packets can have up to {loopback_mtu:,} bytes on the loopback interface, but only "
            "1,500 on a network: the demand per byte is a lower bound; the demand per item is not "
            "affected",
        )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
