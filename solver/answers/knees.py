"""What elastic parameters come to, and their knees: where each gives way, and is exhausted.

Parameters that share resources share formulas: what one takes stands in the load that the next
one meets. The search for a knee finds the pieces of those before it made. Only to evaluate a load
anew, where its knee is said to be, all before it are evaluated with it: that is done on arrays,
for many knees at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula
from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.execution.program_builder import ProgramBuilder
from qps.engine.expressions.formulas import Formula
from qps.solver.answers.saturation import (
    LARGEST_ERROR,
    certified,
    heaviest,
    refuse_undecided,
    saturation_point,
)
from qps.solver.answers.solution import BottleneckChange, ElasticSolution, Knee
from qps.solver.search.method import SearchMethod

_FEW = 32
"""So many points are certified exactly, one by one; numpy is not imported for them."""

_BLOCK = 256


def elastic_solutions(graph: LoadGraph, at: int) -> tuple[ElasticSolution, ...]:
    """Return what elastic parameters come to at a population, and their knees.

    SolverFault where a load is not at its limit at the knee that was found.
    """
    found = _Limits(graph.population)
    solutions = tuple(_elastic(graph, elastic, at, found) for elastic in graph.elastic)
    found.certify()
    return solutions


@dataclass(frozen=True, slots=True)
class _Limits:
    """Loads, and where each was found to reach its limit."""

    population: Formula
    points: dict[tuple[Formula, Fraction], None] = field(default_factory=dict)

    def add(self, load: Formula, _population: Formula, at: Fraction) -> None:
        """Note where a load reaches its limit."""
        self.points[load, at] = None

    def certify(self) -> None:
        """Evaluate all anew; exactly, where floats do not show that a load is at its limit."""
        points = list(self.points)
        if len(points) > _FEW:
            points = _undecided_points(self.population, points)
        for load, at in points:
            certified(load, self.population, at)


def _undecided_points(
    population: Formula, points: Sequence[tuple[Formula, Fraction]]
) -> list[tuple[Formula, Fraction]]:
    """Return those points at which floats do not show that the load reaches its limit."""
    import numpy as np  # noqa: PLC0415 - slow to import, seldom needed

    from qps.engine.execution.array_runs import Runner  # noqa: PLC0415 - imports numpy

    builder = ProgramBuilder(population, {}, {})
    outputs = [builder.build(load) for load, _ in points]
    runner = Runner(builder.program())
    floats = np.array([float(at) for _, at in points])
    undecided = []
    for first in range(0, len(points), _BLOCK):
        block = slice(first, first + _BLOCK)
        with np.errstate(all="ignore"):
            values = runner.run(outputs[block], {}, population=floats[block])
        for row, output in enumerate(outputs[block]):
            load = np.broadcast_to(values[output], floats[block].shape)[row]
            if not abs(load - 1) <= LARGEST_ERROR:
                undecided.append(points[first + row])
    return undecided


def _elastic(graph: LoadGraph, elastic: ElasticFormula, at: int, found: _Limits) -> ElasticSolution:
    parameter = elastic.parameter
    ends = [_ends(graph, elastic, name, found) for name in elastic.left]
    yields, exhausted = _first([one for one, _ in ends]), _first([other for _, other in ends])
    changes: tuple[BottleneckChange, ...] = ()
    if yields is not None:
        # The resource that leaves the least is the highest of what they leave, turned round.
        left = {name: -graph.valued(value) for name, value in elastic.left.items()}
        tightest, followed = heaviest(left, graph)
        if yields.method is SearchMethod.AT_START:
            yields = replace(yields, resource=tightest)
        end = float("inf") if exhausted is None else exhausted.at
        changes = tuple(change for change in followed if yields.at < change.at < end)
    values = graph.at(at)
    return ElasticSolution(
        name=parameter.name,
        priority=parameter.priority,
        least=values.number(parameter.least),
        most=values.number(parameter.most),
        value_at_limit=values.number(elastic.value),
        yields=yields,
        exhausted=exhausted,
        changes=changes,
        dimension=parameter.dimension,
        known=elastic.known,
    )


def _ends(
    graph: LoadGraph, elastic: ElasticFormula, name: str, found: _Limits
) -> tuple[Knee | None, Knee | None]:
    """Return where a resource has less left than the most of a parameter, and where but its least.

    There it is full with the least, by what parameters before it take: it may stay so for long.
    Where it is full while the parameter takes nothing of it, that is no limit yet.
    """
    load = elastic.at_least[name]
    yields = _reached(graph, name, elastic.at_most[name], found, passes=True)
    full = _reached(graph, name, load, found, passes=False)
    if full is None or yields is None or full.at < yields.at:
        return yields, _reached(graph, name, load, found, passes=True)
    return yields, full


def _first(knees: Iterable[Knee | None]) -> Knee | None:
    return min((knee for knee in knees if knee is not None), key=lambda knee: knee.at, default=None)


def _reached(
    graph: LoadGraph, name: str, load: Formula, found: _Limits, *, passes: bool
) -> Knee | None:
    """Return where the load of a resource reaches 1, or goes beyond."""
    span = graph.resources[name].span
    saturation = saturation_point(
        graph.valued(load),
        graph.population,
        graph.low,
        passes=passes,
        name=name,
        span=span,
        high=graph.high,
        certify=found.add,
    )
    if saturation.not_below is not None:
        refuse_undecided(saturation.not_below, graph.population, name, span)
    return None if saturation.at is None else Knee(saturation.at, name, saturation.method)
