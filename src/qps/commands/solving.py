"""What `solve` and `report` share: one spec, solved in one configuration."""

from __future__ import annotations

from argparse import Namespace

from msgspec import Struct

from qps.commands.console import show
from qps.commands.efforts import sampling_of
from qps.commands.lowered_specs import with_graphs
from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in
from qps.compiler.diagnostics.diagnostic import Diagnostic
from qps.compiler.pipeline import Scenarios, Spec
from qps.reports.text.answers import SolveView
from qps.reports.text.view import solve_view
from qps.solver.answers.solution import Solution
from qps.solver.answers.worst_mode import solve_model
from qps.solver.odds.told import Odds, Sampling
from qps.solver.what_if.advice import advise


class Solved(Struct, frozen=True, kw_only=True):
    """A model in a configuration, its answers, the same as plain values, what the spec warns of."""

    model: ir.Model
    configuration: Configuration
    solution: Solution
    view: SolveView
    odds: Odds | None = None
    warnings: tuple[Diagnostic, ...] = ()


def solved(arguments: Namespace) -> Solved:
    """Load and solve the spec that the arguments name, as they change it."""
    with with_graphs(arguments.file) as spec:
        show(spec.warnings, arguments)
        settings = tuple(arguments.set)
        sampling = sampling_of(arguments)
        return solved_spec(
            spec, arguments.scenario, settings, advice=arguments.advice, sampling=sampling
        )


def solved_spec(
    spec: Spec,
    scenario: Scenarios,
    settings: tuple[str, ...],
    *,
    advice: bool,
    sampling: Sampling,
) -> Solved:
    """Solve a spec as a scenario and settings change it."""
    spec = spec.with_machines_of(settings)
    configuration = spec.configuration(scenario, settings)
    solution = solve_model(spec.model, configuration)
    helping = advise(spec.model, configuration, solution) if advice else ()
    found = None
    if uncertain_in(configuration):
        from qps.solver.odds.odds import odds  # noqa: PLC0415 - of few specs, and it needs numpy

        found = odds(spec.model, configuration, solution, sampling)
    view = solve_view(spec.model, configuration, solution, settings, helping, spec.warnings, found)
    return Solved(
        model=spec.model,
        configuration=configuration,
        solution=solution,
        view=view,
        odds=found,
        warnings=tuple(spec.warnings),
    )
