"""Changes that cannot help, found by a graph that many configurations share.

Most changes of a large system touch what does not limit it. Where what fails now still fails, in an
outline with the numbers of the change, the change need not be lowered by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.load_graph import Criterion, LoadGraph
from qps.compiler.lower.lowering import from_outline, outlined
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.point_values import EvaluationPoint
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import Solution
from qps.solver.search.certain_signs import sign_of

_ENOUGH = 8
"""Changes that are worth an outline: it takes as long to make as a few of them."""


class _Outline(Struct, frozen=True):
    """What the configuration that was solved shares with others, and what fails of it.

    That is what is above zero where a criterion fails, and whether it fails at zero, too.
    """

    graph: LoadGraph
    failing: tuple[tuple[Formula, bool], ...]


class Outlines(Struct, frozen=True):
    """Tells what still fails when configurations are changed; it knows nothing where few are."""

    model: ir.Model
    of_modes: Mapping[str | None, _Outline]

    def of(self, configuration: Configuration) -> tuple[LoadGraph, ...]:
        """Return a graph of each mode, empty where there is none."""
        if not self.of_modes:
            return ()
        found = [from_outline(self.model, one) for one in in_each_mode(self.model, configuration)]
        # What is kept may be of another outline: it has other formulas.
        known = tuple(
            graph
            for graph in found
            if graph is not None and graph.resources is self.of_modes[graph.mode].graph.resources
        )
        return known if len(known) == len(found) else ()

    def at(self, graph: LoadGraph, population: int) -> EvaluationPoint:
        """Return a graph at a population; what a change leaves as it is is worked out once."""
        usual = self.of_modes[graph.mode].graph
        before = usual.assumptions
        moved = {
            one.symbol: one.value
            for name, one in graph.assumptions.items()
            if one.value is not before[name].value
        }
        return usual.at(population).moved(moved)

    def still_fails(self, graphs: Sequence[LoadGraph], population: int) -> bool:
        """Return whether something that fails now is sure to fail at a population."""
        for graph in graphs:
            failing = self.of_modes[graph.mode].failing
            point = self.at(graph, population)
            if any(_certainly_fails(over, point, strict=strict) for over, strict in failing):
                return True
        return False


def outlines_for(
    model: ir.Model,
    configuration: Configuration,
    solution: Solution,
    tried: Iterable[Configuration],
) -> Outlines:
    """Return outlines for configurations that are tried beside the one that was solved."""
    known: dict[str | None, _Outline] = {}
    # What is left for elastic parameters is looked at while graphs are made.
    is_fixed = not any(parameter.is_elastic for parameter in model.parameters)
    many = list(islice(_restructured(configuration, tried), _ENOUGH))
    if not is_fixed or len(many) < _ENOUGH:
        return Outlines(model, known)
    failing = {
        one.graph.mode: {(c.name, c.at_most) for c in _failing(solution, one)}
        for one in (solution, *solution.others)
    }
    for mode in in_each_mode(model, configuration):
        outlined(model, mode)
        graph = from_outline(model, mode)
        if graph is None:
            return Outlines(model, {})
        known[graph.mode] = _Outline(
            graph,
            tuple(
                (excess(one), one.strict)
                for one in all_criteria(graph)
                if (one.name, one.at_most) in failing[graph.mode]
            ),
        )
    return Outlines(model, known)


def _restructured(
    configuration: Configuration, tried: Iterable[Configuration]
) -> Iterator[Configuration]:
    """Yield the configurations that differ in more than parameters."""
    known = configuration.explicit
    for one in tried:
        if any(not isinstance(change, ir.SetParameter) for change in one.explicit[len(known) :]):
            yield one


def _failing(solution: Solution, of_mode: Solution) -> Iterator[Criterion]:
    """Yield what fails of a mode at the first population that is not acceptable in all modes."""
    largest = solution.capacity
    first = solution.graph.low if largest is None else largest + 1
    for failure in of_mode.failures:
        if failure.first == first:
            yield failure.criterion


def _certainly_fails(over: Formula, point: EvaluationPoint, *, strict: bool) -> bool:
    """Return whether something is sure to fail: what has no value at a point is not."""
    try:
        sign = sign_of(over, point)
    except QpsError:
        return False
    return sign is not None and (sign > 0 or (strict and sign == 0))
