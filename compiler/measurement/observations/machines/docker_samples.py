"""What `docker stats` writes: the CPU usage of containers, in per cent of a core."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, field

from qps.compiler.diagnostics.suggest import did_you_mean, listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, written
from qps.compiler.measurement.observations.run_texts import plain_text
from qps.compiler.measurement.usual_headings import CPU_CORES

_HINT = "write it with `docker stats --format json > stats.json`"
_CELL = re.compile(r"\s{2,}")
_SHARE = re.compile(r"(\d{1,7}(?:\.\d{1,6})?)%")
_NONE = "--"
"""What is printed for a container that has stopped."""
_MOST_NAMED = 8
_CPU = "CPU %"


class _Line(Struct, kw_only=True):
    cpu: str = field(name="CPUPerc")
    name: str = field(default="", name="Name")
    container: str = field(default="", name="Container")


def docker_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return the mean number of busy cores of a container: docker writes no times."""
    file, text = str(path), plain_text(text_of(path))
    by_name: dict[str, list[float]] = {}
    rows = _json_rows(text, file) if text.lstrip().startswith("{") else _printed_rows(text, file)
    for line, name, cpu in rows:
        if cpu == _NONE:
            continue
        share = _SHARE.fullmatch(cpu)
        if share is None:
            raise DataError(
                f"`{shortened(file)}`, line {line}: `{shortened(cpu)}` is not a CPU usage", _HINT
            )
        by_name.setdefault(name, []).append(float(share[1]) / 100)
    name = _chosen(file, by_name, how.process)
    samples = by_name[name]
    note = (
        f"`{shortened(file)}`: {CPU_CORES} from `{_CPU}` of `{shortened(name)}`, % of a core, "
        f"mean of {len(samples):,} sample{'s' * (len(samples) != 1)}; docker writes no times"
    )
    return ObservedRuns(
        headings=("file", CPU_CORES),
        rows=((file, written(sum(samples) / len(samples))),),
        notes=(note,),
    )


def _json_rows(text: str, file: str) -> Iterator[tuple[int, str, str]]:
    """Yield line, name and CPU usage of each document."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            found = msgspec.json.decode(line, type=_Line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise DataError(
                f"`{shortened(file)}`, line {number}: not a sample of docker: "
                f"{shortened(str(error))}",
                _HINT,
            ) from error
        yield number, found.name or found.container, found.cpu


def _printed_rows(text: str, file: str) -> Iterator[tuple[int, str, str]]:
    headings: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        cells = _CELL.split(line.strip())
        if _CPU in cells:
            headings = cells
            continue
        if not headings or not line.strip():
            continue
        row = dict(zip(headings, cells, strict=False))
        if len(cells) < len(headings) or _CPU not in row:
            raise DataError(
                f"`{shortened(file)}`, line {number}: `{shortened(line.strip())}` is not "
                "recognized",
                _HINT,
            )
        yield number, row.get("NAME") or cells[0], row[_CPU]


def _chosen(file: str, by_name: dict[str, list[float]], wanted: str | None) -> str:
    """Return which container counts; DataError where that is not certain."""
    names: Sequence[str] = [*by_name]
    if not names:
        raise DataError(f"`{shortened(file)}` contains no samples of containers", _HINT)
    if wanted is None and len(names) == 1:
        return names[0]
    if wanted in by_name:
        assert wanted is not None
        return wanted
    shown = listed(sorted(names)[:_MOST_NAMED], "and") + " and others" * (len(names) > _MOST_NAMED)
    if wanted is None:
        raise DataError(
            f"`{shortened(file)}` has several containers: {shown}",
            f"name the one that counts: `--process {min(names)}`",
        )
    raise DataError(
        f"`{shortened(file)}` has no container `{shortened(wanted)}`",
        did_you_mean(wanted, names) or f"it has {shown}",
    )
