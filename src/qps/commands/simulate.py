"""`qps simulate`: discrete-event simulation of a spec, compared with its predictions."""

from __future__ import annotations

import sys
from argparse import Namespace

from msgspec.structs import replace

from qps.commands.arguments.planned_load import at_month
from qps.commands.arguments.simulation_effort import precision_of, seconds_of
from qps.commands.cache.spec_cache import load
from qps.commands.incidents.simulated_incident import run_over_time
from qps.commands.terminal.console import Exit, outside_range, print_json, show, width_of
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, uncertain_in
from qps.compiler.lower.certainty_requirements import as_stated, with_certainty
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.pipeline import Spec
from qps.reports.text.claims.simulation_text import simulation_text, simulation_view
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.solutions.uncertainty_text import typical_remark, unsimulated_remark
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.nouns import counted
from qps.reports.text.words.phrases import phrase
from qps.simulation.agreement import compared, quantile_levels
from qps.simulation.model_builder import simulated_model
from qps.simulation.replications import Effort, simulate
from qps.simulation.simulated_model import SimulatedNetwork
from qps.simulation.simulated_waits import waiting_measures
from qps.solver.answers.worst_mode import solve_model
from qps.solver.uncertainty.confidence_interface import model_at_confidence


def run(arguments: Namespace) -> Exit:
    """Simulate a spec; status 1 where a prediction is off by more than its label allows."""
    precision, seconds = precision_of(arguments.precision), seconds_of(arguments.seconds)
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    arguments = at_month(spec, arguments)
    configuration = spec.configuration(arguments.scenario, arguments.set)
    if arguments.over is not None:
        return run_over_time(spec, configuration, arguments, seconds)
    graph, predicted, at = _simulation_input(spec, configuration, arguments)
    effort = Effort(
        precision=precision,
        seconds=seconds,
        seed=arguments.seed,
        workers=arguments.workers or 0,
        levels=quantile_levels(spec.model),
        measures=waiting_measures(spec.model),
    )
    with Progress(total=1, quiet=arguments.quiet, unit=None, label="simulating") as progress:
        simulation = simulate(
            simulated_at_typical_values(graph, at, spec.model, configuration),
            effort,
            lambda share: progress.advance(share - progress.done),
        )
    found = compared(predicted, simulation)
    name = spec.model.population.name
    if arguments.format == "json":
        print_json(as_json(simulation_view(spec.model.file, name, simulation, found, effort)))
    else:
        place = ", ".join(
            [spec.model.file, *map("scenario {}".format, arguments.scenario), *arguments.set]
        )
        text = simulation_text(
            phrase("simulation.title", at=counted(at, name)),
            place,
            simulation,
            found,
            effort,
            labels=spec.model.derived(labels_of),
            markdown=arguments.format == "markdown",
            width=width_of(sys.stdout),
        )
        sys.stdout.write(text)
    return Exit.YES if all(one.is_right for one in found) else Exit.NO


def simulated_at_typical_values(
    graph: LoadGraph, at: int, model: ir.Model, configuration: Configuration
) -> SimulatedNetwork:
    """Return what is to be played; of numbers that are not known it says that they are typical."""
    found, uncertain = simulated_model(graph, at), uncertain_in(configuration)
    remark = typical_remark(uncertain)
    if uncertain:
        remark += unsimulated_remark([one.name for one in with_certainty(model)])
    return replace(found, remarks=(*found.remarks, *remark))


def _simulation_input(
    spec: Spec, configuration: Configuration, arguments: Namespace
) -> tuple[LoadGraph, LoadGraph, int]:
    """Return what to simulate, what to compare it with, and for how many users.

    These are by default the capacity. Where users need different things by mode, the worst mode
    counts. For a population that is requested, errors are those at it, as if it was set, not the
    largest in the whole range.
    """
    at: int | None = arguments.at
    if at is None:
        solution = solve_model(model_at_confidence(spec.model, configuration), configuration)
        return solution.graph, solution.graph, solution.at
    if not configuration.low <= at <= configuration.high:
        name = spec.model.population.name
        raise outside_range(name, at, configuration.low, configuration.high)
    model, mode = as_stated(spec.model, configuration), configuration
    if spec.model.modes:
        model = model_at_confidence(spec.model, configuration)
        worst = solve_model(model, configuration).graph.mode
        mode = next(one for one in in_each_mode(model, configuration) if one.mode == worst)
    return lower(model, mode), lower(model, replace(mode, low=at, high=at)), at
