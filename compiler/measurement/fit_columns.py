"""Which column of a table of measurements is what: the load, rates that cause it, others."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import NoReturn

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.compiler.measurement.cost_products import CostProduct
from qps.compiler.measurement.idle_counts import COUNT, IDLE_COUNT, loads_of_counts
from qps.compiler.measurement.measured_tables import DataError, MeasuredTable, NumberColumn, numbers
from qps.compiler.measurement.number_forms import MISSING
from qps.compiler.measurement.usual_headings import served_hint, with_usual_headings
from qps.compiler.quantities.dimension import (
    CORE,
    DIMENSIONLESS,
    INFORMATION_BASE,
    MONEY_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)

UnitOf = Callable[[str], "tuple[Fraction, Dimension] | None"]
"""Gives what one of a unit is in base units, and its dimension; None for what is no unit."""

SERVED = "served"
"""What a column of rates is headed by, where they were served: `served in request/s`."""

GROUPS = ("machine", "host", "run", "day")
"""What columns are headed by of which rows that are alike have more in common than their rates."""

SETTING = "setting"
"""What a column is headed by in which rows that are alike are repetitions of one setting."""

CORES = "cores"
"""What a column is headed by that says how many cores the loads of a table are shares of."""

MARK = ("repetitions", "spread in %")
"""Columns by which a table is recognized as one of `qps measure`."""
_REPORT_COLUMNS = (
    r"repetitions|(?:spread|generator|others|stolen) in %|(?:requested|asked) \w+|\w+ each"
)
"""What such a table heads by which says how a row was measured: neither loads nor rates."""

MEAN_LATENCY = "latency mean, ms"
_OBSERVED = r"time|file|users|users, mean|share failed|latency .+, ms"
"""What `qps observe` heads by which says when runs were and how they went."""

LOADS = frozenset(
    [
        "cpu",
        "load",
        "utilization",
        "utilisation",
        "usage",
        "util",
        "busy",
        "processor",
        "processors",
    ]
)
"""What a column may be called that is the load, where none is named."""
_LIKELY_LOAD = r"(?i)\b(?:cpu|processors?|load|utili[sz]ation)\b"
"""What a heading has in it that was probably meant as the load."""
_MOST_RATES = 10
_MOST_NAMED = 5
NAMED_COLUMN = r"(?P<name>\w+)(?:\s+in\s+(?P<unit>.+))?"
"""A heading that is a name, with or without a unit."""
_CORES = "core"


class FitColumns(Struct, frozen=True, kw_only=True):
    """How a table is read: which column is the load of `processors`, which do the work of `cores`.

    Both are None where the table itself is to say so. `resource` is None where the table has only
    one column that can be the load. `has_fixed` is False where nothing is there without any work;
    `is_served` where the rates are what was served, not what was requested, so that a saturated
    machine shows what items cost; `skips_missing` where rows without a load or a rate are left out,
    and not refused. `costs` are those that are fitted: else one for each column of rates.
    """

    resource: str | None
    cores: Fraction | None
    processors: Fraction | None
    has_fixed: bool = True
    is_served: bool = False
    skips_missing: bool = False
    costs: tuple[CostProduct, ...] = ()

    @property
    def factors(self) -> frozenset[str]:
        """The names of the columns that costs are multiplied by."""
        along = [cost.curve.column for cost in self.costs if cost.curve is not None]
        return frozenset([name for cost in self.costs for name, _ in cost.factors] + along)


class RateColumn(Struct, frozen=True):
    """A column of rates of an item; `factor` of one of its unit is in base units."""

    heading: str
    item: str
    factor: Fraction
    is_served: bool


class LoadColumn(Struct, frozen=True):
    """The column of the load, as a share of the machine; no heading where each row is full."""

    heading: str | None
    name: str
    factor: Fraction
    unit: str


def rate_columns(table: MeasuredTable, unit_of: UnitOf) -> list[RateColumn]:
    """Return each column that is a rate."""
    found = []
    for heading in table.headings:
        named = re.fullmatch(NAMED_COLUMN, heading)
        unit = unit_of(named["unit"] if named and named["unit"] else heading)
        item = None if unit is None else (unit[1] * TIME).single_base
        if unit is not None and item not in (None, TIME_BASE, MONEY_BASE):
            assert item is not None
            served = named is not None and named["name"] == SERVED and bool(named["unit"])
            found.append(RateColumn(heading, item, unit[0], served))
    if len(found) > _MOST_RATES:
        raise DataError(
            f"`{table.name}` has {len(found)} columns with rates, more than the limit of "
            f"{_MOST_RATES}",
            "keep only those that cause utilization",
        )
    return found


def usually_headed(
    table: MeasuredTable, resource: str | None, unit_of: UnitOf, *named_too: str
) -> MeasuredTable:
    """Return a table headed as QPS heads its columns: `rps` and `CPU (%)` are usual names, too.

    What has a meaning as it is stays, and the column of a `resource` or other names that are used.
    """
    unchanged = list(report_columns(table))
    for heading in table.headings:
        named = re.fullmatch(NAMED_COLUMN, heading)
        unit = unit_of(named["unit"] if named and named["unit"] else heading)
        if unit is not None or (named is not None and named["name"] in (resource, *named_too)):
            unchanged.append(heading)
    return with_usual_headings(table, unchanged, lambda unit: unit_of(unit) is not None)


def groups_of(table: MeasuredTable) -> tuple[str, ...] | None:
    """Return where or when each row was measured; None where no column says so."""
    columns = [table.columns[heading] for heading in table.headings if heading in GROUPS]
    return tuple(map(", ".join, zip(*columns, strict=True))) if columns else None


def report_columns(table: MeasuredTable) -> frozenset[str]:
    """Return the columns that say how rows were measured: neither loads nor rates."""
    known = frozenset(table.headings) & {*GROUPS, SETTING, IDLE_COUNT, CORES}
    known |= {heading for heading in table.headings if re.fullmatch(_OBSERVED, heading)}
    if not set(MARK) <= set(table.headings):
        return known
    return known.union(
        heading for heading in table.headings if re.fullmatch(_REPORT_COLUMNS, heading)
    )


def cores_of(table: MeasuredTable) -> Fraction | None:
    """Return of how many cores the loads of a table are shares; None where no column says so."""
    if CORES not in table.headings:
        return None
    found = numbers_below(table, CORES, table.columns[CORES])
    counts = {found[row] for row in range(len(found))}
    if len(counts) > 1 or min(counts) <= 0:
        counts_text = [f"{float(one):g}" for one in sorted(counts)][:_MOST_NAMED]
        raise DataError(
            f"column `{CORES}` of `{table.name}` must have one value, and has "
            f"{listed(counts_text, 'and')}",
            "fit each machine separately; a column of busy cores is named `cpu in core`",
        )
    return counts.pop()


def with_cores(table: MeasuredTable, reading: FitColumns) -> FitColumns:
    """Return how a table is read, with the cores that it names itself; DataError where they differ.

    None of both may say them.
    """
    counted, named = reading.processors, cores_of(table)
    if named is None:
        return reading
    if counted is None:
        return replace(reading, cores=named, processors=named)
    if named != counted:
        raise DataError(
            f"column `{CORES}` of `{table.name}` specifies {_cores(named)}, not {_cores(counted)}",
            "correct `--cores`, the cores in the spec, or the column",
        )
    return reading


def fit_command(table: MeasuredTable, reading: FitColumns) -> str:
    """Return the command that fits the same, but for its last flags."""
    is_needed = reading.processors is not None and CORES not in table.headings
    cores = f" --cores {float(reading.processors or 1):g}" * is_needed
    costs = "".join(f" --per '{cost.written}'" for cost in reading.costs)
    return f"qps fit {table.name}{cores}{costs}"


def _cores(count: Fraction) -> str:
    return f"{float(count):g} core{'s' * (count != 1)}"


def need_cores(table: MeasuredTable, column: LoadColumn) -> None:
    """Raise where a load is a share of nobody knows how many cores."""
    if column.heading is None or column.unit == _CORES:
        return
    raise DataError(
        f"`{table.name}` does not specify how many cores `{column.heading}` refers to",
        f"add `--cores 4`, or a column `{CORES}`",
    )


def load_column(
    table: MeasuredTable, reading: FitColumns, rates: Sequence[RateColumn], unit_of: UnitOf
) -> LoadColumn:
    """Return the column that holds the load."""
    resource = reading.resource
    found: dict[str, LoadColumn] = {}
    others: list[str] = []
    passed = report_columns(table) | {rate.heading for rate in rates}
    for heading in table.headings:
        named = re.fullmatch(NAMED_COLUMN, heading)
        if named is None or heading in passed or named["name"] in reading.factors:
            continue
        column = LoadColumn(heading, named["name"], Fraction(1), "")
        if named["unit"]:
            unit = unit_of(named["unit"])
            if unit is None:
                raise DataError(
                    f"`{table.name}`: `{named['unit']}` in the heading `{heading}` is not a unit",
                    "write a heading such as `cpu in %`",
                )
            factor, dimension = unit
            if dimension not in (DIMENSIONLESS, CORE):
                continue
            in_cores = dimension == CORE
            factor = factor / (reading.processors or 1) if in_cores else factor
            column = LoadColumn(heading, named["name"], factor, _CORES if in_cores else "%")
        is_named = named["name"] == (resource or "cpu") and (resource or column.unit)
        if is_named or _may_be_load(table, column, is_served=reading.is_served):
            if resource is None and not is_named and not _is_called_load(table, column):
                others.append(named["name"])
            else:
                found[named["name"]] = column
    return _chosen(table, reading, rates, found, others)


def _is_called_load(table: MeasuredTable, column: LoadColumn) -> bool:
    """Return whether a column says that it is a load: by its name, its unit, or who wrote it."""
    is_measured = bool(column.unit) and set(MARK) <= set(table.headings)
    return column.unit == _CORES or column.name.lower() in LOADS or is_measured


def _chosen(
    table: MeasuredTable,
    reading: FitColumns,
    rates: Sequence[RateColumn],
    found: dict[str, LoadColumn],
    others: Sequence[str],
) -> LoadColumn:
    """Return the load of those columns that may be it; `others` only have numbers like one."""
    resource = reading.resource
    if resource is not None and resource in found:
        return found[resource]
    if resource is None and len(found) == 1:
        return next(iter(found.values()))
    with_units = [column for column in found.values() if column.unit]
    if resource is None and len(with_units) == 1:
        return with_units[0]
    if resource is None and found:
        raise DataError(
            f"`{table.name}` has several possible utilization columns: {', '.join(found)}",
            "name one: " + listed([f"--resource {name}" for name in found], "or"),
        )
    if COUNT in table.headings:
        return LoadColumn(COUNT, resource or "cpu", Fraction(1), "")
    if reading.is_served:
        return LoadColumn(None, resource or "cpu", Fraction(1), "")
    likely = [
        h for h in table.headings if re.search(_LIKELY_LOAD, h) and h not in report_columns(table)
    ]
    if resource is None and likely:
        raise DataError(
            f"`{table.name}` has no column for CPU utilization",
            f"rename `{likely[0]}` to `cpu in %`, or to `cpu in core` for busy cores",
        )
    items = [rate.heading for rate in rates if rate.item != INFORMATION_BASE]
    if others:
        named = listed([f"--resource {name}" for name in others[:_MOST_NAMED]], "or")
        raise DataError(
            f"`{table.name}` has no column for CPU utilization",
            f"rename the column to `cpu in %`, or name it: {named}{served_hint(table, items)}",
        )
    raise DataError(
        f"`{table.name}` has no column for the utilization of `{resource or 'cpu'}`",
        did_you_mean(resource or "", found)
        or f"name it `{resource or 'cpu'} in %`{served_hint(table, items)}",
    )


def _may_be_load(table: MeasuredTable, column: LoadColumn, *, is_served: bool) -> bool:
    """Return whether a column may be the load: numbers, but for cells where none was measured.

    Of rates that were served each may be that of a full machine: then a load says so.
    """
    if is_served and not column.unit:
        return False
    assert column.heading is not None
    bare = (cell.removesuffix("%").rstrip() for cell in table.columns[column.heading])
    measured = [cell for cell in bare if cell.lower() not in MISSING]
    return bool(measured) and not isinstance(numbers(measured), int)


def load_numbers(
    table: MeasuredTable, column: LoadColumn, rates: Sequence[NumberColumn]
) -> NumberColumn:
    """Return the loads, as shares of the machine; rows without any of `rates` are idle ones."""
    if column.heading is None:
        return NumberColumn((1,) * len(table.lines), Fraction(1))
    if column.heading == COUNT:
        return loads_of_counts(
            table, lambda heading: numbers_below(table, heading, table.columns[heading]), rates
        )
    cells = table.columns[column.heading]
    shares = [cell.endswith("%") for cell in cells]
    factor = column.factor
    if any(shares):
        if not all(shares) and factor != Fraction(1, 100):
            row = shares.index(False) if shares[0] else shares.index(True)
            raise DataError(
                f"`{table.name}`, line {table.lines[row]}: some cells of column "
                f"`{column.heading}` have a `%`, others do not",
                f"write all cells the same way, and name the column `{column.name} in %`",
            )
        cells = tuple(cell.removesuffix("%").rstrip() for cell in cells)
        factor = Fraction(1, 100)
    found = numbers_below(table, column.heading, cells)
    return NumberColumn(found.whole, found.unit * factor)


def numbers_below(table: MeasuredTable, heading: str, cells: Sequence[str]) -> NumberColumn:
    """Return the numbers in the cells of a column."""
    row = numbers(cells)
    if isinstance(row, NumberColumn):
        return row
    cell = table.columns[heading][row]
    message = f"`{cell}` in column `{heading}` is not a number" if cell else f"`{heading}` is empty"
    hint = "write plain numbers with `.` for decimals"
    if cell.lower() in MISSING:
        hint = "remove rows with missing values"
    raise DataError(f"`{table.name}`, line {table.lines[row]}: {message}", hint)


def refuse_load(table: MeasuredTable, row: int, column: LoadColumn, load: Fraction) -> NoReturn:
    """Raise what is wrong with a load that no machine can have."""
    place = f"`{table.name}`, line {table.lines[row]}"
    if column.unit == _CORES:
        busy = load / column.factor
        raise DataError(
            f"{place}: {float(busy):,g} of {float(1 / column.factor):,g} cores are busy",
            "specify the number of cores: `--cores 8`, or in the machine of the spec",
        )
    hundredths = f"for percentages name it `{column.name} in %`; "
    raise DataError(
        f"{place}: a utilization of {float(load * 100):,g} %",
        hundredths * (not column.unit) + f"for busy cores name it `{column.name} in core`",
    )


def is_other_path(rates: Sequence[int], columns: Sequence[RateColumn]) -> bool:
    """Return whether items pass without a byte: servers have a code path of their own for them."""
    items = [v for v, c in zip(rates, columns, strict=True) if c.item != INFORMATION_BASE]
    bits = [v for v, c in zip(rates, columns, strict=True) if c.item == INFORMATION_BASE]
    return bool(bits) and not any(bits) and any(items)
