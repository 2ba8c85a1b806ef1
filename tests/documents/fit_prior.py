"""How the numbers of `noise_prior` were found, and how well they do for tables left out.

`PYTHONPATH=tests python tests/documents/fit_prior.py`: of each table every row is left out once
(with those of its setting); of all but the public ones, whose log has this rule, the upper and the
lower half, too. Of a grid of numbers, those are used
that have the smallest interval score (the geometric mean of all tables) among those whose 90 %
intervals hold at least 90 % of the rows. Then each table is predicted by the numbers that all other
tables give.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from documents.fit_coverage import TABLES, predicted, rows_of
from qps.compiler.measurement import fit_spread, noise_prior

LABORATORY = Path(__file__).resolve().parents[2] / "laboratory"
_DIGITS = 10**6
_MISS = 20
_HOLDS = 0.9
_LIKE = 1.3
"""Loads that differ by less are alike: such tables are halved as they are written."""

Row = tuple[int, ...]
Numbers = tuple[float, float, float]
GRID: tuple[Numbers, ...] = tuple(
    product((0.006, 0.008, 0.012, 0.016), (1.2, 1.4, 1.6, 2.0), (1.0, 1.3, 1.6, 2.0))
)
"""The median of the noise, the spread of its logarithm, and the bend in units of the noise."""
_CAUSES = {
    "nginx, files of 1 to 64 kB": ("rate", "rate size"),
    "PostgreSQL, results of 100 to 40,000 bytes": ("rate", "rate size"),
    "Mosquitto, one message to 1 to 10 subscribers": (
        "rate",
        "rate hearers",
        "rate hearers size",
    ),
    "HAProxy before nginx: proxy": ("rate", "rate size"),
    "HAProxy before nginx: web, by nginx alone": ("rate", "rate size"),
}
"""Of the tables of the laboratory, what each load grows with: products of the settings."""


class Table(NamedTuple):
    """The load and what causes it, row by row, in whole numbers, and the setting of each row."""

    rows: list[Row]
    settings: list[str]
    has_halves: bool = True

    def only(self, chosen: Sequence[int]) -> Table:
        """Return some of the rows."""
        rows, settings = self.rows, self.settings
        return Table([rows[i] for i in chosen], [settings[i] for i in chosen])


def tables() -> dict[str, Table]:
    """Return all tables: published ones, those of the laboratory, and public ones."""
    found = {
        f"{one.file} {' '.join(value for _, value in one.only)} {one.rates[0]}": [*rows_of(one)]
        for one in TABLES
    }
    stored = json.loads((LABORATORY / "results.json").read_text(encoding="utf-8"))
    for part in stored.values():
        for name, rows in part["predictions"].items():
            if name in _CAUSES:
                found[name] = [*map(_measured, rows, [_CAUSES[name]] * len(rows))]
    every = {name: Table(rows, [*map(str, rows)]) for name, rows in found.items()}
    return every | dict(_public())


def _public() -> Iterator[tuple[str, Table]]:
    for path in sorted((LABORATORY / "questions" / "tables").glob("*.csv")):
        head, *body = csv.reader(path.read_text(encoding="utf-8").splitlines())
        columns = [i for i, name in enumerate(head) if name.endswith("/s")]
        if head[0].startswith("served"):
            loads, ones = [100.0] * len(body), []
        elif head[0].startswith("cpu"):
            loads, ones = [float(row[0]) for row in body], [_DIGITS]
        else:
            continue
        rows = [
            (round(_DIGITS * load), *ones, *(round(_DIGITS * float(row[i])) for i in columns))
            for load, row in zip(loads, body, strict=True)
        ]
        own = head.index("setting") if "setting" in head else None
        settings = [row[own] if own else ",".join(row) for row in body]
        yield path.stem, Table(rows, settings, has_halves=False)


def _measured(row: dict[str, str | float], causes: Sequence[str]) -> Row:
    settings = {a: float(b) for a, b in re.findall(r"(\w+) ([\d.]+)", str(row["name"]))}
    values = [1.0]
    for cause in causes:
        value = 1.0
        for word in cause.split():
            value *= settings[word]
        values.append(value)
    return (round(_DIGITS * float(row["measured"])), *(round(_DIGITS * v) for v in values))


def _cuts(table: Table) -> Iterator[tuple[Table, list[Row]]]:
    """Yield tables that are fitted, and rows that are predicted."""
    rows, settings, has_halves = table
    size, count = len(rows[0]) - 1, len(rows)
    for i, own in enumerate(settings):
        others = [j for j, other in enumerate(settings) if other != own]
        if len({settings[j] for j in others}) >= size:
            yield table.only(others), [rows[i]]
    if not has_halves:
        return
    loads = [row[0] for row in rows]
    order = list(range(count))
    if max(loads) > _LIKE * min(loads):
        order.sort(key=lambda i: rows[i])
    half = max(size, (count + 1) // 2)
    for near, far in ((order[:half], order[half:]), (order[-half:], order[:-half])):
        if len({settings[i] for i in near}) >= size:
            yield table.only(near), [rows[i] for i in far]


def scores(table: Table) -> list[tuple[bool, float]]:
    """Return of each prediction whether its interval holds, and its interval score."""
    found = []
    for near, unseen in _cuts(table):
        settings = near.settings if len(set(near.settings)) < len(near.rows) else None
        for row in unseen:
            try:
                missed, width = predicted(near.rows, row, settings)
            except AssertionError:  # columns that move together: no numbers
                continue
            beyond = max(0.0, abs(missed) - width)
            found.append((beyond == 0, 2 * width + _MISS * beyond))
    return found


def _with(numbers: Numbers, every: dict[str, Table]) -> dict[str, list[tuple[bool, float]]]:
    """Return the scores of all tables with other numbers than those in use."""
    noise, spread, bend = numbers
    before = fit_spread.expected_noise, noise_prior.BEND
    fit_spread.expected_noise = partial(  # type: ignore[attr-defined]
        noise_prior.expected_noise, noise=noise, spread=spread
    )
    noise_prior.BEND = bend
    try:
        return {name: scores(table) for name, table in every.items()}
    finally:
        fit_spread.expected_noise, noise_prior.BEND = before  # type: ignore[attr-defined]


def main() -> None:
    """Print the numbers that the tables give, and how each table does with those of the others."""
    found = tables()
    names = list(found)
    every = {numbers: _with(numbers, found) for numbers in GRID}

    def held(numbers: Numbers, of: Sequence[str]) -> float:
        return fmean(held for name in of for held, _ in every[numbers][name])

    def score(numbers: Numbers, of: Sequence[str]) -> float:
        return exp(fmean(log(fmean(own for _, own in every[numbers][name])) for name in of))

    def best(of: Sequence[str]) -> Numbers:
        holds = [numbers for numbers in GRID if held(numbers, of) >= _HOLDS]
        return min(holds or GRID, key=lambda numbers: score(numbers, of))

    def printed(numbers: Numbers, of: Sequence[str]) -> str:
        return f"{numbers}: holds {held(numbers, of):.3f}, interval score {score(numbers, of):.3f}"

    own = noise_prior.NOISE, noise_prior.SPREAD, noise_prior.BEND
    sys.stdout.write(f"in use {printed(own, names)}\nbest {printed(best(names), names)}\n")
    inside: list[bool] = []
    for name in names:
        numbers = best([other for other in names if other != name])
        ours = [is_held for is_held, _ in every[numbers][name]]
        inside += ours
        sys.stdout.write(f"{sum(ours)} of {len(ours)} by {numbers}: {name}\n")
    sys.stdout.write(f"tables left out: {sum(inside)} of {len(inside)}\n")


if __name__ == "__main__":
    main()
