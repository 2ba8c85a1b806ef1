"""Files of any source as one table: each is recognized, those of one source are read together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from qps.compiler.diagnostics.suggest import did_you_mean, listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import is_table, observed_files
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognition import source_of
from qps.compiler.measurement.observations.source_layouts import Source


def recognized_files(
    files: Sequence[Path], how: FileReading, tool: str | None = None
) -> ObservedRuns:
    """Return what all files say, each of the source that it is recognized as, or of `tool`."""
    if tool is not None and tool not in SOURCES:
        hint = did_you_mean(tool, SOURCES) or f"choose one of {', '.join(SOURCES)}"
        raise DataError(f"unknown format `{shortened(tool)}`", hint)
    groups: dict[str, list[Path]] = {}
    for path in files:
        source = source_of(path) if tool is None else SOURCES[tool]
        groups.setdefault(source.name, []).append(path)
    notes = () if tool is not None else tuple(map(_recognized, groups, groups.values()))
    sources = [SOURCES[name] for name in groups]
    if len(sources) > 1 and any(map(is_table, sources)):
        raise DataError(
            f"{listed([one.name for one in sources], 'and')} files cannot be one table",
            "convert them separately",
        )
    found = _one_table([(SOURCES[name], of) for name, of in groups.items()], how)
    return replace(found, notes=(*notes, *found.notes))


def _recognized(name: str, files: Sequence[Path]) -> str:
    source = SOURCES[name]
    of_files = listed([shortened(str(path)) for path in files], "and")
    return f"{of_files}: recognized as {source.name}, by {source.recognized_by}"


def _one_table(groups: Sequence[tuple[Source, list[Path]]], how: FileReading) -> ObservedRuns:
    tables = [observed_files(source.name, files, how) for source, files in groups]
    headings = list(dict.fromkeys(heading for table in tables for heading in table.headings))
    rows = [
        tuple(dict(zip(table.headings, row, strict=True)).get(heading, "") for heading in headings)
        for table in tables
        for row in table.rows
    ]
    notes = tuple(note for table in tables for note in table.notes)
    return ObservedRuns(headings=tuple(headings), rows=tuple(rows), notes=notes)
