"""The files of a tool as one table, by its row in `measurement_sources.py`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from msgspec.structs import replace

from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import (
    FileReading,
    first_line,
    lines_of,
    text_of,
)
from qps.compiler.measurement.observations.load_runs import LoadRun
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_runs import ObservedRuns, runs_table
from qps.compiler.measurement.observations.source_layouts import (
    FileLayout,
    MeasurementTool,
    ReaderOutput,
)


def observed_files(tool: str, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return what all files of one of the `SOURCES` say; DataError where they do not."""
    source = SOURCES[tool]
    if how.window is None:
        how = replace(how, window=source.window)
    if is_table(source):
        return _one_table(source.layouts[0], files, how)
    return _runs(source, files, how)


def is_table(source: MeasurementTool) -> bool:
    """Return whether files of a source are tables of what machines did, not runs of a generator."""
    return source.layouts[0].output is ReaderOutput.TABLE


def _runs(source: MeasurementTool, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return the runs of all files, in their order."""
    if not how.item.isidentifier():
        raise DataError(f"`{how.item}` is not a valid item", "use one word, such as `request`")
    runs: list[LoadRun] = []
    notes: list[str] = []
    for of_run in _by_run(source, files):
        found, warnings = _of_run(source, of_run, how)
        runs += found
        notes += warnings
    return runs_table(runs, how.item, notes)


def _by_run(source: MeasurementTool, files: Sequence[Path]) -> list[list[Path]]:
    """Return which files are of one run."""
    found: dict[Path, list[Path]] = {}
    for number, path in enumerate(files):
        run = source.run(path.name)
        found.setdefault(Path(str(number)) if run is None else path.with_name(run), []).append(path)
    return list(found.values())


def _of_run(
    source: MeasurementTool, files: Sequence[Path], how: FileReading
) -> tuple[list[LoadRun], list[str]]:
    path = files[0]
    first = first_line(path) if len(source.layouts) > 1 else ""
    layout = next(one for one in source.layouts if one.is_of(first))
    if layout.output is ReaderOutput.SAMPLES:
        with ExitStack() as stack:
            lines = [stack.enter_context(lines_of(one)) for one in files]
            runs, notes = layout.read(lines, str(path), how.stretch)
            return runs, notes
    if how.window is not None:
        raise DataError(
            f"`{path}` is a {source.name} summary of a whole run, without times",
            "omit `--window`" + (f"; or {source.hint}" if source.hint else ""),
        )
    printed = [layout.read(text_of(one), str(one)) for one in files]
    return [run for runs, _ in printed for run in runs], [n for _, notes in printed for n in notes]


def _one_table(layout: FileLayout, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return the tables of files, one below the other, where they have the same columns.

    Of several, each row says which it is of: days and machines have the same times.
    """
    tables: list[ObservedRuns] = [layout.read(path, how) for path in files]
    for path, table in zip(files, tables, strict=True):
        if table.headings != tables[0].headings:
            raise DataError(
                f"`{path}` and `{files[0]}` have different columns: "
                f"{', '.join(table.headings)}; {', '.join(tables[0].headings)}",
                "convert them separately",
            )
    of_file = len(files) > 1
    return ObservedRuns(
        headings=("file",) * of_file + tables[0].headings,
        rows=tuple(
            (str(path),) * of_file + row
            for path, table in zip(files, tables, strict=True)
            for row in table.rows
        ),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
    )
