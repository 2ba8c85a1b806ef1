"""The command line: arguments in, one command run, an exit status out."""

from __future__ import annotations

import argparse
import atexit
import gc
import os
import sys
from collections.abc import Sequence
from errno import EACCES, ELOOP, ENAMETOOLONG
from importlib import import_module
from typing import TYPE_CHECKING

from qps import __version__
from qps.commands.arguments.command_line import parser_of
from qps.commands.arguments.command_table import COMMANDS, FOR_PROGRAMS, TAKES_A_PROGRAM

if TYPE_CHECKING:
    from qps.commands.terminal.output import Screen


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    from qps.commands.terminal.output import OutputLostError, abandon_output, screens  # noqa: PLC0415

    if argv is None:
        _collect_seldom()
        _multiply_alone()
    try:
        with screens() as screen:
            return _run(list(sys.argv[1:] if argv is None else argv), screen)
    except BrokenPipeError:
        # The reader went away (`qps solve … | head`): there is no reader left.
        sys.stderr.close()
        return 0
    except OutputLostError as lost:
        abandon_output(lost)
        return 2


def _collect_seldom() -> None:
    """Have Python look for circles of garbage less often than by default.

    A command makes up to millions of values that live until it ends, and few circles: to look
    through them after every 700 new ones took half the time of a large spec. The process is this
    command's own; where QPS is a library nothing is changed. At its end Python looks through all
    that is left, a sixth of the time of a small spec: frozen values are left out of that.
    """
    gc.set_threshold(_NEW_VALUES, 20, 10)
    atexit.register(gc.freeze)


def _multiply_alone() -> None:
    """Have numpy multiply matrices in one thread, unless the environment says otherwise.

    They are small: other threads would mostly wait, which costs as much of the processor as work.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


_NEW_VALUES = 500_000
"""Between two looks: circles of some 50 MB, at the most, are kept that long without need."""


def _run(argv: Sequence[str], screen: Screen) -> int:
    """Run one command and return its exit status; errors were reported."""
    from qps.commands.terminal.output import OutputLostError  # noqa: PLC0415

    arguments = argparse.Namespace(quiet=False, format="text", color="auto")
    try:
        argv, program = _parted(argv)
        if not argv:
            parser_of(None).print_help(sys.stderr)
            return 2
        arguments = parser_of(_command(argv)).parse_args(argv)
        arguments.program = program
        arguments.argv = tuple(argv)
        screen.is_json = arguments.format == "json"
        if arguments.format not in ("text", "plain") or arguments.command in FOR_PROGRAMS:
            screen.speak_to_programs()
        # Each command imports what it needs, and nothing more: `check` never waits for sympy.
        command = import_module(f"qps.commands.{arguments.command}")
        return int(command.run(arguments))
    except (BrokenPipeError, OutputLostError):
        raise
    except KeyboardInterrupt as interrupt:
        from qps.commands.terminal.signals import status_of  # noqa: PLC0415

        return status_of(interrupt)
    except Exception as error:  # noqa: BLE001 - whatever it is, the user gets a report
        return _failed(error, arguments)


def _failed(error: Exception, arguments: argparse.Namespace) -> int:
    """Tell why there is no answer: a mistake in the input, or a fault of ours."""
    from qps.commands.terminal.console import Exit, show  # noqa: PLC0415
    from qps.compiler.diagnostics.diagnostic import QpsError  # noqa: PLC0415

    if isinstance(error, OSError) and error.errno in _OF_A_NAME and error.filename is not None:
        from qps.commands.terminal.console import complain  # noqa: PLC0415
        from qps.compiler.diagnostics.suggest import shortened  # noqa: PLC0415

        reason = f"cannot read `{shortened(str(error.filename))}`: {error.strerror}"
        error = complain(reason, "check the path and its permissions")
    if not isinstance(error, QpsError):
        error = _of_workers(error)
    if isinstance(error, QpsError):
        show(error.diagnostics, arguments)
        return Exit.WRONG
    print(
        f"qps {__version__} failed: {type(error).__name__}: {error}\nThis is a bug in "
        "qps, not in your spec. Please report it with the spec and this line; "
        "`QPS_TRACEBACK=1` prints a traceback.",
        file=sys.stderr,
    )
    import os  # noqa: PLC0415
    import traceback  # noqa: PLC0415

    if os.environ.get("QPS_TRACEBACK"):
        traceback.print_exception(error)
    return Exit.FAULT


def _of_workers(error: Exception) -> Exception:
    """Return a complaint where processes of ours cannot be had, or were killed."""
    from qps.commands.terminal.console import complain  # noqa: PLC0415
    from qps.worker_processes import WorkerEndedError, WorkersLostError  # noqa: PLC0415

    if not isinstance(error, WorkerEndedError | WorkersLostError):
        return error
    reason = str(error) if isinstance(error, WorkerEndedError) else f"worker processes {error}"
    hint = "memory is the most common cause: use fewer with `--workers` where the command has it"
    return complain(reason, hint)


_OF_A_NAME = (ENAMETOOLONG, ELOOP, EACCES)
"""Why the system says nothing of a file: of its name, and of the rights of the user."""


def _command(argv: Sequence[str]) -> str | None:
    """Return the command that stands first; a complaint where one is named that is none."""
    command = next((word for word in argv if not word.startswith("-")), None)
    if command is not None and command not in COMMANDS:
        from qps.commands.arguments.words_of_other_tools import COMMANDS_ELSEWHERE  # noqa: PLC0415
        from qps.commands.terminal.console import complain  # noqa: PLC0415
        from qps.compiler.diagnostics.suggest import did_you_mean  # noqa: PLC0415

        here = COMMANDS_ELSEWHERE.get(command)
        hint = f"`qps {here}` does that" if here else did_you_mean(command, COMMANDS)
        hint = hint or "`qps --help` lists the commands"
        raise complain(f"unknown command `{command}`", hint)
    return command if argv[:1] == [command] else None


def _parted(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the words of a command, and those of the program that it is to run behind `--`."""
    if TAKES_A_PROGRAM not in argv[:1] or "--" not in argv:
        return argv, ()
    place = list(argv).index("--")
    return argv[:place], argv[place + 1 :]
