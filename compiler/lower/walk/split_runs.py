"""Steps that run 2.5 times: every item runs them twice, and half of the items once more.

The whole part of a number of runs is certain, the rest is the chance of one more run, as for calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import floor

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.bounded_value import varies
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.fractional_runs import is_scaled, repeated_step
from qps.compiler.ir.waiting import machine_at
from qps.compiler.lower.walk.network_builder import NetworkBuilder
from qps.compiler.quantities.dimension import DIMENSIONLESS


def with_split_runs(legs: Sequence[ir.Leg], network: NetworkBuilder) -> tuple[ir.Leg, ...]:
    """Return legs in which a number of runs that is not whole is a whole one, and a chance."""
    numbers = [leg.call.number for leg in legs if isinstance(leg, ir.CallMark)]
    new = count(max(numbers, default=0) + 1)
    found: list[ir.Leg] = []
    for leg in legs:
        found += _split(leg, network, new) if isinstance(leg, ir.Visit) else [leg]
    return tuple(found)


def _split(visit: ir.Visit, network: NetworkBuilder, numbers: Iterator[int]) -> Iterator[ir.Leg]:
    steps: list[ir.Step] = []
    for step in visit.steps:
        rest = _rest(step, visit.node, network)
        if rest is None:
            steps.append(step)
            continue
        whole, chance = rest
        call = ir.Call(
            number=next(numbers),
            node=visit.node,
            times=ir.Quantity(expr=chance, dimension=DIMENSIONLESS, span=step.span),
            sends=None,
            returns=None,
            condition=None,
            span=step.span,
            is_local=True,
            choice=next(numbers),
        )
        begins, answers, ends = (ir.CallMark(point, call) for point in ir.CallPoint)
        once = ir.Visit(visit.node, (replace(step, repeat=None),), visit.span)
        yield ir.Visit(visit.node, (*steps, replace(step, repeat=whole)), visit.span)
        yield from (begins, once, answers, ir.Visit(visit.node, (), visit.span), ends)
        steps = []
    yield ir.Visit(visit.node, tuple(steps), visit.span)


def _rest(step: ir.Step, node: str, network: NetworkBuilder) -> tuple[ir.Constant, ir.Expr] | None:
    """Return how often a step runs for sure, and the chance of one more run; None if that is 0.

    Parameters of such a number decide what the network looks like.
    """
    repeat = step.repeat
    if repeat is None or varies(repeat):
        return None
    found = repeated_step(
        step, repeat, machine_at(network.model, network.configuration.nodes[node])
    )
    if found is None or not found.is_split:
        return None
    population = Fraction(network.configuration.low)
    folder = Folder(configuration=network.configuration, population=population)
    runs = folder.fold(repeat)
    if runs is None or runs.denominator == 1 or is_scaled(repeat, folder):
        return None
    network.expressions.decided |= network.expressions.parameters_in(repeat)
    whole = floor(runs)
    chance: ir.Expr = ir.Constant(runs - whole)
    if not isinstance(repeat, ir.Constant):
        chance = ir.Sum((repeat, ir.Constant(Fraction(-whole))))
    return ir.Constant(Fraction(whole)), chance
