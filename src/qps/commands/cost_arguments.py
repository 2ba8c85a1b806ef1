"""What the commands take that read or make measurements."""

from __future__ import annotations

from pathlib import Path

from qps.commands.common_arguments import EXIT_STATUS, Commands, command_of, takes_format
from qps.commands.measure_arguments import declare_measure
from qps.commands.observe_arguments import declare_sources


def add_measure(commands: Commands) -> None:
    """Add `qps measure`."""
    command = command_of(
        commands, "measure", "what a server on this machine uses under load: a table for `qps fit`"
    )
    declare_measure(command)
    takes_format(command, "text", "json")


def add_fit(commands: Commands) -> None:
    """Add `qps fit`."""
    command = command_of(commands, "fit", "costs fitted to a table of measured loads and rates")
    command.add_argument(
        "file", metavar="FILE.csv", type=Path, help="columns such as `cpu in %%`, `packet/s`"
    )
    command.add_argument(
        "--cores",
        metavar="N",
        help="cores that share the load, where no column `cores` of the table says so",
    )
    command.add_argument(
        "--resource", metavar="NAME", help="the column of the load, where several could be it"
    )
    command.add_argument(
        "--unit",
        metavar="NAME",
        action="append",
        default=[],
        help="an item of your own that a heading names, such as `update`; repeatable",
    )
    command.add_argument(
        "--no-fixed",
        action="store_true",
        help="fit no fixed load: all of it is taken to be caused by the rates",
    )
    command.add_argument(
        "--served",
        action="store_true",
        help="the rates are what was served: rows of a full machine count, and without a column of "
        "the load all are",
    )
    takes_format(command, "text", "json", "markdown")


def add_observe(commands: Commands) -> None:
    """Add `qps observe`."""
    command = command_of(
        commands, "observe", "what a Prometheus or a tool has measured, as a table to fit costs to"
    )
    declare_sources(command, EXIT_STATUS)
    command.set_defaults(format="text")


def add_trace(commands: Commands) -> None:
    """Add `qps trace`."""
    command = command_of(
        commands, "trace", "jitter of recorded packets, and the buffers that make up for it"
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="a CSV file with times of arrival"
    )
    command.add_argument(
        "--period", metavar="TIME", help="time between two packets as they were sent: 160ms"
    )
    command.add_argument(
        "--unit",
        choices=["ns", "us", "ms", "s"],
        help="of times whose heading names none",
    )
    command.add_argument(
        "--latency", metavar="TIME", help="the longest buffer that is acceptable (default 230ms)"
    )
    command.add_argument(
        "--gaps", metavar="SHARE", help="the largest share of gaps that is acceptable (default 6%%)"
    )
    command.add_argument(
        "--buffer",
        metavar="TIME",
        help="the buffer to count gaps at and to replay with (default: 250ms, and the best one)",
    )
    command.add_argument(
        "--threshold",
        metavar="TIME",
        help="how long two packets must wait before one is discarded, half of that for each "
        "further one, down to half a second (default 4s)",
    )
    takes_format(command, "text", "json", "markdown")
