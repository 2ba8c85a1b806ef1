"""What several commands take."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from qps.commands.examples import examples_of

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

EXIT_STATUS = """\
exit status: 0 yes; 1 the answer is no (a claim fails, nobody can be carried,
a layout differs); 2 the spec or the command line is wrong; 3 a fault of qps itself"""


def command_of(commands: Commands, name: str, help_text: str) -> argparse.ArgumentParser:
    """Add a command, with what all commands take."""
    command = commands.add_parser(
        name,
        help=help_text,
        description=help_text[0].upper() + help_text[1:] + ".",
        epilog=f"{EXIT_STATUS}\n\n{examples_of(name)}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--color",
        choices=["auto", "always", "never"],
        default="auto",
        help="colour answers and diagnostics",
    )
    command.add_argument(
        "-q", "--quiet", action="store_true", help="print failures and answers only"
    )
    return command


def takes_format(command: argparse.ArgumentParser, *choices: str) -> None:
    """Have a command print in one of these ways, the first unasked."""
    command.add_argument(
        "--format", choices=choices, default=choices[0], help=f"how to print (default {choices[0]})"
    )


def takes_paths(command: argparse.ArgumentParser) -> None:
    """Have a command take specs, or folders that hold some."""
    command.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a spec, or a folder that holds some"
    )


def takes_readers(command: argparse.ArgumentParser) -> None:
    """Have a command take files for the specs that read them, or those that a commit changes."""
    command.add_argument(
        "--readers",
        action="store_true",
        help="take files (modules and tables, too) for the specs below this folder that read them",
    )
    command.add_argument(
        "--changed",
        action="store_true",
        help="of these specs, those that read what is not as the last commit has it, be it gone",
    )


def takes_one_spec(command: argparse.ArgumentParser) -> None:
    """Have a command take one spec."""
    command.add_argument("file", metavar="FILE", type=Path, help="the spec")


def takes_changes(command: argparse.ArgumentParser) -> None:
    """Have a command take what is changed in a spec: scenarios and settings."""
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="a scenario of the spec; several are made together",
    )
    takes_settings(command)


def takes_settings(command: argparse.ArgumentParser) -> None:
    """Have a command take settings."""
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="change a parameter, a number that the spec states (wan.rate), an option, machine, "
        "network or the population; repeatable",
    )


def takes_sampling(command: argparse.ArgumentParser) -> None:
    """Have a command take how samples of what is uncertain are drawn."""
    command.add_argument(
        "--samples",
        metavar="COUNT",
        type=int,
        default=10_000,
        help="how many values of what is uncertain are tried (default: 10000)",
    )
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="the same seed, the same samples"
    )


def takes_advice(command: argparse.ArgumentParser) -> None:
    """Have a command leave out what would help."""
    command.add_argument(
        "--no-advice",
        dest="advice",
        action="store_false",
        help="do not try out what would help: it takes a second or two",
    )
