"""How the numbers of `noise_prior` were found, and how well they do for tables left out.

`PYTHONPATH=tests python tests/documents/fit_prior.py`: of each table every row is left out once,
and its upper and its lower half. Of a grid of numbers, those are used that have the smallest mean
interval score (as a share of the score of each table with the numbers in use) among those whose
90 % intervals hold at least 90 % of the rows. Then each table is predicted by the numbers that all
other tables give.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from statistics import fmean

from documents.fit_coverage import TABLES, predicted, rows_of
from qps.compiler.measurement import fit_spread, noise_prior

_LABORATORY = Path(__file__).resolve().parents[2] / "laboratory" / "results.json"
_DIGITS = 10**6
_MISS = 20
_HOLDS = 0.9
_LIKE = 1.3
"""Loads that differ by less are alike: such tables are halved as they are written."""

Row = tuple[int, ...]
Numbers = tuple[int, float, float]
GRID: tuple[Numbers, ...] = (
    *product((2, 3, 4), (0.02, 0.03, 0.04, 0.05), (1e-9, 0.04, 0.06, 0.08, 0.12)),
)
"""How many rows are expected, with which noise, and which bend."""
_HTTPS = "https_server/nginx_https.csv"
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


def tables() -> dict[str, list[Row]]:
    """Return the rows of all tables: the load and what causes it, in whole numbers."""
    found = {
        f"{one.file} {' '.join(value for _, value in one.only)} {one.rates[0]}": [*rows_of(one)]
        for one in TABLES
    }
    stored = json.loads(_LABORATORY.read_text(encoding="utf-8"))
    for part in stored.values():
        for name, rows in part["predictions"].items():
            if name in _CAUSES:
                found[name] = [*map(_measured, rows, [_CAUSES[name]] * len(rows))]
    return found


def _measured(row: dict[str, str | float], causes: Sequence[str]) -> Row:
    settings = {a: float(b) for a, b in re.findall(r"(\w+) ([\d.]+)", str(row["name"]))}
    values = [1.0]
    for cause in causes:
        value = 1.0
        for word in cause.split():
            value *= settings[word]
        values.append(value)
    return (round(_DIGITS * float(row["measured"])), *(round(_DIGITS * v) for v in values))


def _cuts(rows: list[Row]) -> Iterator[tuple[list[Row], list[Row]]]:
    """Yield rows that are fitted, and others that are predicted."""
    size = len(rows[0]) - 1
    loads = [row[0] for row in rows]
    ordered = sorted(rows) if max(loads) > _LIKE * min(loads) else rows
    half = max(size, (len(rows) + 1) // 2)
    for i, row in enumerate(rows):
        if len(rows) > size:
            yield [*rows[:i], *rows[i + 1 :]], [row]
    yield ordered[:half], ordered[half:]
    yield ordered[-half:], ordered[:-half]


def scores(rows: list[Row]) -> list[tuple[bool, float]]:
    """Return of each prediction whether its interval holds, and its interval score."""
    found = []
    for fitted, unseen in _cuts(rows):
        for row in unseen:
            missed, width = predicted(fitted, row)
            beyond = max(0.0, abs(missed) - width)
            found.append((beyond == 0, 2 * width + _MISS * beyond))
    return found


def _with(numbers: Numbers, rows: dict[str, list[Row]]) -> dict[str, list[tuple[bool, float]]]:
    """Return the scores of all tables with other numbers than those in use."""
    before = noise_prior.NOISE_ROWS, noise_prior.NOISE, noise_prior.BEND
    noise_prior.NOISE_ROWS, noise_prior.NOISE, noise_prior.BEND = numbers
    fit_spread.NOISE_ROWS = numbers[0]  # type: ignore[attr-defined]
    try:
        return {name: scores(table) for name, table in rows.items()}
    finally:
        noise_prior.NOISE_ROWS, noise_prior.NOISE, noise_prior.BEND = before
        fit_spread.NOISE_ROWS = before[0]  # type: ignore[attr-defined]


def main() -> None:
    """Print the numbers that the tables give, and how each table does with those of the others."""
    rows = tables()
    names = list(rows)
    every = {numbers: _with(numbers, rows) for numbers in GRID}
    own = every[noise_prior.NOISE_ROWS, noise_prior.NOISE, noise_prior.BEND]
    scale = {name: fmean(score for _, score in own[name]) for name in names}

    def best(of: Sequence[str]) -> Numbers:
        holds = [
            numbers
            for numbers in GRID
            if fmean(held for name in of for held, _ in every[numbers][name]) >= _HOLDS
        ]
        return min(
            holds,
            key=lambda n: fmean(
                fmean(score for _, score in every[n][name]) / scale[name] for name in of
            ),
        )

    sys.stdout.write(f"all tables: {best(names)}\n")
    held: list[bool] = []
    for name in names:
        numbers = best([other for other in names if other != name])
        ours = [is_held for is_held, _ in every[numbers][name]]
        held += ours
        sys.stdout.write(f"{sum(ours)} of {len(ours)} by {numbers}: {name}\n")
    sys.stdout.write(f"tables left out: {sum(held)} of {len(held)}\n")


if __name__ == "__main__":
    main()
