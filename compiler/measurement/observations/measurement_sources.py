"""The tools whose files `qps observe` reads, a row each; readers are imported when used."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

from msgspec import Struct


class ReaderOutput(Enum):
    """What a reader takes, and its output."""

    SUMMARY = "summary"
    """Of the text of a file and its name: runs, without times, and notes."""
    SAMPLES = "samples"
    """Of the lines of each file of one run, its name and a window in s or None: runs and notes."""
    TABLE = "table"
    """Of a path and a `FileReading`: a table."""


class Layout(Struct, frozen=True, kw_only=True):
    """A layout of files: its reader, a function of a module here such as `k6_points.k6_point_runs`.

    A file has it where the function `begins` says so of the first line; without one, any file has.
    """

    reader: str
    output: ReaderOutput
    begins: str = ""

    def is_of(self, first: str) -> bool:
        """Return whether a file with this first line has this layout."""
        return not self.begins or _function(self.begins)(first)

    def read(self, *arguments: Any) -> Any:
        """Return what the reader says."""
        return _function(self.reader)(*arguments)


class Source(Struct, frozen=True, kw_only=True):
    """A tool: its name, what it writes, the layouts of that (the first that fits is read).

    It `takes` flags of `FLAGS`; without one, windows are as long as `window` says, or a row is a
    whole run. `hint` says how to have times, where a summary has none. `run_of` gives the name of
    the run that a file is of, where a run has several.
    """

    name: str
    files: str
    layouts: tuple[Layout, ...]
    takes: tuple[str, ...] = ("item",)
    window: str | None = None
    hint: str = ""
    run_of: str = ""

    def run(self, file: str) -> str | None:
        """Return the name of the run that a file is of; None where each is one by itself."""
        return _function(self.run_of)(file) if self.run_of else None


class Flag(Struct, frozen=True):
    """A flag of a source: what stands behind it, what it does, and its default."""

    metavar: str
    help: str
    default: str


FLAGS = {
    "window": Flag("TIME", "write one row per window of this length", "one row in total"),
    "item": Flag("NAME", "name the rate column NAME/s", "request"),
    "interface": Flag("NAME", "count only packets on this interface", "all except lo"),
}
"""By the fields of `FileReading` that they set."""


def _function(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(".")
    found: Callable[..., Any] = getattr(
        import_module(f"qps.compiler.measurement.observations.{module}"), function
    )
    return found


_TIMED = ("window", "item")

SOURCES = {
    one.name: one
    for one in (
        Source(
            name="k6",
            files="summary as JSON or text, or data points from --out csv or json",
            layouts=(
                Layout(
                    reader="k6_points.k6_point_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="k6_points.are_points",
                ),
                Layout(reader="k6_summaries.k6_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="write data points with `k6 run --out csv=run.csv`",
        ),
        Source(
            name="wrk",
            files="printed output (with percentiles if run with --latency)",
            layouts=(Layout(reader="printed_results.wrk_runs", output=ReaderOutput.SUMMARY),),
        ),
        Source(
            name="h2load",
            files="printed output, or its --log-file",
            layouts=(
                Layout(
                    reader="generator_logs.h2load_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generator_logs.is_h2load_log",
                ),
                Layout(reader="printed_results.h2load_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="write a log with `h2load --log-file=run.log`",
        ),
        Source(
            name="jmeter",
            files="results as CSV (-l run.jtl)",
            layouts=(Layout(reader="request_logs.jmeter_runs", output=ReaderOutput.SAMPLES),),
            takes=_TIMED,
        ),
        Source(
            name="pgbench",
            files="printed output, or transaction logs (--log)",
            layouts=(
                Layout(
                    reader="generator_logs.pgbench_log_runs",
                    output=ReaderOutput.SAMPLES,
                    begins="generator_logs.is_pgbench_log",
                ),
                Layout(reader="printed_results.pgbench_runs", output=ReaderOutput.SUMMARY),
            ),
            takes=_TIMED,
            hint="log with `pgbench --log`, without --aggregate-interval and --sampling-rate",
            run_of="generator_logs.run_of",
        ),
        Source(
            name="sysbench",
            files="printed output",
            layouts=(Layout(reader="printed_results.sysbench_runs", output=ReaderOutput.SUMMARY),),
        ),
        Source(
            name="sar",
            files="printed output, or output of `sadf -j FILE -- -u -n DEV`",
            layouts=(Layout(reader="sar_samples.sar_table", output=ReaderOutput.TABLE),),
            takes=("interface",),
        ),
        Source(
            name="pcap",
            files="packet captures from tcpdump or Wireshark",
            layouts=(Layout(reader="packet_captures.capture_table", output=ReaderOutput.TABLE),),
            takes=("window",),
            window="1s",
        ),
    )
}
"""All of them by name, in the order of `qps observe --help`."""
