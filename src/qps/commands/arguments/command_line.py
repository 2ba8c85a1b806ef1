"""The parser of the command line: argparse, whose complaints are diagnostics like all others."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from qps.commands.arguments.command_table import COMMANDS
from qps.commands.arguments.common_arguments import EXIT_STATUS, USUAL_CHOICE
from qps.version import __version__

if TYPE_CHECKING:
    from qps.compiler.diagnostics.diagnostic import QpsError


_FIRST_FLAGS = {"-q": 1, "--quiet": 1, "--color": 2}
"""Flags that may stand before a choice, and of how many words each is."""


_MOST_COMMANDS = 3
"""Commands that are named where a flag is one of theirs."""


class _SingleValue(argparse.Action):
    """Stores the value of a flag that may stand once: of two, neither is dropped in silence."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,  # noqa: ARG002 - argparse gives it
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        """Keep the value; a second one is refused."""
        given: set[str] = getattr(namespace, "given_once", set())
        if option_string is not None and self.dest in given:
            raise _complaint(f"`{option_string}` is given twice", "remove one of them")
        namespace.given_once = given | {self.dest}
        setattr(namespace, self.dest, values)


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are diagnostics like all others; a flag has one value."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.register("action", None, _SingleValue)
        self.register("action", "store", _SingleValue)

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Refuse here what no flag takes: here the flags of the command are known."""
        usual = self.get_default(USUAL_CHOICE)
        if usual is not None and args is not None:
            args = self._with_choice(list(args), usual)
        found, left = super().parse_known_args(args, namespace)
        if left:
            self._refuse(left)
        return found, left

    def _with_choice(self, words: list[str], usual: str) -> list[str]:
        """Return words with the choice that holds where they name none of a parser's choices."""
        (choices,) = (one.choices for one in self._actions if isinstance(one.choices, dict))
        place = 0
        while place < len(words) and words[place] in _FIRST_FLAGS:
            place += _FIRST_FLAGS[words[place]]
        if place >= len(words) or words[place] in (*choices, "-h", "--help"):
            return words
        return [*words[:place], usual, *words[place:]]

    def _refuse(self, left: Sequence[str]) -> NoReturn:
        from qps.commands.arguments.words_of_other_tools import flag_here  # noqa: PLC0415
        from qps.compiler.diagnostics.suggest import did_you_mean  # noqa: PLC0415

        flags = [word.partition("=")[0] for word in left if word.startswith("-")]
        if flags:
            message = f"`{self.prog}` has no flag `{flags[0]}`"
            hint = flag_here(flags[0], _shown_flags(self)) or _of_others(flags[0], self.prog)
            hint = hint or did_you_mean(flags[0], _shown_flags(self))
        else:
            message, hint = f"`{self.prog}` takes no argument `{left[0]}`", None
        raise _complaint(message, hint or f"`{self.prog} --help` lists the arguments")

    def error(self, message: str) -> NoReturn:
        """Tell what argparse found, in the same words whichever Python it is of."""
        before, choices, words = message.partition("(choose from ")
        message = before + choices + words.replace("'", "")  # from 3.12 on it quotes none
        raise _complaint(f"{self.prog}: {message}", f"`{self.prog} --help` lists the arguments")


def parser_of(command: str | None) -> argparse.ArgumentParser:
    """Return what takes the arguments of a command, of all of them for None."""
    parser: argparse.ArgumentParser = _Parser(
        prog="qps",
        description="Capacity planning as code: how many users a system supports, and why.",
        epilog=EXIT_STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"qps {__version__}")
    commands = parser.add_subparsers(
        title="commands", dest="command", metavar="COMMAND", required=True
    )
    for name, add in COMMANDS.items():
        if command in (None, name):
            add(commands)
    return parser


def _shown_flags(parser: argparse.ArgumentParser) -> list[str]:
    """Return the flags that the help of a parser shows."""
    actions = parser._option_string_actions.items()  # noqa: SLF001 - no public way
    return [flag for flag, action in actions if action.help != argparse.SUPPRESS]


def _flags(command: str) -> list[str]:
    """Return the flags of a command that its help shows."""
    commands = argparse.ArgumentParser().add_subparsers()
    COMMANDS[command](commands)
    return [flag for parser in commands.choices.values() for flag in _shown_flags(parser)]


def _of_others(flag: str, program: str) -> str | None:
    """Return that other commands have a flag, or None where none of them has it."""
    found = [name for name in COMMANDS if f"qps {name}" != program and flag in _flags(name)]
    if not found:
        return None
    names = [f"`qps {name}`" for name in found[:_MOST_COMMANDS]]
    more = len(found) - len(names)
    listed = ", ".join(names) + (f" and {more} more" if more else "")
    of_claims = "; a claim states its inputs itself: `expect { … with N = 500 }`"
    has_claims = flag == "--set" and program == "qps test"
    return f"it is a flag of {listed}" + of_claims * has_claims


def _complaint(message: str, hint: str) -> QpsError:
    from qps.commands.terminal.console import complain  # noqa: PLC0415 - most command lines are right

    return complain(message, hint)
