"""What formulas come to at many moments: exactly of few, in floats of many.

The load graphs of moments share their formulas where only numbers differ. So a program is made of
them once, in which all numbers are inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from msgspec import Struct, field

from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.execution.array_runs import Runner
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import in_floats
from qps.solver.answers.graph_solution import value_at

_ROUNDING = 1e-9


class _Program(Struct, frozen=True):
    runner: Runner
    outputs: tuple[int, ...]


class MomentValues(Struct):
    """Evaluates formulas of load graphs at a population; `in_floats` those of many graphs."""

    is_in_floats: bool
    programs: dict[tuple[Formula, ...], _Program] = field(default_factory=dict)

    @property
    def rounding(self) -> float:
        """The part of a value by which it may be off."""
        return _ROUNDING if self.is_in_floats else 0.0

    def at(self, graph: LoadGraph, formulas: Sequence[Formula], population: int) -> list[float]:
        """Return the values of formulas; not-a-number where they have none."""
        if not self.is_in_floats:
            return [value_at(graph, one, population) for one in formulas]
        import numpy as np  # noqa: PLC0415 - of few specs

        key = tuple(formulas)
        if key not in self.programs:
            inputs = {one.symbol: one.name for one in graph.assumptions.values()}
            builder = ProgramBuilder(graph.population, {}, inputs)
            outputs = tuple(map(builder.build, formulas))
            self.programs[key] = _Program(Runner(builder.program()), outputs)
        program = self.programs[key]
        values = {
            one.name: np.asarray([in_floats(one.value)]) for one in graph.assumptions.values()
        }
        with np.errstate(all="ignore"):
            many = np.asarray([float(population)])
            found = program.runner.run(program.outputs, {}, values, many)
        numbers = [np.ravel(np.asarray(found[one], dtype=float)) for one in program.outputs]
        return [float(one[0]) if one.size else nan for one in numbers]
