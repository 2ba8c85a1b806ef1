"""What the commands take that compare specs and revisions."""

from __future__ import annotations

from pathlib import Path

from qps.commands.common_arguments import (
    Commands,
    command_of,
    takes_changes,
    takes_format,
    takes_one_spec,
    takes_paths,
)


def add_diff(commands: Commands) -> None:
    """Add `qps diff`."""
    command = command_of(
        commands, "diff", "what changed between two specs, in assumptions and answers"
    )
    for name in ("old", "new"):
        command.add_argument(
            name, metavar=name.upper(), help="a spec, or REV:FILE for what git has of it"
        )
    takes_changes(command)
    command.add_argument(
        "--fail-on",
        metavar="THRESHOLD",
        action="append",
        help="exit 1 where the new spec exceeds this; may be repeated: worse (a lower capacity, or "
        "a claim that fails now), 'capacity -5 %%', 'capacity -100', 'cost +10 %%', warnings",
    )
    command.add_argument(
        "--no-claims",
        dest="claims",
        action="store_false",
        help="do not ask which claims fail or hold now, which takes time where there are many",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write a page of it to this .html file"
    )
    takes_format(command, "text", "json", "markdown")


def add_review(commands: Commands) -> None:
    """Add `qps review`."""
    command = command_of(
        commands, "review", "what a change does to claims and answers, as one comment in Markdown"
    )
    command.add_argument(
        "revision", metavar="REVISION", help="what git has from before: a branch, tag or commit"
    )
    takes_paths(command)
    command.set_defaults(format="text")


def add_ci(commands: Commands) -> None:
    """Add `qps ci`."""
    command = command_of(
        commands, "ci", "every spec that a change touches: layout, mistakes, claims, what moves"
    )
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[Path()],
        help="specs, or folders that hold some (default: this folder)",
    )
    command.add_argument(
        "--base",
        metavar="REVISION",
        help="what to compare with (default: where the branch left its target or the default "
        "branch; on the default branch the last commit that passed, else its parent)",
    )
    command.add_argument(
        "--passed",
        metavar="FILE",
        type=Path,
        help="commits of the default branch that passed: compare with the last one, and add this "
        "one if it passes; CI keeps the file from run to run",
    )
    command.add_argument(
        "--all", action="store_true", help="look at every spec, not only at those touched"
    )
    command.add_argument(
        "--fail-on",
        metavar="THRESHOLD",
        action="append",
        help="exit 1 also where a spec exceeds this; may be repeated: worse, 'capacity -5 %%', "
        "'capacity -100', 'cost +10 %%', warnings",
    )
    for name, what in {
        "comment": "a comment in Markdown",
        "sarif": "SARIF 2.1.0",
        "code-quality": "GitLab's code quality report",
        "junit": "JUnit: a case for each claim, capacity and error",
        "json": "all of it as JSON",
    }.items():
        command.add_argument(f"--{name}", metavar="FILE", type=Path, help=f"write {what} here")
    takes_format(command, "text", "github", "markdown", "json")


def add_history(commands: Commands) -> None:
    """Add `qps history`."""
    command = command_of(
        commands, "history", "the answer of a spec over the revisions of its repository"
    )
    takes_one_spec(command)
    command.add_argument(
        "--most",
        metavar="COUNT",
        type=int,
        default=20,
        help="how many revisions that move it are read at most (default 20)",
    )
    command.add_argument(
        "--from",
        dest="since",
        metavar="REVISION",
        default="HEAD",
        help="the newest revision, from which it goes back (default HEAD)",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="draw it: a .svg picture, an .html page"
    )
    takes_format(command, "text", "json", "markdown")
