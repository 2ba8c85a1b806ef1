"""The figures of docs/benchmarks.md, put into it where they stand between two marks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from qps.reports.text.layout.table import Table
from timings import ROOT, TimingTable

_BEGIN, _END = "<!-- figures of benchmarks/ -->\n", "<!-- end of figures -->\n"
_MILLION = "1,004,004"


def quote(about: str, found: Mapping[str, TimingTable]) -> None:
    """Write the figures of a run into docs/benchmarks.md."""
    path = ROOT / "docs" / "benchmarks.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(_BEGIN)
    _, mark, after = rest.partition(_END)
    if not mark:
        raise RuntimeError(f"docs/benchmarks.md has lost the marks of its figures: {_BEGIN}{_END}")
    table = Table(("Benchmark", "Result"), tuple(_figures(found))).as_markdown()
    now = datetime.now(UTC)
    told = f"Measured on {now:%B} {now.day}, {now.year}: {about}.\n"
    path.write_text(f"{before}{_BEGIN}{table}\n{told}{_END}{after}", encoding="utf-8")


def _figures(found: Mapping[str, TimingTable]) -> list[tuple[str, str]]:
    """Return what is quoted; a run of fewer rows has fewer figures."""
    rows = {name: {row[0]: row for row in measured.rows} for name, measured in found.items()}
    figures = []
    if _MILLION in rows["matrices"]:
        row = rows["matrices"][_MILLION]
        times = row[3:-2]
        shown = ", ".join(
            f"{t} s on {2**k} core{'s' if k else ''}" for k, t in enumerate(times[:-1])
        )
        shown += f"{', ' if shown else ''}{times[-1]} s on all cores"
        figures.append(
            (
                f"{_MILLION} configurations of `audioconference.qps` ({row[1]} model structures)",
                f"compile {row[2]} s; solve {shown} ({row[-2]} µs of CPU time per configuration)",
            )
        )
    ((_, row, numpy, ratio),) = found["bare"].rows
    figures.append(
        (
            "solving one configuration, relative to evaluating the same formulas in numpy",
            f"{ratio} times the CPU time ({row} ns vs. {numpy} ns)",
        )
    )
    figures += [
        (
            f"`qps matrix` to Parquet: {size} configurations",
            f"{seconds} s ({cpu} s of CPU time), {memory} MB of memory, {written} MB file",
        )
        for size, seconds, cpu, memory, written in found["files"].rows[-2:]
    ]
    figures += [
        (f"cold start of `{name}`", f"{took} ms")
        for name, took, _ in found["starts"].rows
        if name.startswith("qps")
    ]
    size, *_, total, _ = found["specs"].rows[-1]
    figures.append((f"checking, compiling and solving a spec of {size} components", f"{total} ms"))
    return figures
