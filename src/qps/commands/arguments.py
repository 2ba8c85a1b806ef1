"""The commands, and what each of them takes."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypeAlias

from qps.commands.examples import examples_of
from qps.commands.measure_arguments import count, declare_measure
from qps.commands.observe_arguments import declare_drift, declare_sources
from qps.version import __version__

_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001

EXIT_STATUS = """\
exit status: 0 yes; 1 the answer is no (a claim fails, nobody can be carried,
a layout differs); 2 the spec or the command line is wrong; 3 a fault of qps itself"""


def _add(commands: _Commands, name: str, help_text: str) -> argparse.ArgumentParser:
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


def _format(command: argparse.ArgumentParser, *choices: str) -> None:
    command.add_argument(
        "--format", choices=choices, default=choices[0], help=f"how to print (default {choices[0]})"
    )


def _paths(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "paths", metavar="PATH", nargs="+", type=Path, help="a spec, or a folder that holds some"
    )


def _readers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--readers",
        action="store_true",
        help="take files (modules and tables, too) for the specs below this folder that read them",
    )


def _one_spec(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", metavar="FILE", type=Path, help="the spec")


def _changes(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="a scenario of the spec; several are made together",
    )
    _settings(command)


def _settings(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="change a parameter, a number that the spec states (wan.rate), an option, machine, "
        "network or the population; repeatable",
    )


def _check(commands: _Commands) -> None:
    command = _add(commands, "check", "parse, resolve names, check dimensions and topology")
    _paths(command)
    _readers(command)
    _format(command, "text", "plain", "json")


def _solve(commands: _Commands) -> None:
    command = _add(commands, "solve", "how many users it carries, and what gives out first")
    _one_spec(command)
    _changes(command)
    _advice(command)
    command.add_argument(
        "--all",
        action="store_true",
        help="print all that is known, not only what one must know first",
    )
    command.add_argument(
        "--for",
        dest="solve_for",
        metavar="NAME",
        help="turn the question round: which values of this number carry --given",
    )
    command.add_argument(
        "--given", metavar="N=USERS", help="the population that --for is to carry: 'N = 20'"
    )
    command.add_argument(
        "--carry",
        metavar="N",
        help="what each resource must have to carry so many: 300, or 'N = 300'",
    )
    command.add_argument(
        "--sure",
        metavar="CERTAINTY",
        help="answer with the users that can be promised with it, of uncertain numbers: 95 %%",
    )
    _sampling(command)
    _format(command, "text", "json", "markdown")


def _sampling(command: argparse.ArgumentParser) -> None:
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


def _advice(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--no-advice",
        dest="advice",
        action="store_false",
        help="do not try out what would help: it takes a second or two",
    )


def _explain(commands: _Commands) -> None:
    command = _add(
        commands, "explain", "a load, measure or axis as a formula, or what a code means"
    )
    _one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="what to explain, such as station.cpu"
    )
    _changes(command)
    command.add_argument(
        "--at", metavar="N", type=int, help="the population (default: the largest acceptable)"
    )
    _sampling(command)
    command.set_defaults(sure=None)
    _format(command, "text", "json", "markdown")


def _simulate(commands: _Commands) -> None:
    command = _add(
        commands, "simulate", "the spec played packet by packet, beside what is predicted of it"
    )
    _one_spec(command)
    _changes(command)
    command.add_argument(
        "--at", metavar="N", type=int, help="the population (default: the largest acceptable)"
    )
    command.add_argument(
        "--precision",
        metavar="SHARE",
        default="2 %",
        help="play until means and loads are known to it, 95 times of 100 (default 2 %%)",
    )
    command.add_argument(
        "--seconds", metavar="TIME", default="60", help="play no longer than so (default 60)"
    )
    command.add_argument(
        "--seed", metavar="NUMBER", type=int, default=1, help="the same seed, the same runs"
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=count, help="how many cores to use (default: all)"
    )
    _format(command, "text", "json", "markdown")


def _test(commands: _Commands) -> None:
    command = _add(commands, "test", "every claim of the specs: claimed, predicted, difference")
    _paths(command)
    _readers(command)
    command.add_argument(
        "--no-simulate",
        dest="simulate",
        action="store_false",
        help="leave claims of what is `simulated` alone: they are the slow ones",
    )
    command.add_argument(
        "--seconds",
        metavar="SECONDS",
        default="60",
        help="play for so long at most, for each configuration that claims are `simulated` of "
        "(default: 60)",
    )
    command.add_argument(
        "--interval",
        metavar="PROBABILITY",
        default="90 %",
        help="of the intervals of what measured rows are predicted to be, where numbers are "
        "uncertain (default: 90 %%)",
    )
    declare_drift(command)
    _format(command, "text", "json", "markdown", "junit", "github")


def _matrix(commands: _Commands) -> None:
    command = _add(commands, "matrix", "every configuration of a matrix, solved")
    _one_spec(command)
    command.add_argument(
        "name", metavar="NAME", nargs="?", help="which matrix, where the spec has several"
    )
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=Path,
        help="write all columns to a .parquet, .csv or .json file, or a page to sort and filter "
        "them to a .html file (default: a table on the screen)",
    )
    command.add_argument(
        "--set",
        metavar="NAME=QUANTITY",
        action="append",
        default=[],
        help="change what is no axis of the matrix; repeatable",
    )
    command.add_argument(
        "--on",
        metavar="WHERE",
        default="cores",
        help="cores (of this machine, the default), dask (a local cluster) or dask://HOST:PORT",
    )
    command.add_argument(
        "--workers", metavar="COUNT", type=int, help="how many cores to use (default: all)"
    )
    command.add_argument(
        "--resume", action="store_true", help="go on with a run that was broken off"
    )
    _format(command, "text", "json", "csv", "markdown")
    # Parts of results belong to the version that made them.
    command.set_defaults(version=__version__)


def _report(commands: _Commands) -> None:
    command = _add(commands, "report", "one self-contained HTML file, live in the browser")
    command.add_argument(
        "files",
        metavar="FILE",
        nargs="+",
        type=Path,
        help="the spec; several stand side by side. Or a result of `qps matrix`",
    )
    command.add_argument(
        "--scenario",
        metavar="NAME",
        action="append",
        default=[],
        help="a scenario of the spec; several stand side by side",
    )
    _settings(command)
    _advice(command)
    command.add_argument(
        "-o", "--output", metavar="FILE", type=Path, help="where to (default: NAME.html)"
    )
    command.add_argument(
        "--figure",
        metavar="NAME",
        action="append",
        default=[],
        help="draw this figure of the spec only; repeatable",
    )
    command.add_argument(
        "--simulate",
        action="store_true",
        help="play the spec too, for a minute at most, and show it beside what is predicted",
    )
    command.add_argument(
        "--variants",
        metavar="N",
        type=count,
        default=200,
        help="how many combinations of choices, machines and networks the page holds at most "
        "(default 200)",
    )
    command.set_defaults(format="text")


def _serve(commands: _Commands) -> None:
    command = _add(commands, "serve", "the page in a browser, made anew after each save")
    _one_spec(command)
    _changes(command)
    _advice(command)
    command.add_argument(
        "--port",
        metavar="NUMBER",
        type=int,
        default=0,
        help="of the loopback address, the only one that it is served at (default: a free one)",
    )
    command.add_argument(
        "--no-browser",
        dest="browser",
        action="store_false",
        help="open no browser: only tell the address",
    )
    command.set_defaults(format="text", variants=200, simulate=False)


def _fit(commands: _Commands) -> None:
    command = _add(commands, "fit", "costs fitted to a table of measured loads and rates")
    command.add_argument(
        "file", metavar="FILE.csv", type=Path, help="columns such as `cpu in %%`, `packet/s`"
    )
    command.add_argument(
        "--cores", metavar="N", default="1", help="processors that share the load (default 1)"
    )
    command.add_argument(
        "--resource", metavar="NAME", help="the column of the load, where several could be it"
    )
    command.add_argument(
        "--unit",
        metavar="NAME",
        action="append",
        default=[],
        help="an item of your own that a heading names, such as `update`; repeatable",
    )
    command.add_argument(
        "--no-fixed",
        action="store_true",
        help="fit no fixed load: all of it is taken to be caused by the rates",
    )
    command.add_argument(
        "--served",
        action="store_true",
        help="the rates are what was served: rows of a full machine count, and without a column of "
        "the load all are",
    )
    _format(command, "text", "json", "markdown")


def _measure(commands: _Commands) -> None:
    command = _add(
        commands, "measure", "what a server on this machine uses under load: a table for `qps fit`"
    )
    declare_measure(command)
    _format(command, "text", "json")


def _observe(commands: _Commands) -> None:
    command = _add(
        commands, "observe", "what a Prometheus or a tool has measured, as a table to fit costs to"
    )
    declare_sources(command, EXIT_STATUS)
    command.set_defaults(format="text")


def _fmt(commands: _Commands) -> None:
    command = _add(commands, "fmt", "the one canonical layout, comments kept")
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


def _diff(commands: _Commands) -> None:
    command = _add(commands, "diff", "what changed between two specs, in assumptions and answers")
    for name in ("old", "new"):
        command.add_argument(
            name, metavar=name.upper(), help="a spec, or REV:FILE for what git has of it"
        )
    _changes(command)
    command.add_argument(
        "--fail-on",
        choices=["worse"],
        help="exit 1 where the new spec carries fewer users, or a claim fails that held",
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
    _format(command, "text", "json", "markdown")


def _review(commands: _Commands) -> None:
    command = _add(
        commands, "review", "what a change does to claims and answers, as one comment in Markdown"
    )
    command.add_argument(
        "revision", metavar="REVISION", help="what git has from before: a branch, tag or commit"
    )
    _paths(command)
    command.set_defaults(format="text")


def _ci(commands: _Commands) -> None:
    command = _add(
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
        help="what to compare with (default: what GitHub or GitLab tell, else the commit before)",
    )
    command.add_argument(
        "--all", action="store_true", help="look at every spec, not only at those touched"
    )
    command.add_argument(
        "--fail-on", choices=["worse"], help="exit 1 also where a spec carries fewer users"
    )
    for name, what in {
        "comment": "a comment in Markdown",
        "sarif": "SARIF 2.1.0",
        "code-quality": "GitLab's code quality report",
        "json": "all of it as JSON",
    }.items():
        command.add_argument(f"--{name}", metavar="FILE", type=Path, help=f"write {what} here")
    _format(command, "text", "github", "markdown", "json")


def _history(commands: _Commands) -> None:
    command = _add(commands, "history", "the answer of a spec over the revisions of its repository")
    _one_spec(command)
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
    _format(command, "text", "json", "markdown")


def _trace(commands: _Commands) -> None:
    command = _add(
        commands, "trace", "jitter of recorded packets, and the buffers that make up for it"
    )
    command.add_argument(
        "files", metavar="FILE", nargs="+", type=Path, help="a CSV file with times of arrival"
    )
    command.add_argument(
        "--period", metavar="TIME", help="time between two packets as they were sent: 160ms"
    )
    command.add_argument(
        "--unit",
        choices=["ns", "us", "ms", "s"],
        help="of times whose heading names none",
    )
    command.add_argument(
        "--latency", metavar="TIME", help="the longest buffer that is acceptable (default 230ms)"
    )
    command.add_argument(
        "--gaps", metavar="SHARE", help="the largest share of gaps that is acceptable (default 6%%)"
    )
    command.add_argument(
        "--buffer",
        metavar="TIME",
        help="the buffer to count gaps at and to replay with (default: 250ms, and the best one)",
    )
    command.add_argument(
        "--threshold",
        metavar="TIME",
        help="how long two packets must wait before one is discarded, half of that for each "
        "further one, down to half a second (default 4s)",
    )
    _format(command, "text", "json", "markdown")


def _new(commands: _Commands) -> None:
    command = _add(commands, "new", "a small spec that works, to start from")
    command.add_argument("name", metavar="NAME", help="the name of the new spec")
    command.set_defaults(format="text")


def _lsp(commands: _Commands) -> None:
    command = _add(commands, "lsp", "the language server, which editors start")
    command.add_argument(
        "--stdio",
        action="store_true",
        help="speak on standard input and output, as it does anyway: editors say so",
    )
    command.set_defaults(format="text")


FOR_PROGRAMS = frozenset(["completion", "fmt", "review"])
"""Commands whose text is read by shells, editors and services."""
TAKES_A_PROGRAM = "measure"
"""The command behind whose `--` stands another one, with flags of its own."""


def _completion(commands: _Commands) -> None:
    command = _add(commands, "completion", "what a shell needs to complete `qps`")
    command.add_argument(
        "shell", metavar="SHELL", choices=["bash", "zsh", "fish", "powershell"], help="%(choices)s"
    )
    command.set_defaults(format="text")


COMMANDS = {
    "check": _check,
    "solve": _solve,
    "explain": _explain,
    "test": _test,
    "simulate": _simulate,
    "matrix": _matrix,
    "report": _report,
    "serve": _serve,
    "measure": _measure,
    "fit": _fit,
    "observe": _observe,
    "fmt": _fmt,
    "diff": _diff,
    "review": _review,
    "ci": _ci,
    "history": _history,
    "trace": _trace,
    "new": _new,
    "lsp": _lsp,
    "completion": _completion,
}
"""How the arguments of each command are declared, in the order of `qps --help`."""
