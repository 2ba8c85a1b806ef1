"""Files of any source as one table: each is recognized, those of one source are read together.

A load test and what a machine used are joined: by time, or by the number of users; a table of rates
and CPU gets the latencies of a load test at the same rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from qps.compiler.diagnostics.suggest import did_you_mean, listed, shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.file_texts import FileReading
from qps.compiler.measurement.observations.joined_series import (
    joined,
    joined_by_rate,
    joined_by_users,
    moments_of,
    offset_of,
    usage_series,
)
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.observed_files import observed_files
from qps.compiler.measurement.observations.observed_runs import ObservedRuns
from qps.compiler.measurement.observations.recognition import source_of
from qps.compiler.measurement.observations.source_layouts import MeasurementTool
from qps.compiler.measurement.usual_headings import CPU_CORES, CPU_SHARE, RATE, TIME, USERS

Group = tuple[MeasurementTool, list[Path]]
"""A source, and which files are of it."""

_SHORTEST, _MOST_WINDOWS = 5, 40
"""How long windows are where nobody says it: of some s, and no more of them than this."""


def recognized_files(
    files: Sequence[Path], how: FileReading, tool: str | None = None
) -> ObservedRuns:
    """Return what all files say, each of the source that it is recognized as, or of `tool`."""
    if tool is not None and tool not in SOURCES:
        hint = did_you_mean(tool, SOURCES) or f"choose one of {', '.join(SOURCES)}"
        raise DataError(f"unknown format `{shortened(tool)}`", hint)
    found: dict[str, list[Path]] = {}
    for path in files:
        source = source_of(path) if tool is None else SOURCES[tool]
        found.setdefault(source.name, []).append(path)
    notes = () if tool is not None else tuple(map(_recognized, found, found.values()))
    table = _of_groups([(SOURCES[name], of) for name, of in found.items()], how)
    return replace(table, notes=(*notes, *table.notes))


def _recognized(name: str, files: Sequence[Path]) -> str:
    source = SOURCES[name]
    of_files = listed([shortened(str(path)) for path in files], "and")
    return f"{of_files}: recognized as {source.name}, by {source.recognized_by}"


def _of_groups(groups: Sequence[Group], how: FileReading) -> ObservedRuns:
    """Return one table: of one kind one below the other, of load and machine side by side."""
    parts = [part for group in groups for part in _parts(group)]
    if len(parts) == 1:
        return observed_files(parts[0][0].name, parts[0][1], how)
    # Whole runs first: which of them are of a machine shows in their columns.
    plain = replace(how, window=None)
    tables = [observed_files(source.name, files, plain) for source, files in parts]
    with_cpu = [table for table in tables if _has_cpu(table) and RATE in table.headings]
    plain_loads = [table for table in tables if not _has_cpu(table) and RATE in table.headings]
    if with_cpu and plain_loads and len(with_cpu) + len(plain_loads) == len(tables):
        return joined_by_rate(_stacked(plain_loads), _stacked(with_cpu))
    usage = [table for table in tables if _is_usage(table)]
    if not usage or len(usage) == len(tables):
        if how.window is not None:
            tables = [observed_files(source.name, files, how) for source, files in parts]
        return _stacked(tables)
    loads = [part for part, table in zip(parts, tables, strict=True) if not _is_usage(table)]
    load = _stacked([table for table in tables if not _is_usage(table)])
    machine = _stacked(usage)
    if TIME in machine.headings and TIME in load.headings:
        return _by_time(loads, machine, load, how)
    if USERS in machine.headings and USERS in load.headings:
        return joined_by_users(load, machine)
    raise DataError(
        "a load test and a machine can only be joined if both have a time, or both have users",
        _how_to_join(loads, load, machine),
    )


def _parts(group: Group) -> list[Group]:
    """Return a group for each spreadsheet, as these may be of a load or of a machine."""
    source, files = group
    return [(source, [file]) for file in files] if "column" in source.takes else [group]


def _is_usage(table: ObservedRuns) -> bool:
    """Return whether a table is of what a machine used, and not of a load."""
    return _has_cpu(table) and not _has_rate(table)


def _has_cpu(table: ObservedRuns) -> bool:
    return bool({CPU_SHARE, CPU_CORES} & {*table.headings})


def _has_rate(table: ObservedRuns) -> bool:
    return RATE in table.headings or (
        "file" in table.headings and any(one.startswith("latency ") for one in table.headings)
    )


def _how_to_join(loads: Sequence[Group], load: ObservedRuns, machine: ObservedRuns) -> str:
    how = _how_to_have_times(loads, load) or "record the machine with times: `vmstat -t 1`"
    if USERS in load.headings and USERS not in machine.headings:
        how += f"; or write the mean CPU of each run beside its users, as a table `{USERS},CPU (%)`"
    return how


def _how_to_have_times(loads: Sequence[Group], load: ObservedRuns) -> str:
    if TIME in load.headings:
        return ""
    return "; or ".join(source.hint for source, _ in loads if source.hint)


def _by_time(
    loads: Sequence[Group], machine: ObservedRuns, load: ObservedRuns, how: FileReading
) -> ObservedRuns:
    usage = usage_series(machine)
    offset = offset_of(how.offset)
    times = sorted(moments_of(load))
    is_sampled = all("window" in source.takes for source, _ in loads)
    if is_sampled:
        if how.window is None:
            span = usage.times[-1] - usage.times[0]
            least = max(_SHORTEST, 2 * usage.step, span / _MOST_WINDOWS)
            how = replace(how, window=f"{ceil(least / usage.step) * usage.step:g}s")
        load = _stacked([observed_files(source.name, files, how) for source, files in loads])
        window = how.stretch
        assert window is not None
    elif len(times) > 1:
        window = median(after - before for before, after in pairwise(times))
    else:
        raise DataError(
            "the load test is a summary of a whole run, and cannot be joined by time",
            _how_to_have_times(loads, replace(load, headings=())) or "use a result with times",
        )
    if window <= 0:
        raise DataError("the rows of the load test have the same time", "convert them separately")
    found = joined(load, usage, window, offset)
    return replace(found, notes=(*machine.notes, *found.notes))


def _stacked(tables: Sequence[ObservedRuns]) -> ObservedRuns:
    """Return the rows of tables one below the other, with the columns of all."""
    headings = list(dict.fromkeys(heading for table in tables for heading in table.headings))
    rows = [
        tuple(dict(zip(table.headings, row, strict=True)).get(heading, "") for heading in headings)
        for table in tables
        for row in table.rows
    ]
    notes = tuple(dict.fromkeys(note for table in tables for note in table.notes))
    return ObservedRuns(headings=tuple(headings), rows=tuple(rows), notes=notes)
