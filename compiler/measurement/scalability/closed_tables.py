"""Tables of closed load tests: how many clients there were, and the throughput they had.

    threads,request/s,latency in ms,p99 in ms,cpu in core
    1,812,1.23,2.9,0.8
    8,5410,1.48,4.1,6.1

The column of clients is named by whoever requests the fit. The throughput is the one rate of items
per time. Response times and busy cores are used where there are any; other columns are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from qps.compiler.diagnostics.suggest import closest
from qps.compiler.measurement.fit_columns import (
    CORES,
    RateColumn,
    UnitOf,
    cores_of,
    numbers_below,
    rate_columns,
    usually_headed,
)
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable
from qps.compiler.measurement.scalability.busy_columns import busy_cores
from qps.compiler.measurement.scalability.littles_law import Contradiction, little_checked
from qps.compiler.measurement.scalability.response_columns import response_columns
from qps.compiler.measurement.usual_headings import rate_hint
from qps.compiler.quantities.dimension import INFORMATION_BASE

MOST_CLIENTS = 100_000
"""Clients up to which a fit takes seconds, and some hundred megabytes."""
_FEWEST_SETTINGS = 2
_MOST_NAMED = 5
_LEAST_BUSY, _MOST_BUSY = 0.5, 1.15
"""Between which utilizations a run shows what all cores could do; more is no utilization."""


class CpuLimit(Struct, frozen=True):
    """The throughput (1/s) that all cores could have, by the busiest run, and its clients."""

    throughput: float
    clients: int


class ClosedTable(Struct, frozen=True, kw_only=True):
    """Runs of a closed load test: clients, and completed items per second, row by row.

    `means` are mean response times (s), `percentiles` those of shares; None or none where they
    were not measured, or contradict the throughput. `think` is how long clients wait (s) between a
    response and the next request. `demands` are processor times per item (s) of runs with little
    contention. `limit` is known if the cores are. `missed` are columns that look like response
    times, and could not be read.
    """

    file: str
    by: str
    item: str
    lines: tuple[int, ...]
    clients: tuple[int, ...]
    throughputs: tuple[float, ...]
    means: tuple[float, ...] | None = None
    percentiles: tuple[tuple[float, tuple[float, ...]], ...] = ()
    think: float = 0.0
    demands: tuple[float, ...] = ()
    limit: CpuLimit | None = None
    contradiction: Contradiction | None = None
    missed: tuple[str, ...] = ()

    @property
    def most(self) -> int:
        """The largest number of clients."""
        return max(self.clients)

    @property
    def responses(self) -> tuple[float, ...]:
        """The mean response time of each run (s): without think time, what Little's law says."""
        if self.think and self.means is not None:
            return self.means
        pairs = zip(self.clients, self.throughputs, strict=True)
        return tuple(clients / throughput for clients, throughput in pairs)


def closed_table(table: MeasuredTable, by: str, unit_of: UnitOf) -> ClosedTable:
    """Return the runs of a table by its column of clients; DataError where it is none."""
    written = table.headings
    table = usually_headed(_with_column(table, by), by, unit_of)
    if by not in table.headings:
        near = closest(by, written)
        named = ", ".join(f"`{one}`" for one in written[:_MOST_NAMED])
        raise DataError(
            f"`{table.name}` has no column `{by}`",
            f"did you mean `{near}`?" if near else f"its columns are {named}",
        )
    clients = _clients(table, by)
    rate = _throughput(table, by, unit_of)
    rows = [i for i, count in enumerate(clients) if count]
    throughputs = _throughputs(table, rate, clients, rows)
    counts = tuple(clients[i] for i in rows)
    if len(set(counts)) < _FEWEST_SETTINGS:
        raise DataError(
            f"all runs of `{table.name}` have the same number in column `{by}`",
            "measure with at least three different numbers, from 1 to beyond the peak throughput",
        )
    found = response_columns(table, unit_of)
    _check_times(table, rows, found.percentiles)
    lines = tuple(table.lines[i] for i in rows)
    means = None if found.means is None else tuple(found.means[i] for i in rows)
    think, contradiction = 0.0, None
    if means is not None:
        _check_times(table, rows, ((0.0, found.means or ()),))
        think, contradiction = little_checked(lines, counts, throughputs, means, found.rounding)
    return ClosedTable(
        file=table.name,
        by=by,
        item=rate.item,
        lines=lines,
        clients=counts,
        throughputs=throughputs,
        means=None if contradiction else means,
        percentiles=tuple((p, tuple(of[i] for i in rows)) for p, of in found.percentiles),
        think=think,
        demands=_demands(table, rows, throughputs, unit_of),
        limit=_limit(table, rows, throughputs, unit_of, counts),
        contradiction=contradiction,
        missed=tuple(one for one in found.missed if one not in (by, rate.heading)),
    )


def _with_column(table: MeasuredTable, name: str) -> MeasuredTable:
    """Return a table with a column that is named so: of another case, where no other is."""
    alike = [heading for heading in table.headings if heading.lower() == name.lower()]
    if name in table.headings or len(alike) != 1:
        return table
    columns = {name if heading in alike else heading: c for heading, c in table.columns.items()}
    return MeasuredTable(table.name, tuple(columns), table.lines, columns)


def _throughputs(
    table: MeasuredTable, rate: RateColumn, clients: Sequence[int], rows: Sequence[int]
) -> tuple[float, ...]:
    """Return the throughputs (1/s) of rows; DataError where clients had none."""
    found = numbers_below(table, rate.heading, table.columns[rate.heading])
    for i in rows:
        if found.whole[i] <= 0:
            raise DataError(
                f"`{table.name}`, line {table.lines[i]}: {clients[i]} clients without throughput",
                "remove runs in which nothing was completed",
            )
    return tuple(float(found[i] * rate.factor) for i in rows)


def _check_times(
    table: MeasuredTable, rows: Sequence[int], columns: Sequence[tuple[float, tuple[float, ...]]]
) -> None:
    """Raise the first response time that cannot have been measured."""
    for _, times in columns:
        for i in rows:
            if not 0 < times[i] < inf:
                raise DataError(
                    f"`{table.name}`, line {table.lines[i]}: a response time is not above zero",
                    "measure it with more digits, or remove the column",
                )


def _demands(
    table: MeasuredTable, rows: Sequence[int], throughputs: Sequence[float], unit_of: UnitOf
) -> tuple[float, ...]:
    """Return processor times per item (s) of runs far from the largest throughput.

    Near it, cores may also be busy with waiting for each other.
    """
    busy = busy_cores(table, unit_of)
    if busy is None:
        return ()
    slowest = min(throughputs)
    limit = max(slowest, max(throughputs) / 2)
    pairs = zip(rows, throughputs, strict=True)
    return tuple(busy[i] / x for i, x in pairs if x <= limit and busy[i] > 0)


def _limit(
    table: MeasuredTable,
    rows: Sequence[int],
    throughputs: Sequence[float],
    unit_of: UnitOf,
    clients: Sequence[int],
) -> CpuLimit | None:
    """Return the throughput of busy cores, by the utilization law and the busiest run.

    Of less than half of the cores nothing follows: items get cheaper with the load.
    """
    busy = busy_cores(table, unit_of)
    is_one = CORES in table.headings and len(set(table.columns[CORES])) == 1
    cores = cores_of(table) if busy is not None and is_one else None
    if busy is None or cores is None:
        return None
    shares = [busy[row] / float(cores) for row in rows]
    most = max(range(len(rows)), key=shares.__getitem__)
    if not _LEAST_BUSY <= shares[most] <= _MOST_BUSY:
        return None
    reached = max(throughputs)
    return CpuLimit(max(reached, throughputs[most] / shares[most]), clients[most])


def _clients(table: MeasuredTable, by: str) -> Sequence[int]:
    """Return how many clients each run had; none in those of an idle system."""
    found = numbers_below(table, by, table.columns[by])
    counts = []
    for row in range(len(found)):
        value = found[row]
        place = f"`{table.name}`, line {table.lines[row]}"
        if value < 0 or value.denominator != 1:
            raise DataError(
                f"{place}: `{table.columns[by][row]}` in column `{by}` is not a number of clients",
                "write whole numbers",
            )
        if value > MOST_CLIENTS:
            raise DataError(
                f"{place}: {int(value):,} in column `{by}`, more than the limit of "
                f"{MOST_CLIENTS:,}",
                "remove these runs: fits to more clients take minutes",
            )
        counts.append(int(value))
    return counts


def _throughput(table: MeasuredTable, by: str, unit_of: UnitOf) -> RateColumn:
    """Return the column of the throughput: the only rate of items."""
    rates = [rate for rate in rate_columns(table, unit_of) if rate.heading != by]
    items = [rate for rate in rates if rate.item != INFORMATION_BASE] or rates
    if len(items) == 1:
        return items[0]
    if items:
        named = ", ".join(f"`{rate.heading}`" for rate in items)
        raise DataError(
            f"`{table.name}` has several columns with rates: {named}",
            "keep the one that counts completed requests",
        )
    raise DataError(f"`{table.name}` has no column with a throughput", rate_hint(table))
