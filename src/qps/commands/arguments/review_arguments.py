"""What the commands take that compare specs and revisions."""

from __future__ import annotations

from pathlib import Path

from qps.commands.arguments.common_arguments import (
    Commands,
    command_of,
    takes_changes,
    takes_format,
    takes_former,
    takes_one_spec,
    takes_paths,
)


def add_diff(commands: Commands) -> None:
    """Add `qps diff`."""
    command = command_of(commands, "diff", "compare two specs: inputs, capacity, claims")
    for name in ("old", "new"):
        command.add_argument(name, metavar=name.upper(), help="spec, or REVISION:FILE from Git")
    takes_changes(command)
    command.add_argument(
        "--fail-on",
        metavar="THRESHOLD",
        action="append",
        help="exit with 1 on: worse (lower capacity or a newly failing claim), 'capacity -5 "
        "%%', 'capacity -100', 'cost +10 %%', warnings; repeatable",
    )
    command.add_argument(
        "--no-claims",
        dest="claims",
        action="store_false",
        help="do not compare claims",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="write the comparison to this .html file"
    )
    takes_format(command, "text", "json", "markdown")


def add_review(commands: Commands) -> None:
    """Add `qps review`."""
    command = command_of(
        commands,
        "review",
        "write a pull request comment on capacity and claims",
    )
    command.add_argument(
        "revision", metavar="REVISION", help="branch, tag or commit to compare with"
    )
    takes_paths(command)
    command.set_defaults(format="text")


def add_ci(commands: Commands) -> None:
    """Add `qps ci`."""
    command = command_of(commands, "ci", "check the specs that a commit or pull request affects")
    command.add_argument(
        "paths",
        metavar="PATH",
        nargs="*",
        type=Path,
        default=[Path()],
        help="specs, or folders to search [default: this folder]",
    )
    command.add_argument(
        "--base",
        metavar="REVISION",
        help="compare with this revision [default: the merge base of the branch; on the "
        "default branch, the last commit that passed, or the parent]",
    )
    command.add_argument(
        "--passed",
        metavar="FILE",
        type=Path,
        help="compare with the last commit in this file, and append the current one if it "
        "passes; keep the file between CI runs",
    )
    command.add_argument(
        "--all", action="store_true", help="check all specs, not only affected ones"
    )
    command.add_argument(
        "--fail-on",
        metavar="THRESHOLD",
        action="append",
        help="also exit with 1 on: worse, 'capacity -5 %%', 'capacity -100', 'cost +10 %%', "
        "warnings; repeatable",
    )
    for name, what in {
        "comment": "a comment in Markdown",
        "sarif": "SARIF 2.1.0",
        "code-quality": "a GitLab Code Quality report",
        "junit": "a JUnit report",
        "json": "the results as JSON",
    }.items():
        command.add_argument(f"--{name}", metavar="FILE", type=Path, help=f"write {what} to FILE")
    takes_format(command, "text", "github", "markdown", "json")


def add_history(commands: Commands) -> None:
    """Add `qps history`."""
    command = command_of(commands, "history", "show the capacity of a spec over its Git history")
    takes_one_spec(command)
    command.add_argument(
        "--limit",
        dest="most",
        metavar="COUNT",
        type=int,
        default=20,
        help="list at most this many revisions that change the spec [default: 20]",
    )
    takes_former(command, {"--most": "most"}, int)
    command.add_argument(
        "--from",
        dest="since",
        metavar="REVISION",
        default="HEAD",
        help="newest revision to list [default: HEAD]",
    )
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="draw a chart to a .svg or .html file"
    )
    takes_format(command, "text", "json", "markdown")
