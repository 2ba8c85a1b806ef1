"""What the commands take that read or make measurements."""

from __future__ import annotations

from pathlib import Path

from qps.commands.arguments.common_arguments import EXIT_STATUS, Commands, command_of, takes_format
from qps.commands.arguments.measure_arguments import declare_measure
from qps.commands.arguments.observe_arguments import declare_sources


def add_measure(commands: Commands) -> None:
    """Add `qps measure`."""
    command = command_of(
        commands, "measure", "load-test a server on this machine and record its resource use"
    )
    declare_measure(command)
    takes_format(command, "text", "json")


def add_fit(commands: Commands) -> None:
    """Add `qps fit`."""
    command = command_of(commands, "fit", "fit service demands to measured utilization and rates")
    command.add_argument(
        "file",
        metavar="FILE.csv",
        type=Path,
        help="table with columns such as `cpu in %%` and `packet/s`",
    )
    command.add_argument(
        "--cores",
        metavar="N",
        help="number of cores that the utilization refers to, if the table has no column `cores`",
    )
    command.add_argument(
        "--by",
        metavar="COLUMN",
        help="fit a closed load test instead: throughput by the number of clients in this column, "
        "such as `threads`",
    )
    command.add_argument(
        "--resource", metavar="NAME", help="utilization column, if there are several"
    )
    command.add_argument(
        "--unit",
        metavar="NAME",
        action="append",
        default=[],
        help="declare an item used in a heading, such as `update`; repeatable",
    )
    command.add_argument(
        "--per",
        metavar="COSTS",
        action="append",
        default=[],
        help="fit only this demand, which can be multiplied or divided by other columns, such as "
        "`token * context`, or by a curve, such as `request * power(rate)`; repeatable",
    )
    command.add_argument(
        "--to",
        metavar="FILE.csv",
        type=Path,
        help="scale the fit to another machine, of which this table has one or a few runs",
    )
    command.add_argument(
        "--no-fixed",
        action="store_true",
        help="fit without an intercept: attribute all utilization to the rates",
    )
    command.add_argument(
        "--served",
        action="store_true",
        help="treat rates as throughput: saturated rows count as 100 %% utilization; without a "
        "utilization column, all rows do",
    )
    takes_format(command, "text", "json", "markdown")


def add_observe(commands: Commands) -> None:
    """Add `qps observe`."""
    command = command_of(
        commands,
        "observe",
        "convert Prometheus or load-test data to a table for `qps fit`",
    )
    declare_sources(command, EXIT_STATUS)
    command.set_defaults(format="text")


def add_trace(commands: Commands) -> None:
    """Add `qps trace`."""
    command = command_of(
        commands, "trace", "analyze recorded packet timing: jitter and playout buffer"
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="CSV file with arrival times"
    )
    command.add_argument(
        "--period", metavar="TIME", help="set the sending interval of packets, such as 160ms"
    )
    command.add_argument(
        "--unit",
        choices=["ns", "us", "ms", "s"],
        help="time unit of columns whose headings contain no unit",
    )
    command.add_argument(
        "--latency", metavar="TIME", help="maximum acceptable playout buffer [default: 230 ms]"
    )
    command.add_argument(
        "--gaps", metavar="PERCENT", help="maximum acceptable percentage of gaps [default: 6 %%]"
    )
    command.add_argument(
        "--buffer",
        metavar="TIME",
        help="use this playout buffer [default: 250 ms to count gaps, the best one for policies]",
    )
    command.add_argument(
        "--threshold",
        metavar="TIME",
        help="queue monitoring: discard a packet once two have been queued for this long; each "
        "further packet halves this time, down to 0.5 s [default: 4 s]",
    )
    takes_format(command, "text", "json", "markdown")
