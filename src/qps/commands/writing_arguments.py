"""What the commands take that help with writing specs."""

from __future__ import annotations

from pathlib import Path

from qps.commands.common_arguments import Commands, command_of


def add_fmt(commands: Commands) -> None:
    """Add `qps fmt`."""
    command = command_of(commands, "fmt", "the one canonical layout, comments kept")
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="+",
        type=Path,
        help="a spec, or a folder that holds some; `-` lays out standard input",
    )
    command.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 where a file would change"
    )
    command.add_argument(
        "--upgrade",
        action="store_true",
        help="rewrite what the first edition of the language said otherwise, with the same answers",
    )
    command.set_defaults(format="text")


def add_new(commands: Commands) -> None:
    """Add `qps new`."""
    command = command_of(commands, "new", "a small spec that works, to start from")
    command.add_argument("name", metavar="NAME", help="the name of the new spec")
    command.set_defaults(format="text")


def add_lsp(commands: Commands) -> None:
    """Add `qps lsp`."""
    command = command_of(commands, "lsp", "the language server, which editors start")
    command.add_argument(
        "--stdio",
        action="store_true",
        help="speak on standard input and output, as it does anyway: editors say so",
    )
    command.set_defaults(format="text")


def add_completion(commands: Commands) -> None:
    """Add `qps completion`."""
    command = command_of(commands, "completion", "what a shell needs to complete `qps`")
    command.add_argument(
        "shell", metavar="SHELL", choices=["bash", "zsh", "fish", "powershell"], help="%(choices)s"
    )
    command.set_defaults(format="text")
