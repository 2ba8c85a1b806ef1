"""`qps incident`: what happens while something fails, and whether it is over by itself."""

from __future__ import annotations

import sys
from argparse import Namespace

from qps.commands.arguments.planned_load import at_month
from qps.commands.cache.spec_cache import load
from qps.commands.terminal.console import Exit, complain, outside_range, print_json, show, width_of
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.pipeline import Spec
from qps.reports.text.incidents.incident_text import incident_layout
from qps.reports.text.incidents.incident_view import incidents_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.solver.answers.worst_mode import solve_model
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.uncertainty.confidence_interface import model_at_confidence


def run(arguments: Namespace) -> Exit:
    """Print what the incidents of a spec come to; status 1 if one is not over by itself."""
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    arguments = at_month(spec, arguments)
    incidents = _chosen(spec.model, arguments.name)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    at = _population(spec, configuration, arguments.at)
    answers = []
    with Progress(
        total=len(incidents), quiet=arguments.quiet, unit=None, label="incidents"
    ) as progress:
        for one in incidents:
            answers.append(
                incident_answer(spec.model, configuration, one, at, advice=arguments.advice)
            )
            progress.advance(1)
    if arguments.format == "json":
        view = incidents_view(spec.model.file, spec.model.population.name, at, answers)
        print_json(as_json(view))
    else:
        place = ", ".join(
            [spec.model.file, *map("scenario {}".format, arguments.scenario), *arguments.set]
        )
        labels = spec.model.derived(labels_of)
        texts = [
            incident_layout(answer, one, spec.model, place, labels).printed(
                markdown=arguments.format == "markdown", width=width_of(sys.stdout)
            )
            for answer, one in zip(answers, incidents, strict=True)
        ]
        sys.stdout.write("\n".join(texts))
    return Exit.YES if all(one.course.returns for one in answers) else Exit.NO


def _chosen(model: ir.Model, name: str | None) -> tuple[ir.Incident, ...]:
    """Return the incident of a name; all without one."""
    if not model.incidents:
        raise complain(
            "this spec declares no incident",
            "add one, such as `incident database_down { lose db for 10 minute }`",
        )
    if name is None:
        return model.incidents
    found = [one for one in model.incidents if one.name == name]
    if not found:
        names = [one.name for one in model.incidents]
        raise complain(
            f"this spec declares no incident `{name}`",
            did_you_mean(name, names) or f"use one of {', '.join(names)}",
        )
    return (found[0],)


def _population(spec: Spec, configuration: Configuration, at: int | None) -> int:
    """Return for how many users: by default the capacity."""
    if at is None:
        solution = solve_model(model_at_confidence(spec.model, configuration), configuration)
        return solution.at
    if not configuration.low <= at <= configuration.high:
        name = spec.model.population.name
        raise outside_range(name, at, configuration.low, configuration.high)
    return at
