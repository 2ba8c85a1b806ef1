"""`qps incident`: what happens while something fails, and whether it is over by itself."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from qps.commands.arguments.planned_load import at_month
from qps.commands.cache.spec_cache import load
from qps.commands.incidents.incident_choice import chosen_incidents, incident_population
from qps.commands.incidents.incident_files import check_output, write_incidents
from qps.commands.terminal.console import Exit, print_json, show, width_of
from qps.commands.terminal.progress import Progress
from qps.reports.pages.course_charts import incident_section
from qps.reports.text.incidents.incident_text import incident_layout, over_in_short
from qps.reports.text.incidents.incident_view import incidents_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.phrases import phrase
from qps.solver.incidents.incident_answer import incident_answer
from qps.solver.incidents.incident_result import IncidentAnswer


def run(arguments: Namespace) -> Exit:
    """Print what the incidents of a spec come to; status 1 if one is not over by itself."""
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    arguments = at_month(spec, arguments)
    if arguments.output is not None:
        check_output(arguments.output, spec.files)
    incidents = chosen_incidents(spec.model, arguments.name)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    at = incident_population(spec, configuration, arguments.at)
    answers = []
    with Progress(
        total=len(incidents), quiet=arguments.quiet, unit=None, label="incidents"
    ) as progress:
        for one in incidents:
            answers.append(
                incident_answer(spec.model, configuration, one, at, advice=arguments.advice)
            )
            progress.advance(1)
    view = incidents_view(spec.model.file, spec.model.population.name, at, answers)
    place = ", ".join(
        [spec.model.file, *map("scenario {}".format, arguments.scenario), *arguments.set]
    )
    labels = spec.model.derived(labels_of)
    pairs = list(zip(answers, incidents, strict=True))
    if arguments.output is not None:
        sections = [incident_section(answer, one, spec.model, labels) for answer, one in pairs]
        write_incidents(arguments.output, view, spec.model.name, place, sections)
        if not arguments.quiet:
            print(_written(arguments.output, answers))
    elif arguments.format == "json":
        print_json(as_json(view))
    else:
        texts = [
            incident_layout(answer, one, spec.model, place, labels).printed(
                markdown=arguments.format == "markdown", width=width_of(sys.stdout)
            )
            for answer, one in pairs
        ]
        sys.stdout.write("\n".join(texts))
    return Exit.YES if all(one.course.returns and one.is_certain for one in answers) else Exit.NO


def _written(output: Path, answers: Sequence[IncidentAnswer]) -> str:
    """Return which incidents are in a file, and when each is over."""
    return phrase(
        "incident.written", output=output, incidents="; ".join(map(over_in_short, answers))
    )
