"""What the laboratory found: each part of it with its own date and machine, kept as a page.

`results.json` has the numbers, so that one part can be measured anew; `results.md` and the picture
are made of it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from predictions import Prediction, summary
from qps.reports.text.layout.table import Table

HERE = Path(__file__).parent
HEADINGS = (
    "Prediction",
    "Settings",
    "Median error",
    "90th percentile",
    "Worst",
    "Within 90 % interval",
    "Repeatability",
)
_HEAD = """# Predictions compared with real servers

Measured by `python laboratory --keep`: servers and load generators on loopback.

Leave-one-out cross-validation: the CPU time of each setting is predicted from a fit to all \
others, with a prediction interval for one more run. A composed system is predicted from its \
parts, a closed workload from one of its runs. Repeatability is the range of three repetitions, \
as the median over all settings; no prediction can be much closer than a third of it. The reasons \
for misses are below. \
[A guide](../docs/guides/service-demands/when-one-cost-is-not-enough.md) shows how a spec models \
them.
"""
_PICTURE = """
![Predicted and measured CPU time of each setting, with prediction intervals](results.svg)
"""
_NOT_THERE = """
Not measured: coturn. Its client sends at most 1,000 packets/s, too little CPU time to fit service \
demands; no other load generator was tried.
"""


class LaboratoryResult(msgspec.Struct, frozen=True, kw_only=True):
    """The rows of one part, when and where they were measured, and what to know of them."""

    date: str
    machine: str
    rows: list[tuple[str, ...]]
    notes: list[str]
    predictions: dict[str, list[Prediction]] = {}

    @classmethod
    def of(
        cls,
        found: Sequence[tuple[str, list[Prediction]]],
        notes: Sequence[str],
        old: LaboratoryResult | None,
    ) -> LaboratoryResult:
        """Return what was found: measured just now on this machine, or when `old` was measured."""
        rows = [(title, *summary(predictions)) for title, predictions in found]
        predictions = {title: [one.rounded() for one in each] for title, each in found}
        if old is not None:
            return msgspec.structs.replace(
                old, rows=rows, notes=list(notes), predictions=predictions
            )
        about = os.uname()
        return cls(
            date=f"{datetime.now(UTC):%d %B %Y}",
            machine=f"{os.cpu_count()} cores, {about.sysname} {about.release}; "
            f"load average {os.getloadavg()[0]:.1f} at the end",
            rows=rows,
            notes=list(notes),
            predictions=predictions,
        )


def results_in(folder: Path = HERE) -> dict[str, LaboratoryResult]:
    """Return what was found so far, by the names of the parts."""
    path = folder / "results.json"
    if not path.exists():
        return {}
    return msgspec.json.decode(path.read_bytes(), type=dict[str, LaboratoryResult])


def stored(
    name: str, result: LaboratoryResult, order: Sequence[str], folder: Path = HERE
) -> dict[str, LaboratoryResult]:
    """Keep what was found of one part, beside that of the others, and write the page anew.

    All of it is returned.
    """
    found = results_in(folder) | {name: result}
    ordered = {one: found[one] for one in order if one in found}
    text = msgspec.json.format(msgspec.json.encode(ordered), indent=1)
    (folder / "results.json").write_bytes(text + b"\n")
    (folder / "results.md").write_text(page(ordered), encoding="utf-8")
    return ordered


def page(found: dict[str, LaboratoryResult]) -> str:
    """Return the page: one table, and what to know of each part."""
    rows = tuple(
        (*row[:3], f"{_aim(row[0])} %", *row[3:]) for one in found.values() for row in one.rows
    )
    headings = (*HEADINGS[:3], "Target", *HEADINGS[3:])
    table = Table(headings, rows, frozenset(range(1, 8))).as_markdown()
    parts = [
        f"\n## {name}\n\n{one.date}; {one.machine}.\n\n" + "\n\n".join(one.notes) + "\n"
        for name, one in found.items()
    ]
    return f"{_HEAD}\n{table}\n{_PICTURE}{_NOT_THERE}" + "".join(parts)


def _aim(title: str) -> int:
    """Return how many % the median error of a part is to be below, by what is predicted."""
    if "response time" in title:
        return 25
    return 15 if " before " in title else 10
