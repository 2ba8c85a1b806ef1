"""`qps start`: from what there is, such as a load test or traces, to the first answer."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.arguments.writing_arguments import STARTING_POINTS
from qps.commands.terminal.console import Exit, complain
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Print the commands that lead to an answer; without a starting point, ask for it."""
    chosen: str | None = arguments.start_from
    if chosen is None and sys.stdin.isatty() and sys.stdout.isatty():
        chosen = _interactive_choice()
    if chosen is None:
        sys.stdout.write(_choices() + phrase("start.choose"))
    else:
        sys.stdout.write(phrase(f"start.steps.{chosen}"))
    return Exit.YES


def _choices() -> str:
    lines = [phrase("start.question")]
    for number, name in enumerate(STARTING_POINTS, start=1):
        lines.append(f"  {number}  {name:10} {phrase(f'start.about.{name}')}\n")
    return "".join(lines)


def _interactive_choice() -> str:
    """Return the starting point that somebody names, or its number."""
    sys.stdout.write(_choices())
    try:
        answer = input(phrase("start.prompt", most=len(STARTING_POINTS))).strip()
    except EOFError:
        answer = ""
    numbered = dict(zip(map(str, range(1, len(STARTING_POINTS) + 1)), STARTING_POINTS, strict=True))
    name = numbered.get(answer, answer)
    if name not in STARTING_POINTS:
        raise complain(
            f"`{answer}` is none of the choices", "run `qps start --from load-test`, for example"
        )
    return name
