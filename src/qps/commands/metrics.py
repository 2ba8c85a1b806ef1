"""`qps metrics`: predictions as metrics for Prometheus, and a dashboard for Grafana."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from qps.commands.arguments.planned_load import at_month
from qps.commands.arguments.simulation_effort import sampling_of
from qps.commands.cache.load_graph_cache import with_graphs
from qps.commands.terminal.console import Exit, complain, outside_range, show
from qps.commands.terminal.output_files import refuse_inputs, write_text
from qps.commands.terminal.progress import Progress
from qps.compiler.diagnostics.suggest import did_you_mean, listed
from qps.reports.text.monitoring.grafana_dashboard import grafana_dashboard, prediction_queries
from qps.reports.text.monitoring.metric_families import MetricFamily, metric_families, metrics_text
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.solver.configured_answer import configured_answer
from qps.solver.population_values import PopulationValues, planned_population, population_values

_MOST_NAMES = 5


def run(arguments: Namespace) -> Exit:
    """Write the metrics of a spec; status 1 where no population meets its requirements."""
    measured = _measured(arguments)
    for output in (arguments.output, arguments.dashboard):
        if output is not None:
            refuse_inputs(output, [arguments.file])
    if arguments.output is not None and arguments.output == arguments.dashboard:
        raise complain(
            "`-o` and `--dashboard` name the same file", "write the dashboard to another file"
        )
    values = _values(arguments)
    families = metric_families(values)
    text = metrics_text(families)
    dashboard = None if arguments.dashboard is None else _dashboard(values, families, measured)
    if arguments.output is None:
        sys.stdout.write(text)
    else:
        write_text(arguments.output, text)
        count = sum(len(one.samples) for one in families)
        users = counted(values.at, values.answer.population)
        _print_note(
            arguments, "metrics.written", samples=count, users=users, output=arguments.output
        )
    if dashboard is not None:
        write_text(arguments.dashboard, json.dumps(dashboard, indent=2) + "\n")
        panels = len(dashboard["panels"])
        _print_note(
            arguments, "metrics.dashboard_written", output=arguments.dashboard, panels=panels
        )
    return Exit.NO if values.answer.capacity is None else Exit.YES


def _print_note(arguments: Namespace, key: str, **values: object) -> None:
    if not arguments.quiet:
        print(phrase(key, **values), file=sys.stderr)


def _values(arguments: Namespace) -> PopulationValues:
    """Return the predictions of a spec at the population that is requested."""
    settings = tuple(arguments.set)
    with (
        with_graphs(arguments.file) as loaded,
        Progress(total=None, quiet=arguments.quiet, unit=None, label="predictions"),
    ):
        show(loaded.warnings, arguments)
        spec = loaded.with_parts_of(settings)
        arguments = at_month(spec, arguments)
        settings = tuple(arguments.set)
        found = configured_answer(
            spec,
            spec.configuration(arguments.scenario, settings),
            settings,
            sampling=sampling_of(arguments),
        )
        answer, graph = found.answer, found.solution.graph
        at: int | None = arguments.at
        if at is None:
            at = planned_population(answer)
        elif not graph.low <= at <= graph.high:
            raise outside_range(str(graph.population), at, graph.low, graph.high)
        return population_values(answer, found.solution, at)


def _dashboard(
    values: PopulationValues, families: Sequence[MetricFamily], measured: dict[str, str]
) -> dict[str, Any]:
    known = prediction_queries(families)
    for name in measured:
        if name not in known:
            names = listed([*known][:_MOST_NAMES], "and")
            raise complain(
                f"the metrics have no prediction of `{name}`",
                did_you_mean(name, known) or f"there are predictions of {names}",
            )
    name = values.answer.model or Path(values.answer.file).stem
    return grafana_dashboard(phrase("metrics.title", model=name), families, measured)


def _measured(arguments: Namespace) -> dict[str, str]:
    """Return the queries of `--measured`, by what they measure."""
    found: dict[str, str] = {}
    for text in arguments.measured:
        name, equals, query = (part.strip() for part in text.partition("="))
        if not (name and equals and query):
            raise complain(
                f"`--measured {text}` has no query",
                "write `--measured 'web.cpu=rate(process_cpu_seconds_total[5m]) / 4'`",
            )
        if name in found:
            raise complain(f"`--measured {name}=…` is given twice", "remove one of them")
        found[name] = query
    if found and arguments.dashboard is None:
        raise complain("`--measured` requires `--dashboard`", "add `--dashboard FILE.json`")
    return found
