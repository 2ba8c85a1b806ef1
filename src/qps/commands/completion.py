"""`qps completion`: what a shell needs to complete commands, flags and names of files."""

from __future__ import annotations

import re
from argparse import Action, ArgumentParser, Namespace
from collections.abc import Iterator
from pathlib import Path

import shtab

from qps.commands.arguments.command_line import parser_of
from qps.commands.terminal.console import Exit


def run(arguments: Namespace) -> Exit:
    """Print the script of a shell."""
    parser = parser_of(None)
    for action in _actions(parser):
        if action.type is Path or action.dest in _NAMED_BY_REVISION:
            setattr(action, "complete", shtab.FILE)  # noqa: B010 - argparse knows it not
    script = shtab.complete(parser, arguments.shell)
    if arguments.shell == "zsh":
        # Of several files shtab has zsh complete the first one alone.
        script = re.sub(r'^(  ")\(\*\)::?', r"\1*:", script, flags=re.MULTILINE)
    print(script)
    return Exit.YES


_NAMED_BY_REVISION = ("old", "new")
"""What may also be `REV:FILE`."""


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Yield all that a parser takes, and what its commands take."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way
        yield action
        if isinstance(action.choices, dict):
            for command in action.choices.values():
                yield from _actions(command)
