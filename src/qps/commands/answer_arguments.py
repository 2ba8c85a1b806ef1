"""What the commands take that answer: about one spec, its claims, its matrices."""

from __future__ import annotations

import argparse
from pathlib import Path

from qps.commands.common_arguments import (
    Commands,
    command_of,
    takes_advice,
    takes_changes,
    takes_format,
    takes_one_spec,
    takes_paths,
    takes_readers,
    takes_sampling,
)
from qps.commands.measure_arguments import count
from qps.commands.observe_arguments import declare_drift
from qps.version import __version__

FORMER_FLAGS = {"--carry": "users", "--given": "users", "--sure": "confidence"}
"""Flags of `qps solve` by their former names, which are read for ever and shown nowhere."""


def add_check(commands: Commands) -> None:
    """Add `qps check`."""
    command = command_of(commands, "check", "parse, resolve names, check dimensions and topology")
    takes_paths(command)
    takes_readers(command)
    takes_format(command, "text", "plain", "json")


def add_solve(commands: Commands) -> None:
    """Add `qps solve`."""
    command = command_of(commands, "solve", "how many users it carries, and what gives out first")
    takes_one_spec(command)
    takes_changes(command)
    takes_advice(command)
    command.add_argument(
        "--all",
        action="store_true",
        help="print all that is known, not only what one must know first",
    )
    command.add_argument(
        "--for",
        dest="solve_for",
        metavar="NAME",
        help="find the values of this number that support --users",
    )
    command.add_argument(
        "--users",
        metavar="N",
        help="size every resource for this many users: 300, or 'N = 300'; with --for only NAME",
    )
    command.add_argument(
        "--confidence",
        metavar="PERCENT",
        help="report the capacity at this confidence where inputs are uncertain: '95 %%'",
    )
    for former, dest in FORMER_FLAGS.items():
        command.add_argument(former, dest=dest, help=argparse.SUPPRESS)
    takes_sampling(command)
    takes_format(command, "text", "json", "markdown")


def add_explain(commands: Commands) -> None:
    """Add `qps explain`."""
    command = command_of(
        commands,
        "explain",
        "a load, measure or axis as a formula, or what a code or rule means",
    )
    takes_one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="what to explain, such as station.cpu"
    )
    takes_changes(command)
    command.add_argument(
        "--at", metavar="N", type=int, help="the population (default: the largest acceptable)"
    )
    takes_sampling(command)
    command.set_defaults(confidence=None)
    takes_format(command, "text", "json", "markdown")


def add_test(commands: Commands) -> None:
    """Add `qps test`."""
    command = command_of(
        commands, "test", "every claim of the specs: claimed, predicted, difference"
    )
    takes_paths(command)
    takes_readers(command)
    command.add_argument(
        "--no-simulate",
        dest="simulate",
        action="store_false",
        help="leave claims of what is `simulated` alone: they are the slow ones",
    )
    command.add_argument(
        "--seconds",
        metavar="SECONDS",
        default="60",
        help="play for so long at most, for each configuration that claims are `simulated` of "
        "(default: 60)",
    )
    command.add_argument(
        "--interval",
        metavar="PROBABILITY",
        default="90 %",
        help="of the intervals of what measured rows are predicted to be, where numbers are "
        "uncertain (default: 90 %%)",
    )
    declare_drift(command)
    takes_format(command, "text", "json", "markdown", "junit", "github")


def add_simulate(commands: Commands) -> None:
    """Add `qps simulate`."""
    command = command_of(
        commands, "simulate", "the spec played packet by packet, beside what is predicted of it"
    )
    takes_one_spec(command)
    takes_changes(command)
    command.add_argument(
        "--at", metavar="N", type=int, help="the population (default: the largest acceptable)"
    )
    command.add_argument(
        "--precision",
        metavar="SHARE",
        default="2 %",
        help="play until means and loads are known to it, 95 times of 100 (default 2 %%)",
    )
    command.add_argument(
        "--seconds", metavar="TIME", default="60", help="play no longer than so (default 60)"
    )
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="the same seed, the same runs"
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=count, help="how many cores to use (default: all)"
    )
    takes_format(command, "text", "json", "markdown")


def add_matrix(commands: Commands) -> None:
    """Add `qps matrix`."""
    command = command_of(commands, "matrix", "every configuration of a matrix, solved")
    takes_one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="which matrix, where the spec has several"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write all columns to a .parquet, .csv or .json file, or a page to sort and filter "
        "them to a .html file (default: a table on the screen)",
    )
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="change what is no axis of the matrix; repeatable",
    )
    command.add_argument(
        "--on",
        metavar="WHERE",
        default="cores",
        help="cores (of this machine, the default), dask (a local cluster) or dask://HOST:PORT",
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=int, help="how many cores to use (default: all)"
    )
    command.add_argument(
        "--resume", action="store_true", help="go on with a run that was broken off"
    )
    takes_format(command, "text", "json", "csv", "markdown")
    # Parts of results belong to the version that made them.
    command.set_defaults(version=__version__)
