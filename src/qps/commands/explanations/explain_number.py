"""`qps explain FILE NAME`: a number of a spec taken apart, or a figure in numbers."""

from __future__ import annotations

import sys
from argparse import Namespace
from collections.abc import Callable
from functools import partial

from qps.commands.arguments.planned_load import at_month
from qps.commands.arguments.simulation_effort import sampling_of
from qps.commands.cache.spec_cache import load
from qps.commands.terminal.console import Exit, complain, outside_range, print_json, show, width_of
from qps.commands.terminal.progress import Progress
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force, uncertain_in
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.compiler.lower.requirements.all_parameters import with_parameters
from qps.compiler.pipeline import Spec
from qps.engine.expressions.formulas import Formula
from qps.reports.text.explanations.explanation import explanation_view
from qps.reports.text.explanations.explanation_summary import largest_parts
from qps.reports.text.explanations.explanation_text import explanation_text
from qps.reports.text.explanations.figure_text import figure_json, figure_text
from qps.reports.text.schemas.json_encoding import as_json
from qps.reports.text.words.labels import labels_of
from qps.reports.text.words.nouns import counted
from qps.solver.answers.worst_mode import at_worst_moment, solve_model
from qps.solver.breakdown.breakdown_types import NumberApart
from qps.solver.breakdown.number_breakdown import number_apart
from qps.solver.claims.claim_runner import ClaimRunner
from qps.solver.claims.figure_lines import draw
from qps.solver.uncertainty.confidence_interface import model_at_confidence
from qps.solver.uncertainty.interval_result import Sampling, ValueUncertainty


def explain_number(arguments: Namespace) -> Exit:
    """Explain a load, measure or axis of a spec."""
    spec = load(arguments.file).with_parts_of(arguments.set)
    show(spec.warnings, arguments)
    arguments = at_month(spec, arguments)
    drawn = {figure.name: figure for figure in spec.model.figures}
    if arguments.name in drawn:
        return _explain_figure(spec, drawn[arguments.name], arguments)
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=arguments.name):
        apart = _apart(spec, arguments)
        explanation = explanation_view(apart)
    if arguments.format == "json":
        print_json(as_json(explanation))
    else:
        users = counted(explanation.at, spec.model.population.name)
        scenarios = [f"scenario {name}" for name in arguments.scenario]
        text = explanation_text(
            explanation,
            ", ".join([spec.model.file, *scenarios, *arguments.set, users]),
            labels=spec.model.derived(labels_of),
            markdown=arguments.format == "markdown",
            width=width_of(sys.stdout),
            summary=None if arguments.all else largest_parts(apart),
        )
        sys.stdout.write(text)
    return Exit.YES


def _apart(spec: Spec, arguments: Namespace) -> NumberApart:
    """Return a number taken apart, in the worst mode, and how far it may be off."""
    configuration = spec.configuration(arguments.scenario, arguments.set)
    at = arguments.at
    if at is not None:
        configuration = at_worst_moment(spec.model, configuration, at)
    graph = lower(as_stated(spec.model, configuration), configuration)
    if at is None:
        # What users need may differ by mode: then the worst one is what the answer is about.
        solution = solve_model(model_at_confidence(spec.model, configuration), configuration)
        graph, at = solution.graph, solution.at
    elif not graph.low <= at <= graph.high:
        raise outside_range(str(graph.population), at, graph.low, graph.high)
    modes = tuple(mode.name for mode in spec.model.modes)
    return number_apart(
        _with_all(spec.model, configuration, graph),
        arguments.name,
        at,
        modes,
        partial(_spread_of, spec.model, configuration, graph, at, sampling_of(arguments)),
    )


def _with_all(model: ir.Model, configuration: Configuration, graph: LoadGraph) -> LoadGraph:
    """Return a graph with all parameters of a model, in its mode."""
    by_mode = {each.mode: each for each in in_each_mode(model, configuration)}
    return with_parameters(model, by_mode.get(graph.mode, configuration), graph)


def _spread_of(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    at: int,
    sampling: Sampling,
    read: Callable[[LoadGraph], Formula],
) -> ValueUncertainty | None:
    """Return how far what is read off a graph may be off; None where every number is known."""
    if not any(map(uncertain_in, map(in_force, in_each_mode(model, configuration)))):
        return None
    from qps.solver.uncertainty.value_spreads import spread_of  # noqa: PLC0415 - of few specs, and it needs numpy

    def read_all(of: LoadGraph, configuration: Configuration) -> Formula:
        return read(with_parameters(model, configuration, of))

    return spread_of(model, configuration, graph, at, read_all, sampling)


def _explain_figure(spec: Spec, figure: ir.Figure, arguments: Namespace) -> Exit:
    """Tell a figure in numbers: which load leads from where to where, and its lines."""
    if arguments.set or arguments.scenario or arguments.at is not None:
        raise complain(
            "`--set`, `--scenario` and `--at` do not apply to a figure",
            "add a line to the figure: `line … with deletion = off`",
        )
    with Progress(total=None, quiet=arguments.quiet, unit=None, label=figure.name):
        drawn = draw(ClaimRunner(model=spec.model), figure)
    population = spec.model.population.name
    if arguments.format == "json":
        print_json(as_json(figure_json(drawn, population)))
    else:
        markdown = arguments.format == "markdown"
        sys.stdout.write(figure_text(drawn, population, markdown=markdown))
    return Exit.YES
