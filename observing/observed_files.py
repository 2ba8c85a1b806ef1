"""What the files of a tool tell, whichever tool it is: one table of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

from msgspec import Struct

from qps.compiler.data.measured_tables import DataError
from qps.extras import need_scapy
from qps.observing.asked_times import LEAST_STRETCH, window_of
from qps.observing.generator_logs import LOGS, run_of
from qps.observing.k6_points import are_points, k6_point_runs
from qps.observing.k6_summaries import k6_runs
from qps.observing.load_runs import LoadRun
from qps.observing.observed_runs import MOST_TEXT, ObservedRuns, runs_table
from qps.observing.packet_captures import capture_table
from qps.observing.printed_results import h2load_runs, pgbench_runs, sysbench_runs, wrk_runs
from qps.observing.request_logs import jmeter_runs
from qps.observing.sar_samples import sar_table

_Told = tuple[list[LoadRun], list[str]]
_PRINTED: Mapping[str, Callable[[str, str], _Told]] = {
    "k6": k6_runs,
    "wrk": wrk_runs,
    "h2load": h2load_runs,
    "pgbench": pgbench_runs,
    "sysbench": sysbench_runs,
}
TOOLS = (*_PRINTED, "jmeter", "sar", "pcap")
"""Whose files are read."""
_WITH_TIMES = {
    "k6": "write points by `k6 run --out csv=run.csv`",
    **{tool: log.hint for tool, log in LOGS.items()},
}
_LONGEST_LINE = 100_000


class FileReading(Struct, frozen=True, kw_only=True):
    """How files are read: what is done (`item`), and a row for each `window`, as text.

    Without a window a row is a whole run, but of a capture, where it is 1 s. `interface` is the
    one whose packets count, None for all but `lo`.
    """

    item: str = "request"
    window: str | None = None
    interface: str | None = None


def observed_files(tool: str, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return what all files of one of the `TOOLS` tell; DataError where they do not."""
    if tool in ("sar", "pcap"):
        return _one_table(tool, files, how)
    return _runs(tool, files, how)


def _runs(tool: str, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return the runs of all files, in their order."""
    if not how.item.isidentifier():
        raise DataError(f"`{how.item}` cannot be an item", "one word, such as `request`")
    runs: list[LoadRun] = []
    notes: list[str] = []
    for of_run in _by_run(tool, files):
        found, told = _of_run(tool, of_run, how)
        runs += found
        notes += told
    return runs_table(runs, how.item, notes)


def _by_run(tool: str, files: Sequence[Path]) -> list[list[Path]]:
    """Return which files are of one run: only threads of pgbench have several."""
    found: dict[Path, list[Path]] = {}
    for number, path in enumerate(files):
        run = path.with_name(run_of(path.name)) if tool == "pgbench" else Path(str(number))
        found.setdefault(run, []).append(path)
    return list(found.values())


def _of_run(tool: str, files: Sequence[Path], how: FileReading) -> _Told:
    path = files[0]
    first = _first_line(path)
    if tool == "jmeter":
        return _from_lines(path, how, jmeter_runs)
    if tool == "k6" and are_points(first):
        return _from_lines(path, how, k6_point_runs)
    if tool in LOGS and LOGS[tool].is_of(first):
        return _from_log(tool, files, how)
    if how.window is not None:
        otherwise = _WITH_TIMES.get(tool)
        raise DataError(
            f"`{path}` is a summary of a whole run by {tool}, without times",
            "omit `--window`" + (f"; or {otherwise}" if otherwise else ""),
        )
    printed = [_PRINTED[tool](_text(one), str(one)) for one in files]
    return [run for runs, _ in printed for run in runs], [n for _, notes in printed for n in notes]


def _from_log(tool: str, files: Sequence[Path], how: FileReading) -> _Told:
    """Read the log of a run: one file, or one of each thread."""
    with ExitStack() as stack:
        lines = [stack.enter_context(_lines(path)) for path in files]
        return LOGS[tool].runs(lines, str(files[0]), _stretch(how))


_FromLines = Callable[[Iterable[str], str, float | None], _Told]


def _from_lines(path: Path, how: FileReading, read: _FromLines) -> _Told:
    with _lines(path) as lines:
        return read(lines, str(path), _stretch(how))


@contextmanager
def _lines(path: Path) -> Iterator[Iterator[str]]:
    """Give the lines of a file one by one, however long it is."""
    try:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            yield iter(partial(file.readline, _LONGEST_LINE), "")
    except OSError as error:
        raise _unreadable(path, error) from error


def _first_line(path: Path) -> str:
    """Return how a file begins; nothing of a pipe, which is read once."""
    if not path.is_file():
        return ""
    with _lines(path) as lines:
        return next(lines, "")


def _stretch(how: FileReading) -> float | None:
    return None if how.window is None else float(window_of(how.window, LEAST_STRETCH))


def _one_table(tool: str, files: Sequence[Path], how: FileReading) -> ObservedRuns:
    """Return the tables of files, one below the other, where they have the same columns.

    Of several, each row says which it is of: days and machines have the same times.
    """
    tables = []
    for path in files:
        if tool == "sar":
            tables.append(sar_table(_text(path), str(path), how.interface))
        else:
            tables.append(_capture(path, how))
    for path, table in zip(files, tables, strict=True):
        if table.headings != tables[0].headings:
            raise DataError(
                f"`{path}` has other columns than `{files[0]}`: "
                f"{', '.join(table.headings)}, not {', '.join(tables[0].headings)}",
                "read them one by one",
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


def _capture(path: Path, how: FileReading) -> ObservedRuns:
    need_scapy("`qps observe pcap`")
    try:
        return capture_table(path, _stretch(how) or 1.0)
    except OSError as error:
        raise _unreadable(path, error) from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_TEXT + 1)
    except OSError as error:
        raise _unreadable(path, error) from error
    if len(content) > MOST_TEXT:
        raise DataError(f"`{path}` has over {MOST_TEXT // 10**6} MB", "keep what is printed last")
    return content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n")


def _unreadable(path: Path, error: OSError) -> DataError:
    told = error.strerror or str(error)
    return DataError(f"`{path}` cannot be read: {told}", "name a file that is there")
