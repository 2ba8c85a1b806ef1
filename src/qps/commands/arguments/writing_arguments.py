"""What the commands take that help with writing specs."""

from __future__ import annotations

from pathlib import Path

from qps.commands.arguments.common_arguments import Commands, command_of
from qps.commands.arguments.spec_templates import STARTING_SPECS

STARTING_POINTS = ("load-test", "traces", "metrics", "manifests", "nothing")
"""What somebody may have who begins."""


def add_fmt(commands: Commands) -> None:
    """Add `qps fmt`."""
    command = command_of(commands, "fmt", "format specs; comments are preserved")
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=Path,
        help="spec, folder to search for specs, or `-` for standard input",
    )
    command.add_argument(
        "--check",
        action="store_true",
        help="write nothing; exit with 1 if a file would be reformatted",
    )
    command.add_argument(
        "--upgrade",
        action="store_true",
        help="rewrite outdated syntax for the current edition; results do not change",
    )
    command.add_argument(
        "--chance",
        action="store_true",
        help="with --upgrade: a step such as `scan * 1.4 %%` becomes `1.4 %%: scan`, so that only "
        "some items run it [default: its average service demand]",
    )
    command.set_defaults(format="text")


def add_new(commands: Commands) -> None:
    """Add `qps new`."""
    command = command_of(commands, "new", "write a small working spec to start from")
    command.add_argument(
        "name",
        metavar="NAME",
        nargs="?",
        help="name of the new spec [default: the name of the example]",
    )
    width = max(map(len, STARTING_SPECS))
    listed = "".join(f"\n  {name:{width}}  {one.about}" for name, one in STARTING_SPECS.items())
    command.add_argument(
        "--example", metavar="EXAMPLE", help="start from an example [default: web]"
    )
    command.epilog = f"spec examples:{listed}\n\n{command.epilog}"
    command.set_defaults(format="text")


def add_start(commands: Commands) -> None:
    """Add `qps start`."""
    command = command_of(commands, "start", "show how to get from what you have to an answer")
    command.add_argument(
        "--from",
        dest="start_from",
        choices=STARTING_POINTS,
        help="what you have [default: ask, or list the choices]",
    )
    command.set_defaults(format="text")


def add_lsp(commands: Commands) -> None:
    """Add `qps lsp`."""
    command = command_of(commands, "lsp", "run the language server for editors")
    command.add_argument(
        "--stdio",
        action="store_true",
        help="use standard input and output (the default)",
    )
    command.set_defaults(format="text")


def add_completion(commands: Commands) -> None:
    """Add `qps completion`."""
    command = command_of(commands, "completion", "print a completion script for a shell")
    command.add_argument(
        "shell", metavar="SHELL", choices=["bash", "zsh", "fish", "powershell"], help="%(choices)s"
    )
    command.set_defaults(format="text")
