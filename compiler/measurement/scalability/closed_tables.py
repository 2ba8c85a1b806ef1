"""Tables of closed load tests: how many clients there were, and the throughput they had.

    threads,request/s,latency in ms
    1,812,1.23
    8,5410,1.48

The column of clients is named by whoever requests the fit. The throughput is the one rate of items
per time; other columns are not used.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from qps.compiler.diagnostics.suggest import closest
from qps.compiler.measurement.fit_columns import (
    RateColumn,
    UnitOf,
    looks_like_rate,
    numbers_below,
    rate_columns,
)
from qps.compiler.measurement.measured_tables import DataError, Table
from qps.compiler.quantities.dimension import INFORMATION_BASE

MOST_CLIENTS = 1024
"""Clients up to which a station's speeds are listed one by one."""
_FEWEST_SETTINGS = 2
_MOST_NAMED = 5


class ClosedTable(Struct, frozen=True, kw_only=True):
    """Runs of a closed load test: clients, and completed items per second, row by row."""

    file: str
    by: str
    item: str
    lines: tuple[int, ...]
    clients: tuple[int, ...]
    throughputs: tuple[float, ...]

    @property
    def most(self) -> int:
        """The largest number of clients."""
        return max(self.clients)


def closed_table(table: Table, by: str, unit_of: UnitOf) -> ClosedTable:
    """Return the runs of a table by its column of clients; DataError where it is none."""
    if by not in table.headings:
        near = closest(by, table.headings)
        named = ", ".join(f"`{one}`" for one in table.headings[:_MOST_NAMED])
        raise DataError(
            f"`{table.name}` has no column `{by}`",
            f"did you mean `{near}`?" if near else f"its columns are {named}",
        )
    clients = _clients(table, by)
    rate = _throughput(table, by, unit_of)
    found = numbers_below(table, rate.heading, table.columns[rate.heading])
    rows = [i for i, count in enumerate(clients) if count]
    throughputs = [float(found[i] * rate.factor) for i in rows]
    for i, throughput in zip(rows, throughputs, strict=True):
        if throughput <= 0:
            raise DataError(
                f"`{table.name}`, line {table.lines[i]}: {clients[i]} clients without throughput",
                "remove runs in which nothing was completed",
            )
    settings = {clients[i] for i in rows}
    if len(settings) < _FEWEST_SETTINGS:
        raise DataError(
            f"all runs of `{table.name}` have the same number in column `{by}`",
            "measure with at least three different numbers, from 1 to beyond the peak throughput",
        )
    return ClosedTable(
        file=table.name,
        by=by,
        item=rate.item,
        lines=tuple(table.lines[i] for i in rows),
        clients=tuple(clients[i] for i in rows),
        throughputs=tuple(throughputs),
    )


def _clients(table: Table, by: str) -> Sequence[int]:
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
                "remove these runs, or count in processes or connections instead",
            )
        counts.append(int(value))
    return counts


def _throughput(table: Table, by: str, unit_of: UnitOf) -> RateColumn:
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
    likely = [heading for heading in table.headings if looks_like_rate(heading)]
    hint = f"rename `{likely[0]}` to its unit, such as `request/s`" if likely else ""
    raise DataError(
        f"`{table.name}` has no column with a throughput",
        hint or "name the column by its unit: `request/s` or `query/s`",
    )
