"""What the commands take that make live pages."""

from __future__ import annotations

from pathlib import Path

from qps.commands.arguments.common_arguments import (
    Commands,
    command_of,
    takes_advice,
    takes_changes,
    takes_one_spec,
    takes_settings,
)
from qps.commands.arguments.measure_arguments import count


def add_report(commands: Commands) -> None:
    """Add `qps report`."""
    command = command_of(
        commands, "report", "write an interactive report as one self-contained HTML file"
    )
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="one spec, several specs to compare, or a file written by `qps matrix`",
    )
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="apply a scenario; several are compared side by side",
    )
    takes_settings(command)
    takes_advice(command)
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write to this file [default: NAME.html]"
    )
    command.add_argument(
        "--figure",
        metavar="NAME",
        action="append",
        default=[],
        help="draw only this chart of the spec; repeatable",
    )
    command.add_argument(
        "--simulate",
        action="store_true",
        help="add a comparison with a simulation (up to one minute)",
    )
    command.add_argument(
        "--variants",
        metavar="N",
        type=count,
        default=200,
        help="limit the combinations of options, machines and networks in the page [default: 200]",
    )
    command.set_defaults(format="text")


def add_serve(commands: Commands) -> None:
    """Add `qps serve`."""
    command = command_of(
        commands, "serve", "open a report in the browser and reload it on each save"
    )
    takes_one_spec(command)
    takes_changes(command)
    takes_advice(command)
    command.add_argument(
        "--port",
        metavar="NUMBER",
        type=int,
        default=0,
        help="listen on this port of the loopback address [default: a free port]",
    )
    command.add_argument(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="print the address without opening a browser",
    )
    command.set_defaults(format="text", variants=200, simulate=False)
