"""What a row takes along every axis of every spec."""

from __future__ import annotations

from pathlib import Path

from measures import APPLICATIONS, S_OF_TARGETS, SPECS, along
from timings import TimingTable


def all_axes() -> TimingTable:
    """Return what a row takes along every axis of every spec."""
    rows = []
    for path in specs():
        found, took, unit = along(path)
        numbers = sorted(
            (float(str(one["us"])) * S_OF_TARGETS / unit, str(one["axis"]))
            for one in found
            if one["axis"] != "choices"
        )
        choices = [
            (float(str(one["us"])) + float(str(one["compiling"]))) * S_OF_TARGETS / unit
            for one in found
            if one["axis"] == "choices"
        ]
        alone = sum(int(str(one["alone"] or 0)) for one in found)
        solved = sum(int(str(one["rows"])) for one in found)
        rows.append(
            (
                path.stem,
                f"{len(numbers)}{' and more, too late' if took.is_late else ''}",
                f"{numbers[len(numbers) // 2][0]:,.1f}" if numbers else "",
                f"{numbers[-1][0]:,.1f}" if numbers else "",
                numbers[-1][1] if numbers else "",
                f"{choices[0]:,.0f}" if choices else "",
                f"{alone:,} of {solved:,}",
            )
        )
    return TimingTable(
        "A row along every axis",
        f"Each number of each spec by itself, up to 65,536 values near its own: us of a processor "
        f"for a further row, where S is {S_OF_TARGETS} s. Choices: options, places, scenarios and "
        "modes together, 64 rows at the most, each with its structure. By themselves: "
        "configurations that fell to the slower path, one by one.",
        ("spec", "axes", "half of them", "worst", "which", "choices", "by themselves"),
        tuple(rows),
    )


def specs() -> list[Path]:
    """Return all worked specs and applications."""
    return [path for place in (SPECS, *APPLICATIONS) for path in sorted(place.glob("*.qps"))]
