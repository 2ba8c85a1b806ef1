"""What elastic parameters come to, and their knees: where each gives way, and is exhausted.

Parameters that share resources share formulas: what one takes stands in the load that the next
one meets. The search for a knee finds the pieces of those before it made. Only to evaluate a load
anew, where its knee is said to be, all before it are evaluated with it: that is done on arrays,
for many knees at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from qps.compiler.lower.elastic import SettledParameter
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.building import Builder
from qps.engine.formulas import Formula
from qps.solver.answers.saturation import (
    LARGEST_ERROR,
    certified,
    heaviest,
    refuse_undecided,
    saturation_point,
)
from qps.solver.answers.solution import BottleneckChange, ElasticSolution, Knee
from qps.solver.search.method import Method

_FEW = 32
"""So many points are certified exactly, one by one; numpy is not imported for them."""

_BLOCK = 256


def elastic_solutions(graph: LoadGraph, at: int) -> tuple[ElasticSolution, ...]:
    """Return what elastic parameters come to at a population, and their knees.

    SolverFault where a load is not at its limit at the knee that was found.
    """
    found = _Found(graph.population)
    solutions = tuple(_elastic(graph, settled, at, found) for settled in graph.elastic)
    found.certify()
    return solutions


@dataclass(frozen=True, slots=True)
class _Found:
    """Loads, and where each was found to reach its limit."""

    population: Formula
    points: dict[tuple[Formula, Fraction], None] = field(default_factory=dict)

    def add(self, load: Formula, _population: Formula, at: Fraction) -> None:
        """Note where a load reaches its limit."""
        self.points[load, at] = None

    def certify(self) -> None:
        """Evaluate all anew; exactly, where floats do not tell that a load is at its limit."""
        points = list(self.points)
        if len(points) > _FEW:
            points = _not_told(self.population, points)
        for load, at in points:
            certified(load, self.population, at)


def _not_told(
    population: Formula, points: Sequence[tuple[Formula, Fraction]]
) -> list[tuple[Formula, Fraction]]:
    """Return those points of which floats do not tell that the load reaches its limit there."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine.running import Runner  # noqa: PLC0415 - imports numpy

    builder = Builder(population, {}, {})
    outputs = [builder.build(load) for load, _ in points]
    runner = Runner(builder.program())
    floats = np.array([float(at) for _, at in points])
    not_told = []
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        with np.errstate(all="ignore"):
            values = runner.run(outputs[block], {}, population=floats[block])
        for row, output in enumerate(outputs[block]):
            load = np.broadcast_to(values[output], floats[block].shape)[row]
            if not abs(load - 1) <= LARGEST_ERROR:
                not_told.append(points[first + row])
    return not_told


def _elastic(
    graph: LoadGraph, settled: SettledParameter, at: int, found: _Found
) -> ElasticSolution:
    parameter = settled.parameter
    yields = _knee(graph, settled.at_most, found)
    exhausted = _knee(graph, settled.at_least, found)
    changes: tuple[BottleneckChange, ...] = ()
    if yields is not None:
        # The resource that leaves the least is the highest of what they leave, turned round.
        left = {name: -graph.valued(value) for name, value in settled.left.items()}
        tightest, followed = heaviest(left, graph)
        if yields.method is Method.AT_START:
            yields = replace(yields, resource=tightest)
        end = float("inf") if exhausted is None else exhausted.at
        changes = tuple(change for change in followed if yields.at < change.at < end)
    values = graph.at(at)
    return ElasticSolution(
        name=parameter.name,
        priority=parameter.priority,
        least=values.number(parameter.least),
        most=values.number(parameter.most),
        value_at_limit=values.number(settled.value),
        yields=yields,
        exhausted=exhausted,
        changes=changes,
        dimension=parameter.dimension,
    )


def _knee(graph: LoadGraph, loads: dict[str, Formula], found: _Found) -> Knee | None:
    """Return where the first of some loads, as parts of what is allowed, reaches 1."""
    first = None
    for name, load in loads.items():
        span = graph.resources[name].span
        saturation = saturation_point(
            graph.valued(load),
            graph.population,
            graph.low,
            passes=True,
            name=name,
            span=span,
            high=graph.high,
            certify=found.add,
        )
        if saturation.not_below is not None:
            refuse_undecided(saturation.not_below, graph.population, name, span)
        if saturation.at is not None and (first is None or saturation.at < first.at):
            first = Knee(saturation.at, name, saturation.method)
    return first
