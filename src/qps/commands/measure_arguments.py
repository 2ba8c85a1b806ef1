"""What `qps measure` takes."""

from __future__ import annotations

import argparse


def declare_measure(command: argparse.ArgumentParser) -> None:
    """Declare what is measured, what asks it for work, and how both are counted."""
    command.usage = (
        "qps measure OUT.csv (--of NAME | --server COMMAND) --vary 'rate in 100, 200 request/s' "
        "--count PATTERN [flags] -- GENERATOR … {rate} … {seconds}\n"
        "       qps measure step [--vary 'count in 1000, 10000 packet'] -- COMMAND … {count}"
    )
    command.add_argument(
        "what", metavar="OUT.csv", help="the table to write; or `step`: a command by itself"
    )
    command.add_argument(
        "--of",
        metavar="[COLUMN=]NAME",
        action="append",
        default=[],
        help="a program that runs, by its name, the id of a process (with all it has started), or "
        "a control group (with a `/`); repeatable",
    )
    command.add_argument("--server", metavar="COMMAND", help="start this, and end it at last")
    command.add_argument(
        "--vary",
        metavar="AXIS",
        action="append",
        default=[],
        help="what is put in for {rate}, {size}, … in the command of the generator, such as "
        "'rate in 100, 200 request/s'; {rate/8} reckons; repeatable: each with each",
    )
    command.add_argument(
        "--idle", action="store_true", help="measure the server without any load, too"
    )
    command.add_argument(
        "--count",
        metavar="[ITEM=]PATTERN",
        action="append",
        default=[],
        help="a pattern that finds how many were done in what the generator prints, in brackets; "
        "repeatable",
    )
    command.add_argument(
        "--from",
        dest="source",
        metavar="URL|COMMAND",
        help="count in a status page, or in what a command prints, before and after",
    )
    _declare_runs(command)


def _declare_runs(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--seconds", metavar="TIME", default="5", help="how long a run is, {seconds} (default 5)"
    )
    command.add_argument(
        "--warm-up",
        metavar="TIME",
        default="1",
        help="with --from: how long the generator runs before anything is read (default 1)",
    )
    command.add_argument(
        "--repeat", metavar="COUNT", type=count, default=3, help="runs of a setting (default 3)"
    )
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="the same seed, the same order"
    )
    command.add_argument(
        "--cores", metavar="N", help="of how many cores the load is told (default: as may be used)"
    )
    command.add_argument(
        "--interface",
        metavar="NAME",
        default="lo",
        help="where packets are counted (default lo), or `none`",
    )
    command.add_argument(
        "--own-network",
        action="store_true",
        help="measure in a network of its own, with nobody else's packets: with --server, as root",
    )
    command.add_argument(
        "--record",
        metavar="COMMAND",
        action="append",
        default=[],
        help="keep what it prints with the conditions of the runs, such as 'nginx -v'; repeatable",
    )
    command.add_argument(
        "--unit",
        metavar="NAME",
        action="append",
        default=[],
        help="an item of your own that is counted or varied, such as `update`; repeatable",
    )
    command.add_argument(
        "--dry-run", action="store_true", help="tell what would be run, and run nothing"
    )
    command.add_argument(
        "--no-check",
        dest="check",
        action="store_false",
        help="do not look first whether the machine is busy and the highest rate is reached",
    )
    command.add_argument(
        "--resume", action="store_true", help="go on with measuring that was broken off"
    )


def count(text: str) -> int:
    """Read a whole number from 1 on."""
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 6 or int(text) < 1:  # noqa: PLR2004
        raise argparse.ArgumentTypeError(f"`{text[:20]}` is not a number from 1 to 999999")
    return int(text)
