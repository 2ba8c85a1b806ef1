"""What load generators log of each item: transactions of pgbench, requests of h2load.

Percentiles are of these; what the generators print at their end has a mean at the most.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from qps.compiler.diagnostics.suggest import shortened
from qps.compiler.measurement.measured_tables import DataError
from qps.compiler.measurement.observations.load_runs import ITEMS, Fields, LoadRun
from qps.compiler.measurement.observations.measurement_sources import SOURCES
from qps.compiler.measurement.observations.time_windows import MOST_SAMPLES, Stretches

_PGBENCH = re.compile(
    r"(\d{1,9}) \d{1,18} (\d{1,15}|skipped|failed) \d{1,9} (\d{9,11}) (\d{1,6})(?: \d{1,18})*"
)
"""Client, transaction, us, script, and when it ended: s since 1970 and us (man pgbench)."""
_AGGREGATED = re.compile(r"\d{9,11} \d{1,18} \d{1,18}(?: \d{1,30})*")
_H2LOAD = re.compile(r"(\d{15,17})\t(-?\d{1,3})\t(\d{1,15})(?:\t.*)?")
"""When it began in us since 1970, status, us until the response was there (man h2load)."""
_FIRST_WRONG = 400


class _Item(Struct, frozen=True):
    """An item: when it ended and how long it took, in ms; None where it came to nothing."""

    end: float
    elapsed: float | None
    has_failed: bool
    users: float


class Log(Struct, frozen=True, kw_only=True):
    """How a generator logs: one line, and what it says (None where it is none)."""

    tool: str
    item: Callable[[str], _Item | None]
    fields: Fields

    @property
    def hint(self) -> str:
        """How to have such a log."""
        return SOURCES[self.tool].hint

    def is_of(self, first: str) -> bool:
        """Return whether a file that begins with a line is such a log."""
        return self.item(first.strip()) is not None or self._is_aggregated(first)

    def runs(
        self, files: Iterable[Iterable[str]], name: str, window: float | None
    ) -> tuple[list[LoadRun], list[str]]:
        """Return what was done in each whole stretch of `window` s, else in all of the run.

        Several files are those of the threads of one run. An item counts where it ended.
        """
        found = Stretches(name, window, self.fields)
        for lines in files:
            for item in self._items(lines, name):
                stretch = found.at(item.end)
                stretch.users = max(stretch.users, item.users)
                if item.elapsed is None:
                    stretch.lost += 1
                    continue
                stretch.elapsed.append(item.elapsed)
                stretch.failed += item.has_failed
                if window is None:
                    stretch.first = min(stretch.first, item.end - item.elapsed)
        return found.runs(self.hint)

    def _items(self, lines: Iterable[str], name: str) -> Iterator[_Item]:
        """Yield the items of a file; a last line may be cut off, no other."""
        broken = None
        for number, line in enumerate(lines, start=1):
            if broken is not None:
                raise DataError(
                    f"`{shortened(name)}`, line {broken}: not a {self._what}", self.hint
                )
            if number > MOST_SAMPLES:
                raise DataError(
                    f"`{shortened(name)}` has more than {MOST_SAMPLES:,} lines", "split it"
                )
            if self._is_aggregated(line):
                raise DataError(f"`{shortened(name)}` has aggregated transactions", self.hint)
            item = self.item(line.strip()) if line.endswith("\n") else None
            if item is not None:
                yield item
            elif line.strip():
                broken = number

    @property
    def _what(self) -> str:
        return f"log line of {self.tool}"

    def _is_aggregated(self, line: str) -> bool:
        return self.tool == "pgbench" and bool(_AGGREGATED.fullmatch(line.strip()))


def _transaction(line: str) -> _Item | None:
    found = _PGBENCH.fullmatch(line)
    if found is None:
        return None
    client, time, seconds, microseconds = found.groups()
    is_done = time.isdecimal()
    return _Item(
        1000 * int(seconds) + int(microseconds) / 1000,
        int(time) / 1000 if is_done else None,
        not is_done,
        int(client) + 1,
    )


def _request(line: str) -> _Item | None:
    found = _H2LOAD.fullmatch(line)
    if found is None:
        return None
    began, status, took = map(int, found.groups())
    has_failed = not 0 <= status < _FIRST_WRONG
    return _Item((began + took) / 1000, took / 1000, has_failed, 0)


_PGBENCH_LOG = Log(
    tool="pgbench",
    item=_transaction,
    fields={
        "users": "the highest client number",
        ITEMS: "the number of lines",
        "share failed": "`skipped` and `failed`",
        "latency": "the third field of each line",
    },
)
_H2LOAD_LOG = Log(
    tool="h2load",
    item=_request,
    fields={
        ITEMS: "the number of lines",
        "share failed": "statuses of 400 and above, and -1",
        "latency": "the third field of each line",
    },
)

is_pgbench_log, pgbench_log_runs = _PGBENCH_LOG.is_of, _PGBENCH_LOG.runs
is_h2load_log, h2load_log_runs = _H2LOAD_LOG.is_of, _H2LOAD_LOG.runs


def run_of(name: str) -> str:
    """Return the name of the run that a file is of: each thread of pgbench has a file of its own.

    >>> run_of("pgbench_log.4711.2"), run_of("pgbench_log.4711"), run_of("run.log")
    ('pgbench_log.4711', 'pgbench_log.4711', 'run.log')
    """
    return re.sub(r"(\.\d{1,9})\.\d{1,9}$", r"\1", name)
