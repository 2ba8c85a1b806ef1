"""`qps plan`: the cheapest configuration that supports a population."""

from __future__ import annotations

import re
import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from qps.commands.arguments.named_declaration import named_declaration
from qps.commands.arguments.planned_load import planned_load
from qps.commands.cache.plan_progress import recorded_searches
from qps.commands.cache.spec_cache import load
from qps.commands.revisions.provenance import origin_line
from qps.commands.terminal.console import Exit, complain, print_json, show, width_of
from qps.commands.terminal.output_files import refuse_inputs, refuse_other_endings, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.pipeline import Spec
from qps.compiler.quantities.calendar_dates import read_date
from qps.reports.text.changes.plan_text import plan_text
from qps.reports.text.changes.plan_view import plan_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.solver.cheapest.plan_result import Plan

if TYPE_CHECKING:
    from qps.solver.cheapest.search_record import SearchRecord

_COST = re.compile(r"\s*(?:running_)?cost\s*<=\s*(\S.*)")
"""How a budget can be stated in place of a name."""


def run(arguments: Namespace) -> Exit:
    """Search the choices of a spec; status 1 where none supports the population."""
    if arguments.output is not None:
        refuse_other_endings(arguments.output)
    arguments = _with_stated_budget(arguments)
    spec = load(arguments.file).with_parts_of(arguments.set)
    if arguments.output is not None:
        refuse_inputs(arguments.output, spec.files)
    show(spec.warnings, arguments)
    choices = _choices(spec.model, arguments.name)
    if arguments.budget is not None and arguments.users is not None:
        raise complain("`--budget` cannot be combined with `--users`", "leave out one of them")
    if arguments.budget is None and arguments.users is None:
        raise complain(
            "a plan needs the population to support",
            "write `--users 20000`, or what it may cost: `--budget '5_000 $/month'`",
        )
    _refuse_chosen(choices, spec.changes(arguments.set))
    with recorded_searches(spec, arguments) as record:
        found, months = _found(spec, choices, arguments, record)
        found = _with_broken_claims(found, spec, choices, arguments)
        _write(found, spec, months, arguments)
    is_met = found.budget is None or found.budget.is_met
    return Exit.YES if found.cheapest is not None and is_met else Exit.NO


def _write(found: Plan, spec: Spec, months: tuple[str, ...], arguments: Namespace) -> None:
    """Write the page of a plan if there is one, and print the plan."""
    scenarios = [f"scenario {name}" for name in arguments.scenario]
    changes = [*scenarios, *arguments.set, *months]
    place = ", ".join([spec.model.file, *changes])
    labels = spec.model.derived(labels_of)
    if arguments.output is not None:
        from qps.reports.pages.html_page import render_plan  # noqa: PLC0415 - and the templates
        from qps.reports.pages.plan_page import plan_page  # noqa: PLC0415

        # A page is read on other machines, where a path of this one says nothing.
        file = Path(spec.model.file)
        on_page = file.name if file.is_absolute() else spec.model.file
        page = plan_page(found, ", ".join([on_page, *changes]), labels)
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


def _with_stated_budget(arguments: Namespace) -> Namespace:
    """Return arguments in which `cost <= 5_000 $/month`, for a name or a budget, is a budget.

    A number or a date in place of a name is the population.
    """
    name, budget = arguments.name, arguments.budget
    changes: dict[str, str | None] = {}
    if name is not None and (stated := _COST.fullmatch(name)) is not None and budget is None:
        changes = {"name": None, "budget": stated[1]}
    elif budget is not None and (stated := _COST.fullmatch(budget)) is not None:
        changes = {"budget": stated[1]}
    elif name is not None and not name.isidentifier() and arguments.users is None:
        raise complain(
            f"`{name}` is not the name of a choice",
            f"write `--users '{name}'` for a population or a date, or `--budget '5_000 $/month'`",
        )
    return Namespace(**(vars(arguments) | changes))


def _with_broken_claims(
    found: Plan, spec: Spec, choices: ir.DesignChoices, arguments: Namespace
) -> Plan:
    """Return a plan with the claims of the spec that its cheapest configuration breaks."""
    from qps.solver.claims.planned_claims import with_broken_claims  # noqa: PLC0415 - of few specs

    if not spec.model.expectations:
        return found
    return with_broken_claims(found, spec, choices, arguments.scenario, arguments.set)


def _found(
    spec: Spec, choices: ir.DesignChoices, arguments: Namespace, record: SearchRecord
) -> tuple[Plan, tuple[str, ...]]:
    """Return the plan for a population, a date or a budget, and what says of which month it is."""
    from qps.solver.calendar.purchase_plan import purchase_plan  # noqa: PLC0415
    from qps.solver.cheapest.budget_plan import plan_within  # noqa: PLC0415 - imports numpy
    from qps.solver.cheapest.plan_answer import plan  # noqa: PLC0415

    configuration = spec.configuration(arguments.scenario, arguments.set)
    if arguments.budget is not None:
        label = phrase("plan.search.budget")
        with Progress(total=None, quiet=arguments.quiet, unit=None, label=label):
            return plan_within(spec.model, configuration, choices, arguments.budget, record), ()
    planned = planned_load(spec, arguments)
    label = phrase("plan.search", population=planned.users)
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=label):
        found = plan(spec.model, planned.configuration, choices, planned.users, record)
        until = read_date(arguments.users.strip())
        if until is not None and found.cheapest is not None:
            bought = purchase_plan(spec.model, configuration, choices, until, record)
            found = replace(found, purchases=bought)
    return found, planned.month


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
