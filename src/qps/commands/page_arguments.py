"""What the commands take that make live pages."""

from __future__ import annotations

from pathlib import Path

from qps.commands.common_arguments import (
    Commands,
    command_of,
    takes_advice,
    takes_changes,
    takes_one_spec,
    takes_settings,
)
from qps.commands.measure_arguments import count


def add_report(commands: Commands) -> None:
    """Add `qps report`."""
    command = command_of(commands, "report", "one self-contained HTML file, live in the browser")
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="the spec; several stand side by side. Or a result of `qps matrix`",
    )
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="a scenario of the spec; several stand side by side",
    )
    takes_settings(command)
    takes_advice(command)
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="where to (default: NAME.html)"
    )
    command.add_argument(
        "--figure",
        metavar="NAME",
        action="append",
        default=[],
        help="draw this figure of the spec only; repeatable",
    )
    command.add_argument(
        "--simulate",
        action="store_true",
        help="play the spec too, for a minute at most, and show it beside what is predicted",
    )
    command.add_argument(
        "--variants",
        metavar="N",
        type=count,
        default=200,
        help="how many combinations of choices, machines and networks the page holds at most "
        "(default 200)",
    )
    command.set_defaults(format="text")


def add_serve(commands: Commands) -> None:
    """Add `qps serve`."""
    command = command_of(commands, "serve", "the page in a browser, made anew after each save")
    takes_one_spec(command)
    takes_changes(command)
    takes_advice(command)
    command.add_argument(
        "--port",
        metavar="NUMBER",
        type=int,
        default=0,
        help="of the loopback address, the only one that it is served at (default: a free one)",
    )
    command.add_argument(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="open no browser: only tell the address",
    )
    command.set_defaults(format="text", variants=200, simulate=False)
