"""What `solve` and `report` share: one spec, solved in one configuration."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from qps.commands.arguments.simulation_effort import sampling_of
from qps.commands.cache.load_graph_cache import with_graphs
from qps.commands.terminal.console import show
from qps.solver.reliable_solution import ignore
from qps.solver.solved_spec import Answered, SolvedSpec, solved_spec


def solved(
    arguments: Namespace,
    on_progress: Callable[[str], object] = ignore,
    answered: Answered | None = None,
) -> SolvedSpec:
    """Load and solve the spec that the arguments name, changed; `on_progress` gets each step."""
    with with_graphs(arguments.file) as spec:
        show(spec.warnings, arguments)
        settings = tuple(arguments.set)
        sampling = sampling_of(arguments)
        return solved_spec(
            spec,
            arguments.scenario,
            settings,
            advice=arguments.advice,
            sampling=sampling,
            on_progress=on_progress,
            answered=answered,
        )
