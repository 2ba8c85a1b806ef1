"""Costs fitted to measurements: load = fixed + so much per item + so much per byte.

A table has a column for the load (`cpu in %`) and a column for each rate that causes it, whose
heading is its unit (`packet/s`, `Mbit/s`). The coefficients are those of ordinary least squares,
solved exactly: the normal equations in fractions, so that a spec has the same numbers on every
machine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from qps.compiler.dimension import (
    DIMENSIONLESS,
    INFORMATION_BASE,
    MONEY_BASE,
    TIME,
    TIME_BASE,
    Dimension,
)
from qps.compiler.suggest import did_you_mean, listed
from qps.compiler.tables import Problem, Table, number

UnitOf = Callable[[str], "tuple[Fraction, Dimension] | None"]
"""Gives what one of a unit is in base units, and its dimension; None for what is no unit."""

LOW_LOAD = Fraction(1, 2)
"""Load below which costs per item are higher than under load: work is done in batches there."""

SATURATED = Fraction(99, 100)
"""Load from which a row tells no cost: what is asked for beyond it is not served."""

_HIGHEST_LOAD = Fraction(101, 100)
"""Load above which none can have been measured: shares are rounded, and sums of them more so."""

_NAMED = re.compile(r"(?P<name>\w+)(?:\s+in\s+(?P<unit>.+))?")


@dataclass(frozen=True, slots=True)
class FitTerm:
    """A coefficient: seconds of one processor for each of an item (a bit for information)."""

    heading: str
    item: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class FitRow:
    """A row: the load of the whole machine and the rates in base units.

    It is not used where items pass without any bytes, or where the machine `is_saturated`.
    """

    line: int
    load: Fraction
    rates: tuple[Fraction, ...]
    is_of_other_path: bool

    @property
    def is_saturated(self) -> bool:
        """True where the machine was full: more would have been asked for than it served."""
        return self.load >= SATURATED

    @property
    def is_used(self) -> bool:
        """True where the row tells what items cost."""
        return not (self.is_of_other_path or self.is_saturated)


@dataclass(frozen=True, slots=True)
class Fit:
    """Costs fitted to a table: `fixed` is the load of the whole machine that is always there.

    `cores` is how many processors share the load; `left_out` names the columns that were not used.
    """

    file: str
    resource: str
    cores: Fraction
    fixed: Fraction
    terms: tuple[FitTerm, ...]
    rows: tuple[FitRow, ...]
    left_out: tuple[str, ...]

    @property
    def used(self) -> tuple[FitRow, ...]:
        """The rows that the numbers were fitted to."""
        return tuple(row for row in self.rows if row.is_used)

    @property
    def loads(self) -> tuple[Fraction, Fraction]:
        """The least and the greatest load that was measured."""
        loads = [row.load for row in self.used]
        return min(loads), max(loads)

    def predicted(self, row: FitRow) -> Fraction:
        """Return the load that the fitted costs give for a row."""
        work = sum((t.value * r for t, r in zip(self.terms, row.rates, strict=True)), Fraction(0))
        return self.fixed + work / self.cores


def fitted(table: Table, resource: str | None, cores: Fraction, unit_of: UnitOf) -> Fit | Problem:
    """Return the costs that fit a table best.

    `resource` names the column of the load; None where the table has only one that can be it.
    Rows that move items without any bytes are another code path, and those of a saturated machine
    tell no cost: they are read, but not used.
    """
    rates = _rates(table, unit_of)
    load = _load(table, resource, rates, unit_of)
    if isinstance(load, Problem):
        return load
    heading, name, unit = load
    if not rates:
        return Problem(
            f"`{table.name}` has no column with a rate",
            "head it with its unit: `packet/s`, `request/s`, `byte/s`, `Mbit/s`",
        )
    headings = (heading, *(head for head, _, _ in rates))
    rows: list[FitRow] = []
    for line, cells in table.rows:
        values = [number(cells[h]) for h in headings]
        bad = [h for h, v in zip(headings, values, strict=True) if v is None]
        if bad:
            return _no_number(table, line, bad[0], cells[bad[0]])
        first, *rest = [value for value in values if value is not None]
        scaled = tuple(v * factor for v, (_, _, factor) in zip(rest, rates, strict=True))
        if first < 0 or min(scaled) < 0:
            return Problem(f"`{table.name}`, line {line}: a load or rate is below zero")
        if first * unit > _HIGHEST_LOAD:
            return _too_high(table, line, name, first * unit, is_share=unit == 1)
        rows.append(FitRow(line, first * unit, scaled, _is_empty(scaled, rates)))
    solved = _least_squares(table, rows, rates, cores)
    if isinstance(solved, Problem):
        return solved
    terms = tuple(
        FitTerm(head, item, value) for (head, item, _), value in zip(rates, solved[1:], strict=True)
    )
    used = {heading, *(head for head, _, _ in rates)}
    left_out = tuple(h for h in table.headings if h not in used)
    return Fit(table.name, name, cores, solved[0], terms, tuple(rows), left_out)


_Rate = tuple[str, str, Fraction]


def _rates(table: Table, unit_of: UnitOf) -> list[_Rate]:
    """Return heading, item and factor of each column that is a rate."""
    found = []
    for heading in table.headings:
        named = _NAMED.fullmatch(heading)
        unit = unit_of(named["unit"] if named and named["unit"] else heading)
        item = None if unit is None else (unit[1] * TIME).single_base
        if unit is not None and item not in (None, TIME_BASE, MONEY_BASE):
            assert item is not None
            found.append((heading, item, unit[0]))
    return found


def _load(
    table: Table, resource: str | None, rates: Sequence[_Rate], unit_of: UnitOf
) -> tuple[str, str, Fraction] | Problem:
    """Return heading, name and factor of the column that holds the load."""
    found: dict[str, tuple[str, str, Fraction]] = {}
    for heading in table.headings:
        named = _NAMED.fullmatch(heading)
        if named is None or heading in {rate[0] for rate in rates}:
            continue
        factor, dimension = (Fraction(1), DIMENSIONLESS)
        if named["unit"]:
            unit = unit_of(named["unit"])
            if unit is None:
                return Problem(
                    f"`{table.name}`: `{named['unit']}` in the heading `{heading}` is no unit",
                    "write it like `cpu in %`",
                )
            factor, dimension = unit
        named_one = named["name"] == resource
        if dimension == DIMENSIONLESS and (named_one or _is_numeric(table, heading)):
            found[named["name"]] = (heading, named["name"], factor)
    if resource is not None and resource in found:
        return found[resource]
    if resource is None and len(found) == 1:
        return next(iter(found.values()))
    if resource is None and found:
        return Problem(
            f"`{table.name}` has several columns that may be the load: {', '.join(found)}",
            "name the one that is meant: " + listed([f"--resource {name}" for name in found], "or"),
        )
    return Problem(
        f"`{table.name}` has no column with the load of `{resource or 'cpu'}`",
        did_you_mean(resource or "", found) or f"head it `{resource or 'cpu'} in %`",
    )


def _is_numeric(table: Table, heading: str) -> bool:
    return all(number(cells[heading]) is not None for _, cells in table.rows)


def _no_number(table: Table, line: int, heading: str, cell: str) -> Problem:
    told = f"`{cell}` in column `{heading}` is no number" if cell else f"`{heading}` is empty"
    return Problem(f"`{table.name}`, line {line}: {told}", "write plain numbers, `.` for decimals")


def _too_high(table: Table, line: int, name: str, load: Fraction, *, is_share: bool) -> Problem:
    hundredths = f"head it `{name} in %` if hundredths are meant; "
    return Problem(
        f"`{table.name}`, line {line}: a load of {float(load * 100):,g} % of the machine",
        hundredths * is_share + "a load in cores is divided by their number first",
    )


def _is_empty(rates: Sequence[Fraction], columns: Sequence[_Rate]) -> bool:
    """Return whether items pass without a byte: servers have a code path of their own for them."""
    items = [v for v, (_, item, _) in zip(rates, columns, strict=True) if item != INFORMATION_BASE]
    bits = [v for v, (_, item, _) in zip(rates, columns, strict=True) if item == INFORMATION_BASE]
    return bool(bits) and not any(bits) and any(items)


def _least_squares(
    table: Table, rows: Sequence[FitRow], rates: Sequence[_Rate], cores: Fraction
) -> list[Fraction] | Problem:
    """Return the fixed load and the coefficients that minimise the squared residuals."""
    used = [row for row in rows if row.is_used]
    count = len(rates) + 1
    if len(used) < count:
        return Problem(
            f"`{table.name}` has {len(used)} rows to fit {count} numbers to",
            f"measure at least {count} runs that differ in every rate"
            + ("; rows without any bytes do not count" * any(r.is_of_other_path for r in rows))
            + ("; rows of a saturated machine do not count" * any(r.is_saturated for r in rows)),
        )
    matrix = [[Fraction(1), *(rate / cores for rate in row.rates)] for row in used]
    loads = [row.load for row in used]
    normal = [
        [sum((row[i] * row[j] for row in matrix), Fraction(0)) for j in range(count)]
        + [sum((row[i] * load for row, load in zip(matrix, loads, strict=True)), Fraction(0))]
        for i in range(count)
    ]
    solved = _eliminated(normal)
    if solved is None:
        return Problem(
            f"the rates in `{table.name}` move together, so that their costs cannot be told apart",
            "measure with items of different sizes, at different rates; or leave a column out",
        )
    return solved


def _eliminated(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of linear equations, by Gauss and Jordan; None where there is no one."""
    size = len(rows)
    for column in range(size):
        pivot = next((i for i in range(column, size) if rows[i][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        first = rows[column][column]
        rows[column] = [value / first for value in rows[column]]
        for i in range(size):
            if i != column and rows[i][column]:
                factor = rows[i][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[column], strict=True)]
    return [row[-1] for row in rows]
