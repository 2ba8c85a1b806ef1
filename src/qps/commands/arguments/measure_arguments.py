"""What `qps measure` takes."""

from __future__ import annotations

import argparse


def declare_measure(command: argparse.ArgumentParser) -> None:
    """Declare what is measured, its load generator, and how both are counted."""
    command.usage = (
        "qps measure OUT.csv (--of NAME | --server COMMAND)\n"
        "           --vary 'rate in 100, 200 request/s' --count PATTERN [flags]\n"
        "           -- GENERATOR … {rate} … {seconds}\n"
        "       qps measure step [--vary 'count in 1000, 10000 packet']\n"
        "           -- COMMAND … {count}"
    )
    command.add_argument(
        "what", metavar="OUT.csv", help="table to write, or `step` to measure a single command"
    )
    command.add_argument(
        "--of",
        metavar="[COLUMN=]NAME",
        action="append",
        default=[],
        help="measure a running program: its name, process ID (with its children) or "
        "cgroup (with a `/`); repeatable",
    )
    command.add_argument(
        "--server", metavar="COMMAND", help="start this server, and stop it at the end"
    )
    command.add_argument(
        "--vary",
        metavar="AXIS",
        action="append",
        default=[],
        help="substitute {rate}, {size}, … in the generator command, such as 'rate in 100, "
        "200 request/s'; {rate/8} is evaluated; repeat the flag to measure all combinations",
    )
    command.add_argument("--idle", action="store_true", help="also measure the idle server")
    command.add_argument(
        "--count",
        metavar="[ITEM=]PATTERN",
        action="append",
        default=[],
        help="count items in the generator's output: regex with one capture group; repeatable",
    )
    command.add_argument(
        "--from",
        dest="source",
        metavar="URL|COMMAND",
        help="read counts from a status page or a command's output, twice during each run",
    )
    _declare_runs(command)
    _declare_records(command)
    command.add_argument(
        "--dry-run", action="store_true", help="print the planned runs without running them"
    )
    command.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="skip the initial check for an idle machine and a fast enough generator",
    )
    command.add_argument("--resume", action="store_true", help="resume an interrupted measurement")


def _declare_runs(command: argparse.ArgumentParser) -> None:
    """Declare how long and how often each setting runs, and in which order."""
    command.add_argument(
        "--seconds",
        metavar="TIME",
        default="5",
        help="duration of a run, which replaces {seconds} [default: 5 s]",
    )
    command.add_argument(
        "--warm-up",
        metavar="TIME",
        default="1",
        help="with --from: let the generator run this long before counting [default: 1 s]",
    )
    command.add_argument(
        "--repeat",
        metavar="COUNT",
        type=count,
        default=3,
        help="run each setting this many times [default: 3]",
    )
    command.add_argument(
        "--seed",
        metavar="NUMBER",
        type=int,
        default=1,
        help="seed for the order of runs [default: 1]",
    )


def _declare_records(command: argparse.ArgumentParser) -> None:
    """Declare what is recorded of each run: CPU, packets, versions, units of items."""
    command.add_argument(
        "--cores",
        metavar="N",
        help="report CPU as %% of N cores [default: the cores that the server can use]",
    )
    command.add_argument(
        "--interface",
        metavar="NAME",
        default="lo",
        help="count packets on this interface, or `none` [default: lo]",
    )
    command.add_argument(
        "--own-network",
        action="store_true",
        help="with --server, as root: measure in a separate network namespace",
    )
    command.add_argument(
        "--record",
        metavar="COMMAND",
        action="append",
        default=[],
        help="record the output of a command with the runs, such as 'nginx -v'; repeatable",
    )
    command.add_argument(
        "--unit",
        metavar="NAME",
        action="append",
        default=[],
        help="declare an item to count or vary, such as `update`; repeatable",
    )


def count(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 6 or int(text) < 1:  # noqa: PLR2004
        raise argparse.ArgumentTypeError(f"`{text[:20]}` is not a number from 1 to 999999")
    return int(text)
