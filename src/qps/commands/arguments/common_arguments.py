"""What several commands take."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from qps.commands.arguments.help_examples import examples_of

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

USUAL_CHOICE = "usual_choice"
"""The default by which a parser says which of its choices holds where none is named."""
EXIT_STATUS = """\
exit status: 0 success; 1 negative result (a claim fails, capacity is zero,
a file is not formatted); 2 error in a spec or command line; 3 internal error"""


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Breaks no line between a number and its unit."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        joined = re.sub(r"(?<=[0-9]) (?=(%|m?s|users)(?![a-z]))", "\N{NO-BREAK SPACE}", text)
        # argparse wraps at blanks of ASCII alone
        lines = super()._split_lines(joined, width)
        return [line.replace("\N{NO-BREAK SPACE}", " ") for line in lines]


def command_of(commands: Commands, name: str, help_text: str) -> argparse.ArgumentParser:
    """Add a command, with what all commands take."""
    command = commands.add_parser(
        name,
        help=help_text,
        description=help_text[0].upper() + help_text[1:] + ".",
        epilog=f"{EXIT_STATUS}\n\n{examples_of(name)}",
        formatter_class=HelpFormatter,
    )
    common = command.add_argument_group("global options")
    common.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="color the output [default: auto]",
    )
    common.add_argument(
        "-q", "--quiet", action="store_true", help="print only results and failures"
    )
    return command


def takes_former(
    command: argparse.ArgumentParser, flags: Mapping[str, str], kind: type[int | str] = str
) -> None:
    """Have a command take flags by their former names, which are read for ever and not shown."""
    for flag, dest in flags.items():
        command.add_argument(
            flag, dest=dest, type=kind, default=argparse.SUPPRESS, help=argparse.SUPPRESS
        )


def takes_format(command: argparse.ArgumentParser, *choices: str) -> None:
    """Have a command print in one of these ways, the first by default."""
    command.add_argument(
        "--format",
        choices=choices,
        default=choices[0],
        help=f"set the output format [default: {choices[0]}]",
    )


def takes_paths(command: argparse.ArgumentParser) -> None:
    """Have a command take specs, or folders that hold some."""
    command.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="spec, or folder to search for specs"
    )


def takes_readers(command: argparse.ArgumentParser) -> None:
    """Have a command take files for the specs that read them, or those that a commit changes."""
    command.add_argument(
        "--readers",
        action="store_true",
        help="treat each PATH as a module or table, and use the specs under the current "
        "folder that read it",
    )
    command.add_argument(
        "--changed",
        action="store_true",
        help="use only specs affected by uncommitted changes",
    )


def takes_one_spec(command: argparse.ArgumentParser) -> None:
    """Have a command take one spec."""
    command.add_argument("file", metavar="FILE", type=Path, help="spec to read")


def takes_changes(command: argparse.ArgumentParser) -> None:
    """Have a command take what is changed in a spec: scenarios and settings."""
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="apply a scenario of the spec; repeatable",
    )
    takes_settings(command)


def takes_settings(command: argparse.ArgumentParser) -> None:
    """Have a command take settings."""
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="override a parameter, option, machine or number such as wan.rate; repeatable",
    )


def takes_sampling(command: argparse.ArgumentParser) -> None:
    """Have a command take how samples of what is uncertain are drawn."""
    command.add_argument(
        "--samples",
        metavar="COUNT",
        type=int,
        default=10_000,
        help="draw this many samples of uncertain inputs [default: 10000]",
    )
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="seed the random samples [default: 1]"
    )


def takes_advice(command: argparse.ArgumentParser) -> None:
    """Have a command leave out what would help."""
    command.add_argument(
        "--no-advice",
        dest="advice",
        action="store_false",
        help="skip the search for changes that raise capacity",
    )
