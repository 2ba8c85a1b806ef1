"""The details of an answer, worked out once: pages lay it out and solve nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_each_mode, in_force
from qps.compiler.lower.load_graph import Cited, LoadGraph
from qps.compiler.lower.requirements.quality_axes import axes_by_criterion
from qps.compiler.network.network import Network
from qps.engine.expressions.formulas import Formula, total
from qps.solver.answer import Answer
from qps.solver.breakdown.breakdown_types import NumberApart
from qps.solver.breakdown.measure_naming import NumberPart, named_whole
from qps.solver.breakdown.number_breakdown import number_apart
from qps.solver.details.curves import Curves, curves_of
from qps.solver.details.request_path import PathThere, path_there

_MOST_FORMULAS = 40

_ROUNDINGS = 1e-9
"""What is at its target is not beyond."""


class FormulaDetail(Struct, frozen=True):
    """A number taken apart, and its formula by the names of the measures that it is made of."""

    apart: NumberApart
    named: Formula


class ResourceUtilization(Struct, frozen=True):
    """The load of a resource at the answer, 1 for full, and whether it is beyond its target."""

    load: float
    is_over: bool


class AnswerDetails(Struct, frozen=True, kw_only=True):
    """The details of an answer: a configuration of a spec, at the population of the answer.

    `in_force` is the configuration in the mode of the answer. `loads` are those of all resources,
    `path` where the time of the stream goes that a page draws, None where nothing takes time. So
    many `formulas_left_out` have no formula here. Without numpy there are no `curves`.
    """

    in_force: Configuration
    network: Network
    loads: Mapping[str, ResourceUtilization]
    path: PathThere | None
    formulas: tuple[FormulaDetail, ...]
    formulas_left_out: int
    cited: tuple[Cited, ...]
    """What is cited for what is made of numbers."""
    curves: Curves | None


def answer_details(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    answer: Answer,
    *,
    has_curves: bool = True,
) -> AnswerDetails:
    """Return the details of the answer of a graph in a configuration; curves where requested."""
    every = in_each_mode(model, configuration)
    value = graph.at(answer.at).number
    parts = tuple(_parts(answer, graph))
    return AnswerDetails(
        in_force=in_force(next(each for each in every if each.mode == answer.mode)),
        network=graph.network,
        loads={
            name: ResourceUtilization(value(one.load), value(one.demand - one.target) > _ROUNDINGS)
            for name, one in graph.resources.items()
        },
        path=path_there(graph, answer.at),
        formulas=tuple(_formulas(graph, answer, parts[:_MOST_FORMULAS])),
        formulas_left_out=max(0, len(parts) - _MOST_FORMULAS),
        cited=tuple(one for one in graph.numbers.cited if one.symbols),
        curves=curves_of(answer, graph) if has_curves else None,
    )


def _formulas(
    graph: LoadGraph, answer: Answer, parts: tuple[NumberPart, ...]
) -> Iterator[FormulaDetail]:
    saturations = {one.name: one.saturation for one in answer.resources}
    by_axis = axes_by_criterion(graph.criteria)
    axes = [NumberPart(c.name, axis, c.rests_on) for axis, c in by_axis.items()]
    for part in parts:
        named = named_whole(graph, part.value, part.scope, axes)
        apart = number_apart(graph, part.name, answer.at, saturations=saturations)
        yield FormulaDetail(apart, named)


def _parts(answer: Answer, graph: LoadGraph) -> Iterator[NumberPart]:
    """Yield what is worth a formula, by the name that `qps explain` knows it by."""
    yield from (NumberPart(r.name, r.load, (r.name,)) for r in answer.by_saturation)
    for name, stream in graph.streams.items():
        yield NumberPart(f"{name}.latency", stream.mean_latency, (name,))
        yield NumberPart(f"{name}.loss", stream.loss, (name,))
        if stream.jitter:
            jitter = total(part.value for part in stream.jitter)
            yield NumberPart(f"{name}.jitter", jitter, (name,))
    yield from (NumberPart(name, m.value, m.rests_on) for name, m in graph.measures.items())
    if graph.quality is not None:
        yield NumberPart("quality", graph.quality)
    for name, is_running in (("cost", False), ("running_cost", True)):
        cost = graph.cost(is_running=is_running)
        if cost is not None:
            yield NumberPart(name, cost)
