"""Percentiles of latency as HdrHistogram prints them, and `vegeta report -type=hdrplot`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from qps.compiler.diagnostics.suggest import listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.cross_checks import contradictions
from qps.compiler.measurement.observations.file_texts import FileReading, text_of
from qps.compiler.measurement.observations.load_runs import LoadRun, Twice
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, written

_TITLE = re.compile(r"\s*Value(?:\((\w+)\))?\s+Percentile\s+TotalCount\s+1/\(1-Percentile\)\s*")
_ROW = re.compile(r"\s*(\d+(?:\.\d+)?)\s+([01]\.\d+)\s+(\d+)(?:\s+[\d.]+|\s+[Ii]nf\w*)?\s*")
_FOOT = re.compile(r"(Mean|StdDeviation|Max|Total ?[Cc]ount)\s*=\s*([\d.]+)")
_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1000.0}
"""Milliseconds of each."""
_SHOWN = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
_ONE_BEYOND = 99.999
"""Of values times per cent: one lies beyond a percentile."""
_HINT = "use the complete output of `outputPercentileDistribution`, or of `vegeta report`"
_VALUE = "Value"


def histogram_table(path: Path, how: FileReading) -> ObservedRuns:
    """Return one row: percentiles, and where they are printed the mean and the longest."""
    file = str(path)
    lines = text_of(path).splitlines()
    title = next((found for line in lines for found in [_TITLE.fullmatch(line)] if found), None)
    if title is None:
        raise DataError(f"`{shortened(file)}` has no line `Value  Percentile  TotalCount`", _HINT)
    unit = _unit(title[1], how.column, file)
    rows = _rows(lines, file)
    foot = dict(
        _FOOT.findall("\n".join(line.strip() for line in lines if line.strip().startswith("#")))
    )
    # Of the same percentile the first row has the lowest value that so many are at most.
    found: dict[str, float] = {}
    for share in _SHOWN:
        value = next((value for value, at, _ in rows if at * 100 >= share - 1e-9), None)
        if value is not None and rows[-1][2] * (100 - share) >= _ONE_BEYOND:
            found[f"p{share:g}"] = value * unit
    for name, kind in (("Mean", "mean"), ("Max", "longest")):
        if name in foot:
            found[kind] = float(foot[name]) * unit
    count = rows[-1][2]
    stated = next((float(foot[name]) for name in foot if name.lower().startswith("total")), count)
    run = LoadRun(
        file=file,
        done=0.0,
        latencies={kind: value / 1000 for kind, value in found.items()},
        twice=(
            Twice(
                what="the number of values",
                stated=stated,
                derived=count,
                derived_from="the last row",
            ),
        ),
    )
    order = ["mean", *(f"p{share:g}" for share in _SHOWN), "longest"]
    kinds = [kind for kind in order if kind in found]
    return ObservedRuns(
        headings=("file", "values", *(f"latency {kind}, ms" for kind in kinds)),
        rows=((file, str(count), *(written(found[kind]) for kind in kinds)),),
        notes=(
            f"`{shortened(file)}`: latency from `{_VALUE}`; a histogram has no rate",
            *(f"warning: {one}" for one in contradictions(run)),
        ),
    )


def _unit(stated: str | None, columns: Sequence[str], file: str) -> float:
    """Return how many ms a value counts; DataError where nobody says so."""
    named = next(
        (one.partition("=")[2].strip() for one in columns if one.partition("=")[0] == _VALUE),
        stated,
    )
    if named in _UNITS:
        return _UNITS[named]
    units = listed([*_UNITS], "or")
    if named is None:
        raise DataError(
            f"`{shortened(file)}` does not state the unit of `{_VALUE}`",
            f"state it: `--column {_VALUE}=ms` ({units})",
        )
    raise DataError(f"`{shortened(named)}` is not a unit of `{_VALUE}`", f"write {units}")


def _rows(lines: Sequence[str], file: str) -> list[tuple[float, float, int]]:
    """Return values, shares and counts, which only rise."""
    rows: list[tuple[float, float, int]] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.strip().startswith("#") or _TITLE.fullmatch(line):
            continue
        found = _ROW.fullmatch(line)
        if found is None:
            if not rows:
                continue  # what stands above the table
            raise DataError(
                f"`{shortened(file)}`, line {number}: `{shortened(line.strip())}` is not a row of "
                "a histogram",
                _HINT,
            )
        row = float(found[1]), float(found[2]), int(found[3])
        if rows and any(now < before for now, before in zip(row, rows[-1], strict=True)):
            raise DataError(
                f"`{shortened(file)}`, line {number}: values, percentiles and counts cannot fall",
                "split files with several histograms",
            )
        rows.append(row)
    if not rows or rows[-1][2] == 0:
        raise DataError(f"`{shortened(file)}` contains no values", _HINT)
    return rows
