"""A load test beside what a machine used: rows of both, by the same windows of time.

What a machine used in a window is the mean of its samples there; each is of the time that ends with
it, as sar, vmstat and pidstat print them. A window counts once users and machine are steady.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import pairwise
from statistics import correlation, fmean, median

from msgspec import Struct

from qps.compiler.diagnostics.suggest import listed
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, written
from qps.compiler.measurement.observations.time_arguments import duration
from qps.compiler.measurement.usual_headings import RATE, TIME, USERS

_ENOUGH = 0.8
"""Share of the samples of a window that have to be there."""
_CLEARLY = 0.05
"""By how much a correlation is higher where another offset of the clocks is likelier."""
_FEWEST = 8
"""Windows from which clocks are compared."""
_QUARTER = 900
"""s: clocks of places differ by quarters of an hour."""
_DAY = 86_400
_SAME_RATE = 0.01
_OF_USERS = ("latency ", USERS)
"""Headings that a fit of CPU to rates does not need in every row."""


class UsageSeries(Struct, frozen=True):
    """What a machine used: moments in s since 1970, in order, and the numbers of each column."""

    times: tuple[float, ...]
    columns: dict[str, tuple[float, ...]]

    @property
    def step(self) -> float:
        """How far samples lie apart, in s."""
        return median(after - before for before, after in pairwise(self.times))

    def means(self, start: float, end: float) -> dict[str, float] | None:
        """Return the means of the samples that end within a window; None where most are missing."""
        first, last = bisect_right(self.times, start), bisect_right(self.times, end)
        if last - first < max(1.0, _ENOUGH * (end - start) / self.step):
            return None
        return {heading: fmean(cells[first:last]) for heading, cells in self.columns.items()}


def moments_of(table: ObservedRuns) -> list[float]:
    """Return the times of rows in s since 1970; DataError where they are no dates with times."""
    place = table.headings.index(TIME)
    return [_seconds(row[place]) for row in table.rows]


def _seconds(cell: str) -> float:
    if cell.replace(".", "", 1).isdecimal():
        value = float(cell)
        return value / 1000 if value > 1e11 else value  # noqa: PLR2004 - s until the year 5138
    try:
        found = datetime.fromisoformat(cell)
    except ValueError as error:
        raise DataError(
            f"`{cell}` is not a date with a time",
            "write times as `2026-03-01T10:00:00Z` or in seconds since 1970",
        ) from error
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def usage_series(table: ObservedRuns) -> UsageSeries:
    """Return what a machine used, of a table with times."""
    times = moments_of(table)
    order = sorted(range(len(times)), key=times.__getitem__)
    columns = {}
    for place, heading in enumerate(table.headings):
        cells = [table.rows[row][place] for row in order]
        try:
            columns[heading] = tuple(map(float, cells))
        except ValueError:
            continue
    moments = tuple(times[row] for row in order)
    if len(moments) < 2 or moments[0] == moments[-1]:  # noqa: PLR2004 - a step lies between two
        raise DataError("the machine has fewer than two samples", "record it for longer")
    if len(set(moments)) < len(moments):
        raise DataError(
            "the machine has several samples of the same moment",
            "keep those of one machine, or convert each separately",
        )
    return UsageSeries(moments, {h: c for h, c in columns.items() if h != TIME})


def joined(load: ObservedRuns, usage: UsageSeries, window: float, offset: float) -> ObservedRuns:
    """Return the rows of a load test with what the machine used in the same windows.

    `offset` is by how much the machine's clock is ahead. Rows without samples are left out, and
    those in which the load was not steady; DataError where none is left.
    """
    starts = moments_of(load)
    found = [usage.means(start + offset, start + window + offset) for start in starts]
    both = [row for row, means in enumerate(found) if means is not None]
    if not both:
        raise _apart(starts, usage, window)
    steady, reason = _steady(load, both)
    added = [heading for heading in usage.columns if heading not in load.headings]
    rows = []
    for row in steady:
        means = found[row]
        assert means is not None
        rows.append((*load.rows[row], *(written(means[heading]) for heading in added)))
    without = len(starts) - len(both)
    notes = [
        f"joined by time: {len(rows)} of {len(starts)} windows of {window:g} s have a row; {reason}"
        + f"; {without} without samples of the machine" * bool(without)
    ]
    return ObservedRuns(
        headings=(*load.headings, *added),
        rows=tuple(rows),
        notes=(*load.notes, *notes, *_clocks(load, usage, starts, window, offset)),
    )


def _steady(load: ObservedRuns, rows: Sequence[int]) -> tuple[list[int], str]:
    """Return the windows that count: not the first one, and none in which users changed."""
    warm = [row for row in rows if row > 0] or list(rows)
    if USERS not in load.headings:
        return warm, "the first one is warm-up"
    place = load.headings.index(USERS)
    users = [row[place] for row in load.rows]
    steady = [row for row in warm if row > 0 and users[row] == users[row - 1]]
    if len(steady) < 2:  # noqa: PLR2004 - a fit needs two
        return warm, "the first one is warm-up, and the number of users changes in most others"
    return steady, "the first one after each change of users is warm-up"


def _apart(starts: Sequence[float], usage: UsageSeries, window: float) -> DataError:
    """Return that both were not measured at the same time, and by which offset they were."""
    middle = (usage.times[0] + usage.times[-1]) / 2 - (starts[0] + starts[-1] + window) / 2
    hint = "record both at the same time"
    likely = round(middle / _QUARTER) * _QUARTER
    if likely and abs(likely) <= _DAY:
        sign, minutes = "-" if likely < 0 else "", abs(likely) // 60
        hint = f"if their time zones differ, add `--offset {sign}{minutes}m`"
    text = " and ".join(
        f"from {datetime.fromtimestamp(first, UTC):%Y-%m-%d %H:%M:%S} to "
        f"{datetime.fromtimestamp(last, UTC):%H:%M:%S}"
        for first, last in (
            (starts[0], starts[-1] + window),
            (usage.times[0], usage.times[-1]),
        )
    )
    return DataError(f"load and machine have no time in common: {text}", hint)


def _clocks(
    load: ObservedRuns, usage: UsageSeries, starts: Sequence[float], window: float, offset: float
) -> list[str]:
    """Return by how much clocks differ: where rates and usage go together best."""
    rate = next(place for place, one in enumerate(load.headings) if one.endswith("/s"))
    rates = [float(row[rate] or 0) for row in load.rows]
    heading = next((one for one in usage.columns if one.startswith("cpu")), None)
    if heading is None:
        return []

    def together(shift: float) -> float | None:
        pairs = [
            (rates[row], means[heading])
            for row, start in enumerate(starts)
            for means in [usage.means(start + shift, start + window + shift)]
            if means is not None
        ]
        if len(pairs) < max(_FEWEST, len(starts) * _ENOUGH):
            return None
        try:
            return correlation(*zip(*pairs, strict=True))
        except (ValueError, ArithmeticError):  # one of them never changes
            return None

    now = together(offset)
    if now is None:
        return ["clocks were not compared: too few windows, or a rate that does not change"]
    steps = range(-int(window / usage.step), int(window / usage.step) + 1)
    shifts = [
        (found, offset + n * usage.step)
        for n in steps
        for found in [together(offset + n * usage.step)]
        if found is not None
    ]
    best, at = max(shifts)
    if best - now < _CLEARLY:
        return [f"clocks agree: rate and {heading} correlate by {now:.2f}"]
    warning = (
        f"warning: the clocks seem to differ by {at - offset:g} s: rate and {heading} correlate by "
        f"{best:.2f} with `--offset {at:g}s`, and by {now:.2f} now"
    )
    return [warning]


def offset_of(text: str | None) -> float:
    """Return an offset in s, which may be below zero; DataError where it is none."""
    if text is None:
        return 0.0
    found = duration(text.removeprefix("-").removeprefix("+"))
    if found is None or found > _DAY:
        raise DataError(f"`--offset {text[:40]}` is not a time up to a day", "write `--offset 2s`")
    return float(found) * (-1 if text.startswith("-") else 1)


def joined_by_users(load: ObservedRuns, usage: ObservedRuns) -> ObservedRuns:
    """Return the rows of a load test with those of a machine that have as many users."""
    places = [table.headings.index(USERS) for table in (load, usage)]
    keys = [
        [_users(row[at]) for row in table.rows]
        for table, at in zip((load, usage), places, strict=True)
    ]
    for table_keys in keys:
        twice = [key for key in table_keys if table_keys.count(key) > 1]
        if twice:
            raise DataError(
                f"several rows have {twice[0]} users, and there are no times to join by",
                f"add a column `{TIME}` to both, or keep one row for each number of users",
            )
    common = [key for key in keys[0] if key in keys[1]]
    if not common:
        raise DataError(
            f"load and machine have no number of users in common: {listed(keys[0][:5], 'and')}; "
            f"{listed(keys[1][:5], 'and')}",
            "measure both at the same numbers of users",
        )
    added = [place for place, one in enumerate(usage.headings) if one not in load.headings]
    pairs = [(keys[0].index(key), keys[1].index(key)) for key in common]
    left = len(keys[0]) + len(keys[1]) - 2 * len(common)
    note = f"joined by users: {len(pairs)} rows"
    if left:
        note += f"; {left} without the other are left out"
    return _side_by_side(load, usage, added, pairs, (*load.notes, *usage.notes, note))


def joined_by_rate(load: ObservedRuns, usage: ObservedRuns) -> ObservedRuns:
    """Return the rows of rates and CPU with what a load test says of the users at the same rates.

    Rates are the same within a hundredth. Other rates of the load test are added only if each row
    has them: a fit needs every rate of a row.
    """
    rates = [
        [float(row[table.headings.index(RATE)]) for row in table.rows] for table in (load, usage)
    ]
    nearest = [
        min(range(len(rates[0])), key=lambda at, rate=rate: abs(rates[0][at] - rate))  # type: ignore[misc]
        for rate in rates[1]
    ]
    found = [
        at if abs(rates[0][at] - rate) <= _SAME_RATE * rate else None
        for at, rate in zip(nearest, rates[1], strict=True)
    ]
    if not any(at is not None for at in found):
        raise DataError(
            f"load and machine have no rate in common: {_listed(rates[0])}; {_listed(rates[1])}",
            "measure both in the same runs, or convert each separately",
        )
    is_whole = None not in found
    added = [
        place
        for place, one in enumerate(load.headings)
        if one not in usage.headings and (is_whole or one.startswith(_OF_USERS))
    ]
    matched = sum(at is not None for at in found)
    left = len(rates[0]) - len({at for at in found if at is not None})
    note = f"joined by {RATE}: {matched} of {len(found)} rows have a load test at their rate"
    if left:
        note += f"; {left} load tests at other rates are left out"
    others = [one for one in load.headings if one not in usage.headings and one != "file"]
    dropped = [one for one in others if not (is_whole or one.startswith(_OF_USERS))]
    if dropped:
        note += f"; {listed(dropped, 'and')} of some rows alone are left out"
    pairs = list(enumerate(found))
    return _side_by_side(usage, load, added, pairs, (*load.notes, *usage.notes, note))


def _side_by_side(
    first: ObservedRuns,
    second: ObservedRuns,
    added: Sequence[int],
    pairs: Sequence[tuple[int, int | None]],
    notes: tuple[str, ...],
) -> ObservedRuns:
    """Return pairs of rows of two tables: the first whole, then the added columns of the second.

    These are empty where a row of the first has none of the second.
    """
    return ObservedRuns(
        headings=(*first.headings, *(second.headings[place] for place in added)),
        rows=tuple(
            (
                *first.rows[own],
                *("" if other is None else second.rows[other][place] for place in added),
            )
            for own, other in pairs
        ),
        notes=notes,
    )


def _listed(rates: Sequence[float]) -> str:
    return listed([f"{rate:g}" for rate in rates[:5]], "and")


def _users(cell: str) -> str:
    return f"{float(cell):g}" if cell.replace(".", "", 1).isdecimal() else cell
