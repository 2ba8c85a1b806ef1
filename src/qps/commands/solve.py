"""`qps solve`: the answers, as text, Markdown or JSON."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from qps.commands.arguments.planned_load import at_population, planned_load
from qps.commands.cache.spec_cache import load
from qps.commands.single_solution import solved
from qps.commands.terminal.column_files import check_columns_file, write_columns
from qps.commands.terminal.console import Exit, complain, print_json, show, wants_color, width_of
from qps.commands.terminal.output import style
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.settable_numbers import settable_numbers
from qps.compiler.pipeline import Spec
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.solutions.answer_text import solve_text, title_of
from qps.reports.text.solutions.change_wording import wording
from qps.reports.text.solutions.cycle_table import cycle_columns
from qps.reports.text.solutions.first_screen import first_screen, screen_body, screen_head
from qps.reports.text.solutions.solve_view import solve_view
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.solver.answer import Answer
from qps.solver.solved_spec import SolvedSpec
from qps.solver.what_if.sizing_result import Sizing


def run(arguments: Namespace) -> Exit:
    """Solve one spec, or turn the question round."""
    if arguments.confidence is not None and (arguments.users, arguments.solve_for) != (None, None):
        raise complain(
            "`--confidence` cannot be combined with `--users` or `--for`",
            "size with typical inputs first, then run `qps solve --confidence '95 %'` "
            "with the result as `--set`",
        )
    if arguments.at is not None:
        arguments = at_population(load(arguments.file), arguments)
    if arguments.course is not None:
        _check_course(arguments)
    if arguments.solve_for is not None:
        return _solve_for(arguments)
    if arguments.users is not None:
        return _size(arguments)
    is_short = arguments.format == "text" and not arguments.all
    is_first_screen = is_short and arguments.confidence is None
    with Progress(total=_STEPS, quiet=arguments.quiet, unit=None, label="answers") as progress:
        early = partial(_print_head, arguments, progress) if is_first_screen else None
        found = solved(arguments, partial(progress.advance, 1), early)
    answer = found.answer
    answered = answer.capacity
    if arguments.course is not None:
        _write_course(arguments.course, found)
    if arguments.confidence is not None:
        if answer.uncertainty is None:
            raise complain(
                "`--confidence` needs uncertain inputs, and every input of this spec is exact",
                "make one uncertain: `param reply = 80 kB/request +- 10 %`",
            )
        found = replace(found, answer=replace(answer, at_confidence=True))
        answered = answer.uncertainty.at_confidence.capacity
    if arguments.format == "json":
        words = wording(found.model, found.configuration, found.answer)
        print_json(as_json(solve_view(found.answer, words)))
    else:
        _print(found, arguments)
    return Exit.NO if answered is None else Exit.YES


def _check_course(arguments: Namespace) -> None:
    """Refuse a course where there is none, or a file that it cannot be written to."""
    if (arguments.users, arguments.solve_for) != (None, None):
        raise complain(
            "`--course` cannot be combined with `--users` or `--for`",
            "set the population with `--set`, such as `--set shoppers=15_000`",
        )
    spec = load(arguments.file)
    if not spec.model.profiles:
        raise complain("this spec has no profile", "declare one: `profile visits over day { … }`")
    if arguments.course.suffix.lower() == ".json":
        raise complain(
            "`--course` writes .parquet and .csv files",
            "`--format json` prints the same numbers under `times` and `backlog_courses`",
        )
    check_columns_file(arguments.course, (".parquet", ".csv"), spec.files)


def _write_course(output: Path, found: SolvedSpec) -> None:
    """Write the course of the day or the week."""
    course = found.answer.course
    if course is None:
        raise complain(
            "there is no course: all profiles are set to one value", "remove their `--set`"
        )
    write_columns(output, cycle_columns(course))


_STEPS = 3
"""Its answers, how sure they are, what would help."""


def _print_head(arguments: Namespace, progress: Progress, model: ir.Model, answer: Answer) -> None:
    """Print how many, as soon as it is known: what would help may take ten times as long."""
    color, width = wants_color(arguments.color, sys.stdout), width_of(sys.stdout)
    progress.aside()
    labels = model.derived(labels_of)
    head = screen_head(answer, title_of(model), labels, width=width, color=color)
    style(sys.stdout, head)
    sys.stdout.flush()


def _print(found: SolvedSpec, arguments: Namespace) -> None:
    """Print what one must know first; with `--all` and in Markdown all that is known."""
    answer, title = found.answer, title_of(found.model)
    words = wording(found.model, found.configuration, answer)
    if arguments.format == "markdown":
        sys.stdout.write(solve_text(answer, title, words, markdown=True))
    elif arguments.all:
        sys.stdout.write(solve_text(answer, title, words, width=width_of(sys.stdout)))
    else:
        color, width = wants_color(arguments.color, sys.stdout), width_of(sys.stdout)
        if arguments.confidence is None:  # the head was printed as soon as it was known
            text = screen_body(answer, words, width=width, color=color)
        else:
            text = first_screen(answer, title, words, width=width, color=color)
        style(sys.stdout, text)


def _solve_for(arguments: Namespace) -> Exit:
    """Print which values of a number support a population."""
    from qps.reports.text.changes.inverse_text import inverse_text, inverse_view  # noqa: PLC0415 - seldom
    from qps.solver.what_if.inverse import solve_for  # noqa: PLC0415

    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    planned = planned_load(spec, arguments)
    configuration, population = planned.configuration, planned.users
    question = f"{arguments.solve_for} for {population:,}"
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=question):
        solution = solve_for(spec.model, configuration, arguments.solve_for, population)
    if arguments.format == "json":
        print_json(as_json(inverse_view(solution, spec.model.file)))
    else:
        text = inverse_text(
            solution,
            ", ".join([*_request(spec, arguments), *planned.month]),
            labels=spec.model.derived(labels_of),
            markdown=arguments.format == "markdown",
            width=width_of(sys.stdout),
        )
        sys.stdout.write(text)
    return Exit.YES if solution.intervals else Exit.NO


def _size(arguments: Namespace) -> Exit:
    """Print what each resource needs to support a population."""
    from qps.reports.text.changes.sizing_text import Settings, sizing_text  # noqa: PLC0415 - seldom
    from qps.reports.text.changes.sizing_values import sizing_view  # noqa: PLC0415 - seldom
    from qps.solver.what_if.sizing import size  # noqa: PLC0415

    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    planned = planned_load(spec, arguments)
    configuration, population = planned.configuration, planned.users
    question = phrase("sizing.notebook_title", population=population)
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=question):
        sizing = size(spec.model, configuration, population)
    if arguments.format == "json":
        print_json(as_json(sizing_view(sizing, spec.model.file)))
    else:
        text = sizing_text(
            sizing,
            ", ".join([*_request(spec, arguments), *planned.month]),
            labels=spec.model.derived(labels_of),
            settings=Settings(
                capacities=_capacity_settings(spec, configuration, sizing),
                machines=dict(_machine_settings(configuration)),
            ),
            markdown=arguments.format == "markdown",
            width=width_of(sys.stdout),
        )
        sys.stdout.write(text)
    return Exit.YES if sizing.is_possible else Exit.NO


def _capacity_settings(spec: Spec, configuration: Configuration, sizing: Sizing) -> dict[str, str]:
    """Return what `--set` calls the capacities of resources, of those that it takes."""
    known = settable_numbers(spec.model, configuration)
    names = {
        one.resource: f"{one.place}.rate" if one.is_link else f"{one.resource}.cores"
        for one in sizing.needed
    }
    return {resource: name for resource, name in names.items() if name in known}


def _machine_settings(configuration: Configuration) -> Iterator[tuple[str, str]]:
    """Yield what `--set` takes before the number of machines of a node, where it takes one."""
    for node in configuration.nodes.values():
        if isinstance(node.count, ir.Constant):
            yield node.name, f"{node.name} = {node.machine} * "
        elif isinstance(node.count, ir.ParameterValue):
            yield node.name, f"{node.count.name} = "


def _request(spec: Spec, arguments: Namespace) -> list[str]:
    """Return the file, and what was requested otherwise than as it stands."""
    scenarios = [f"scenario {name}" for name in arguments.scenario]
    return [spec.model.file, *scenarios, *arguments.set]
