"""What the commands take that answer: about one spec, its claims, its matrices."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from pathlib import Path

from qps.commands.arguments.common_arguments import (
    Commands,
    command_of,
    takes_advice,
    takes_changes,
    takes_format,
    takes_former,
    takes_one_spec,
    takes_paths,
    takes_readers,
    takes_sampling,
)
from qps.commands.arguments.measure_arguments import count
from qps.commands.arguments.observe_arguments import declare_drift
from qps.compiler.quantities.calendar_dates import CalendarDate, date_meant, read_date
from qps.version import __version__

FORMER_FLAGS = {"--carry": "users", "--given": "users", "--sure": "confidence"}
"""Flags of `qps solve` by their former names, which are read for ever and shown nowhere."""

FORMER_USERS = {"--carry": "users"}
"""The same of `qps plan`."""

FORMER_LIMIT = {"--seconds": "seconds"}
"""The same for `--time-limit` of `qps simulate` and `qps test`."""


def population_or_date(text: str) -> int | CalendarDate:
    """Return what `--at` takes. ArgumentTypeError if it is neither a number of users nor a date."""
    date = read_date(text)
    if date is None and re.fullmatch(r"[\d_]+", text) is None:
        raise ArgumentTypeError(_not_at(text))
    return int(text) if date is None else date


def _not_at(text: str) -> str:
    meant = date_meant(text)
    if meant is not None:
        return f"write the month of `{text}` as `--at {meant.iso[:7]}`"
    if re.fullmatch(r"\d{4}-(\d{2}|Q\d)(-\d{2})?", text):
        return f"`{text}` is not a date that exists"
    return f"`{text}` is neither a number of users nor a month (2028-06)"


def add_check(commands: Commands) -> None:
    """Add `qps check`."""
    command = command_of(
        commands, "check", "check specs for errors: syntax, names, units, topology"
    )
    takes_paths(command)
    takes_readers(command)
    takes_format(command, "text", "plain", "json")


def add_solve(commands: Commands) -> None:
    """Add `qps solve`."""
    command = command_of(
        commands,
        "solve",
        "compute capacity, bottleneck, and ways to raise capacity",
    )
    takes_one_spec(command)
    command.add_argument(
        "--all",
        action="store_true",
        help="print every resource, requirement and model error",
    )
    command.add_argument(
        "--users",
        metavar="N",
        help="size every resource for this many users (300, 'N = 300'), or for the forecast "
        "until a month: 2028-06",
    )
    command.add_argument(
        "--at",
        metavar="N",
        type=population_or_date,
        help="answer for this population, or for a month of the forecast: 2028-06 "
        "[default: the capacity]",
    )
    command.add_argument(
        "--course",
        metavar="FILE",
        type=Path,
        help="write the day or week of the profiles to a .parquet or .csv file",
    )
    takes_changes(command)
    command.add_argument(
        "--confidence",
        metavar="PERCENT",
        help="with uncertain inputs, report the capacity at this confidence level: '95 %%'",
    )
    command.add_argument(
        "--for",
        dest="solve_for",
        metavar="NAME",
        help="with --users: find the values of this one input that support that many users",
    )
    takes_advice(command)
    takes_former(command, FORMER_FLAGS)
    takes_sampling(command)
    takes_format(command, "text", "json", "markdown")


def add_explain(commands: Commands) -> None:
    """Add `qps explain`."""
    command = command_of(
        commands,
        "explain",
        "show how a number is computed, or explain an error code",
    )
    takes_one_spec(command)
    command.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="resource, measure or chart, such as web.cpu or replies.latency",
    )
    command.add_argument(
        "--network",
        action="store_true",
        help="print the queueing network of the spec: stations, links, pools, classes",
    )
    command.add_argument(
        "--all",
        action="store_true",
        help="print all formulas, methods, assumptions and inputs of a long explanation",
    )
    takes_changes(command)
    command.add_argument(
        "--at",
        metavar="N",
        type=population_or_date,
        help="set the population, or a month of the forecast: 2028-06 "
        "[default: the capacity; with --network: none]",
    )
    takes_sampling(command)
    command.set_defaults(confidence=None)
    takes_format(command, "text", "json", "markdown")


def add_test(commands: Commands) -> None:
    """Add `qps test`."""
    command = command_of(commands, "test", "test the claims of specs against predictions")
    takes_paths(command)
    takes_readers(command)
    command.add_argument(
        "--no-simulate",
        dest="simulate",
        action="store_false",
        help="skip `simulated` claims",
    )
    command.add_argument(
        "--time-limit",
        dest="seconds",
        metavar="TIME",
        default="60",
        help="stop each simulation after this wall time [default: 60 s]",
    )
    takes_former(command, FORMER_LIMIT)
    command.add_argument(
        "--interval",
        metavar="PERCENT",
        default="90 %",
        help="set the level of prediction intervals for measured rows [default: 90 %%]",
    )
    declare_drift(command)
    takes_format(command, "text", "json", "markdown", "junit", "github")


def add_simulate(commands: Commands) -> None:
    """Add `qps simulate`."""
    command = command_of(
        commands, "simulate", "simulate a spec and compare the predictions with the result"
    )
    takes_one_spec(command)
    takes_changes(command)
    command.add_argument(
        "--at",
        metavar="N",
        type=population_or_date,
        help="set the population, or a month of the forecast: 2028-06 [default: the capacity]",
    )
    command.add_argument(
        "--over",
        metavar="TIMES",
        help="simulate an incident, `day` or `week`, or hours: 17:00..22:00",
    )
    command.add_argument(
        "--runs",
        metavar="COUNT",
        type=count,
        default=10,
        help="with `--over`, simulate at most so often [default: 10]",
    )
    command.add_argument(
        "--precision",
        metavar="PERCENT",
        default="2 %",
        help="stop when 95 %% confidence intervals are this narrow [default: 2 %%]",
    )
    command.add_argument(
        "--time-limit",
        dest="seconds",
        metavar="TIME",
        default="60",
        help="stop after this much wall time [default: 60 s]",
    )
    takes_former(command, FORMER_LIMIT)
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="seed the random numbers [default: 1]"
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=count, help="use this many cores [default: all]"
    )
    takes_format(command, "text", "json", "markdown")


def add_incident(commands: Commands) -> None:
    """Add `qps incident`."""
    command = command_of(
        commands,
        "incident",
        "compute what happens while something fails, and whether it is over by itself",
    )
    takes_one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="incident to compute [default: all of the spec]"
    )
    takes_changes(command)
    command.add_argument(
        "--at",
        metavar="N",
        type=population_or_date,
        help="set the population, or a month of the forecast: 2028-06 [default: the capacity]",
    )
    takes_advice(command)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write an interactive .html page, or the course to a .parquet, .csv or .json file",
    )
    takes_format(command, "text", "json", "markdown")


def add_matrix(commands: Commands) -> None:
    """Add `qps matrix`."""
    command = command_of(commands, "matrix", "solve every configuration of a scenario matrix")
    takes_one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="matrix to solve, if the spec has several"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write all columns to a .parquet, .csv or .json file, or an interactive .html page",
    )
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="override an input that is not an axis; repeatable",
    )
    command.add_argument(
        "--on",
        metavar="WHERE",
        default="cores",
        help="run on cores, dask (a local cluster) or dask://HOST:PORT [default: cores]",
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=int, help="use this many cores [default: all]"
    )
    command.add_argument("--resume", action="store_true", help="resume an interrupted run")
    takes_format(command, "text", "json", "csv", "markdown")
    # Parts of results belong to the version that made them.
    command.set_defaults(version=__version__)


def add_plan(commands: Commands) -> None:
    """Add `qps plan`."""
    command = command_of(
        commands, "plan", "find the cheapest configuration that supports a population"
    )
    takes_one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="name of the choice [default: the only one]"
    )
    command.add_argument(
        "--users",
        metavar="N",
        help="support this many users (300, 'N = 300'), or the forecast until a month: 2028-06",
    )
    command.add_argument(
        "--budget",
        metavar="COST",
        help="instead: support as many users as this cost allows, such as '5_000 $/month'",
    )
    takes_former(command, FORMER_USERS)
    takes_changes(command)
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the plan to this .html file, too"
    )
    command.add_argument(
        "--resume",
        metavar="FILE",
        type=Path,
        help="store progress in this file, and resume an interrupted plan from it",
    )
    takes_format(command, "text", "json", "markdown")
    command.set_defaults(confidence=None)


def add_metrics(commands: Commands) -> None:
    """Add `qps metrics`."""
    command = command_of(
        commands, "metrics", "write predictions as metrics for Prometheus, with a dashboard"
    )
    takes_one_spec(command)
    takes_changes(command)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE.prom",
        type=Path,
        help="write to this file [default: standard output]",
    )
    command.add_argument(
        "--at",
        metavar="N",
        type=population_or_date,
        help="predict for this population, or a month of the forecast: 2028-06 "
        "[default: the capacity]",
    )
    command.add_argument(
        "--dashboard", metavar="FILE.json", type=Path, help="write a Grafana dashboard to this file"
    )
    command.add_argument(
        "--measured",
        metavar="NAME=QUERY",
        action="append",
        default=[],
        help="with --dashboard: PromQL query that measures a resource (web.cpu), a latency "
        "(page.latency), a rate (page.rate) or users; repeatable",
    )
    takes_sampling(command)
    command.set_defaults(confidence=None, format="text")
