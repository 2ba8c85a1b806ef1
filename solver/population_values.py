"""The values of a solution at a population: what monitoring compares with what it measures."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.solver.answer import Answer
from qps.solver.answers.answer_parts import RequirementAnswer
from qps.solver.answers.graph_solution import value_at
from qps.solver.answers.requirement_readings import criterion_at
from qps.solver.answers.solution import Saturation, Solution


class ResourceValues(Struct, frozen=True, kw_only=True):
    """A resource at a population: its utilization, the limit of that, and where it saturates."""

    name: str
    utilization: float
    target: float
    saturation: Saturation


class StreamValues(Struct, frozen=True, kw_only=True):
    """A stream at a population: items/s of all flows, mean latency in s, share of items lost."""

    name: str
    item: str
    rate: float
    latency: float
    loss: float


class PopulationValues(Struct, frozen=True, kw_only=True):
    """An answer, and values with nominal inputs at a population; `now` of requirements is there."""

    answer: Answer
    at: int
    resources: tuple[ResourceValues, ...]
    requirements: tuple[RequirementAnswer, ...]
    streams: tuple[StreamValues, ...]


def planned_population(answer: Answer) -> int:
    """Return the capacity as `qps solve` prints it first; the least population without one."""
    beside = answer.at_reliable
    return answer.at if beside is None else beside.population


def population_values(answer: Answer, solution: Solution, at: int) -> PopulationValues:
    """Return the values of a solution at a population of its range."""
    graph = solution.graph
    criteria = [one.criterion for one in solution.requirements]
    flows = dict.fromkeys(graph.streams, 0.0)
    for each in graph.network.classes.values():
        flows[each.stream] += value_at(graph, each.flows, at)
    return PopulationValues(
        answer=answer,
        at=at,
        resources=tuple(
            ResourceValues(
                name=one.name,
                utilization=value_at(graph, graph.resources[one.name].load, at),
                target=one.target,
                saturation=one.saturation,
            )
            for one in solution.resources
        ),
        requirements=tuple(
            replace(requirement, now=criterion_at(graph, criterion, at))
            for requirement, criterion in zip(answer.requirements, criteria, strict=True)
        ),
        streams=tuple(
            StreamValues(
                name=one.name,
                item=one.item,
                rate=value_at(graph, one.rate, at) * flows[one.name],
                latency=value_at(graph, one.mean_latency, at),
                loss=value_at(graph, one.loss, at),
            )
            for one in graph.streams.values()
        ),
    )
