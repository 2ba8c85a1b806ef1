"""`qps plan`: the cheapest configuration that supports a population."""

from __future__ import annotations

import sys
from argparse import Namespace

from msgspec.structs import replace

from qps.commands.arguments.named_declaration import named_declaration
from qps.commands.arguments.planned_load import planned_load
from qps.commands.cache.spec_cache import load
from qps.commands.revisions.provenance import origin_line
from qps.commands.terminal.console import Exit, complain, print_json, show, width_of
from qps.commands.terminal.output_files import refuse_inputs, refuse_other_endings, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.quantities.calendar_dates import read_date
from qps.reports.text.changes.plan_text import plan_text, plan_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase


def run(arguments: Namespace) -> Exit:
    """Search the choices of a spec; status 1 where no configuration supports the population."""
    from qps.solver.calendar.purchase_plan import purchase_plan  # noqa: PLC0415
    from qps.solver.cheapest.plan_answer import plan  # noqa: PLC0415 - imports numpy

    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    spec = load(arguments.file).with_parts_of(arguments.set)
    if arguments.output is not None:
        refuse_inputs(arguments.output, spec.files)
    show(spec.warnings, arguments)
    choices = _choices(spec.model, arguments.name)
    if arguments.users is None:
        raise complain("a plan needs the population to support", "write `--users 20000`")
    planned = planned_load(spec, arguments)
    _refuse_chosen(choices, spec.changes(arguments.set))
    label = phrase("plan.search", population=planned.users)
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=label):
        found = plan(spec.model, planned.configuration, choices, planned.users)
        until = read_date(arguments.users.strip())
        if until is not None and found.cheapest is not None:
            configuration = spec.configuration(arguments.scenario, arguments.set)
            bought = purchase_plan(spec.model, configuration, choices, until)
            found = replace(found, purchases=bought)
    scenarios = [f"scenario {name}" for name in arguments.scenario]
    place = ", ".join([spec.model.file, *scenarios, *arguments.set, *planned.month])
    labels = spec.model.derived(labels_of)
    if arguments.output is not None:
        from qps.reports.pages.html_page import render_plan  # noqa: PLC0415 - and the templates
        from qps.reports.pages.plan_page import plan_page  # noqa: PLC0415

        page = plan_page(found, place, labels)
        write_text(arguments.output, render_plan(page, origin_line((spec,))))
        if not arguments.quiet:
            print(f"{arguments.output} written", file=sys.stderr)
    if arguments.format == "json":
        print_json(as_json(plan_view(found)))
    else:
        text = plan_text(
            found,
            place,
            labels=labels,
            markdown=arguments.format == "markdown",
            width=width_of(sys.stdout),
        )
        sys.stdout.write(text)
    return Exit.NO if found.cheapest is None else Exit.YES


def _choices(model: ir.Model, name: str | None) -> ir.DesignChoices:
    """Return the choice that was named, or the only one."""
    missing = complain(
        f"{model.file} states no choice",
        "state what may be bought: `choose { web in [small * 1..40, large * 1..10] }`",
    )
    return named_declaration(
        model, model.choices, name, called=("choice", "choices"), missing=missing
    )


def _refuse_chosen(choices: ir.DesignChoices, changes: tuple[ir.Change, ...]) -> None:
    """Refuse settings of what is chosen."""
    chosen = {axis.name for axis in choices.axes}
    for change in changes:
        name = getattr(change, "name", None)
        if name in chosen:
            raise complain(
                f"`{name}` is chosen, so that it cannot be set",
                f"leave out its setting, or what may be chosen for `{name}`",
            )
