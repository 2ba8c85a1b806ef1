"""What `solve` and `report` share: one spec, solved in one configuration."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable

from qps.commands.arguments.simulation_effort import sampling_of
from qps.commands.cache.load_graph_cache import with_graphs
from qps.commands.terminal.console import show
from qps.solver.solved_spec import Answered, Solved, solved_spec, tell_nobody


def solved(
    arguments: Namespace,
    tell: Callable[[str], object] = tell_nobody,
    answered: Answered | None = None,
) -> Solved:
    """Load and solve the spec that the arguments name, as they change it; `tell` what is next."""
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
            tell=tell,
            answered=answered,
        )
