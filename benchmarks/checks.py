"""How long it takes to start and to check: `python benchmarks/checks.py`.

Each command is a process of its own, in turns with `import sympy`, whose processor time is S.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import log
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src"), str(HERE.parent / "tests")]

import generated  # noqa: E402 - found by the line above
from measures import folder, made, measured_with_unit, qps  # noqa: E402
from timings import ROOT, TimingTable, machine  # noqa: E402

_SIZES = (1_000, 10_000)


def checks() -> TimingTable:
    """Return what it takes to start, to check and to lay out specs of all sizes."""
    rows = [*_commands(), *_growing()]
    return TimingTable(
        "Starts and checks",
        "Processor time of whole processes, the least of some in turns with `import sympy`, whose "
        "time on the same machine is S. Of components: a tenth as many nodes, links and streams.",
        ("what", "S", "ms", "MB"),
        tuple(rows),
    )


def _commands() -> Iterator[tuple[str, ...]]:
    small = made("small", (ROOT / "stdlib" / "_start.qps.txt").read_text(encoding="utf-8"))
    specs = ROOT / "specs"
    yield _row("qps --version", "--version")
    yield _row("qps --help", "--help")
    for name, path in (
        ("a small spec", small),
        ("audioconference", specs / "audioconference.qps"),
        ("flying", specs / "flying.qps"),
    ):
        yield _row(f"qps check of {name}", "check", "-q", path)
        yield _row(f"qps fmt of {name}", "fmt", "--check", "-q", path)
    yield _row("qps check specs/", "check", "-q", specs)


def _growing() -> Iterator[tuple[str, ...]]:
    times = []
    for size in _SIZES:
        place = folder() / f"components_{size}"
        place.mkdir(exist_ok=True)
        for name, text in generated.files_of(size).items():
            (place / name).write_text(text, encoding="utf-8")
        row = _row(f"qps check of {size:,} components", "check", "-q", place / "whole.qps")
        times.append(float(row[1]))
        yield row
    exponent = log(times[1] / times[0]) / log(_SIZES[1] / _SIZES[0])
    yield ("that grows as n to the", f"{exponent:.2f}", "", "")


def _row(what: str, *words: str | Path) -> tuple[str, ...]:
    took, unit = measured_with_unit(qps(*words))
    return (
        what,
        f"{took.seconds / unit:.2f}",
        f"{took.seconds * 1000:.0f}",
        f"{took.megabytes:.0f}",
    )


if __name__ == "__main__":
    print(machine(), checks().as_markdown(), sep="\n")
