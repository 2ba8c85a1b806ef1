"""Specs with elastic parameters, and what they come to."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import settings

from helpers.nightly import examples
from helpers.specs import PRELUDE, at
from qps.compiler.lower.load_graph import LoadGraph
from qps.solver.answers.solution import ElasticSolution, Solution

law = settings(max_examples=examples(30), deadline=None)

ONE = "topology { node host = box }\n"
MANY = "topology { node host = box * N\n link lan = wire between host }\n"
X = "param x elastic 2..30 packet/s\n"
# x packet/s for each of N users at 10 ms: 100/N are left for each
SIMPLE = PRELUDE + X + ONE + "stream flow for each host { traffic N * x; at host { work } }\n"


def value_at(graph: LoadGraph, name: str, population: int) -> Fraction:
    configuration = next(s for s in graph.elastic if s.parameter.name == name)
    return at(graph, configuration.value, population)


def elastic_of(solution: Solution, name: str = "x") -> ElasticSolution:
    return next(item for item in solution.elastic if item.name == name)
