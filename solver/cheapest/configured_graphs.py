"""The load graphs of configurations that were tried lately: to be judged, solved and printed."""

from __future__ import annotations

from collections import OrderedDict

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.lower.certainty_requirements import as_stated
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.lowering import lower
from qps.solver.answers.worst_mode import (
    WeakestModes,
    WorstMode,
    solve_worst_mode,
    weakest_modes,
)
from qps.solver.cheapest.branch_and_bound import Chosen
from qps.solver.cheapest.design_space import DesignSpace
from qps.solver.uncertainty.confidence_interface import model_at_confidence

_ROOM = 64
"""Load graphs that are kept; those of the configuration that was tried last in any case."""


class ConfiguredGraphs:
    """Makes the load graphs of all modes of configurations, each once while it is in use."""

    def __init__(self, space: DesignSpace) -> None:
        self._space = space
        self._known: OrderedDict[Chosen, tuple[LoadGraph, ...]] = OrderedDict()
        self._weakest: dict[Chosen, WeakestModes] = {}

    def as_stated(self, chosen: Chosen) -> tuple[LoadGraph, ...] | None:
        """Return the graphs without requirements that rest on samples; None where there are none.

        Then those with all requirements are the same.
        """
        configuration = self._space.configured(chosen)
        model = as_stated(self._space.model, configuration)
        return None if model is self._space.model else _lowered(model, configuration)

    def of(self, chosen: Chosen) -> tuple[LoadGraph, ...]:
        """Return the graphs of a configuration, as it would be solved by itself."""
        if chosen not in self._known:
            configuration = self._space.configured(chosen)
            model = model_at_confidence(self._space.model, configuration)
            self._known[chosen] = _lowered(model, configuration)
            while len(self._known) > 1 and sum(map(len, self._known.values())) > _ROOM:
                self._weakest.pop(self._known.popitem(last=False)[0], None)
        self._known.move_to_end(chosen)
        return self._known[chosen]

    def weakest(self, chosen: Chosen) -> WeakestModes:
        """Return the modes of a configuration that fail first."""
        graphs = self.of(chosen)
        if chosen not in self._weakest:
            self._weakest[chosen] = weakest_modes(graphs)
        return self._weakest[chosen]

    def worst(self, chosen: Chosen) -> WorstMode:
        """Return the solution of a configuration in its worst mode."""
        return solve_worst_mode(self.of(chosen), self.weakest(chosen))


def _lowered(model: ir.Model, configuration: Configuration) -> tuple[LoadGraph, ...]:
    return tuple(lower(model, each) for each in in_each_mode(model, configuration))
