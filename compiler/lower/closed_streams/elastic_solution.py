"""Loads of all resources, once elastic parameters have taken what is left of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.lower.closed_networks.closed_stream_solution import Closed
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula, solve_elastic
from qps.compiler.lower.expressions.exact_order import compare
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import Targets
from qps.compiler.lower.requirements.lower_targets import bounds_load
from qps.compiler.lower.resource_loads import ResourceLoad
from qps.compiler.lower.traffic.traffic_parts import NetworkTraffic, StationTraffic
from qps.engine.expressions.formulas import ONE, Formula, number, total
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.point_values import EvaluationPoint
from qps.engine.expressions.substitution import Substitution


class ElasticLoads(Struct, frozen=True, kw_only=True):
    """All loads, what elastic parameters come to, and the closed streams with these.

    `put_in` puts rates of closed streams and elastic parameters into what was walked.
    """

    resources: dict[str, ResourceLoad]
    elastic: tuple[ElasticFormula, ...]
    closed: Closed
    put_in: Substitution


def loads_of(
    traffic: NetworkTraffic,
    closed: Closed,
    targets: Targets,
    requirements: Sequence[ir.Requirement],
    expressions: ExpressionLowering,
) -> ElasticLoads:
    """Return all loads once elastic parameters have taken what is left of what is requested."""
    demands = traffic.stations
    stated = {name: demand.load for name, demand in demands.items()}
    at_rates = Substitution(closed.values)
    parts = {
        name: {by: at_rates(total(loads)) for by, loads in demand.parts.items()}
        for name, demand in demands.items()
    }
    whose = {
        name: {of: total(loads) for of, loads in demand.of_streams().items()}
        for name, demand in demands.items()
    }
    unresolved = {n: closed.loads.get(n) or at_rates(load) for n, load in stated.items()}
    for name in unresolved if expressions.elastic else ():
        for requirement in requirements:
            if bounds_load(requirement, name, demands):
                _refuse_strict(requirement, name, stated[name], expressions)
    _refuse_endless(demands, stated, targets.limits, expressions)
    parameters = list(expressions.elastic.values())
    signs = partial(_signs, expressions)
    left, solutions = solve_elastic(
        unresolved | closed.full_demands,
        targets.limits,
        parameters,
        signs,
        stated=stated,
        stations=closed.elastic_stations,
    )
    values = {one.parameter.symbol: one.value for one in solutions}
    if values:
        closed = closed.changed(Substitution(values))
    put_in = Substitution(closed.values | values)
    loads = left | closed.loads_with_elastic(left)
    resources = {
        name: ResourceLoad(
            name=name,
            load=loads[name],
            parts={by: put_in(part) for by, part in parts[name].items()},
            streams={of: put_in(at_rates(part)) for of, part in whose[name].items()},
            span=demand.span,
            unresolved=unresolved[name],
            target=targets.of[name],
            throughput=put_in(total(demand.throughputs)) if demand.throughputs else None,
            count=demand.count,
            port_of=demand.port_of,
            open_load=closed.open_loads.get(name),
            is_never_full=demand.offered is not None and not demand.background,
        )
        for name, demand in demands.items()
    }
    return ElasticLoads(resources=resources, elastic=solutions, closed=closed, put_in=put_in)


def _signs(expressions: ExpressionLowering, formula: Formula) -> tuple[int | None, ...]:
    """Return the signs of a formula at some populations of the range."""
    low, high = expressions.configuration.low, expressions.configuration.high
    values = expressions.values_in(formula).items()
    ends = low, Fraction(2 * low + high, 3), high
    return tuple(_sign_at(formula, (expressions.population, number(at)), *values) for at in ends)


@memoized
def _sign_at(formula: Formula, *values: tuple[Formula, Formula]) -> int | None:
    return EvaluationPoint(dict(values)).sign(formula)


def _refuse_strict(
    requirement: ir.Requirement, name: str, load: Formula, expressions: ExpressionLowering
) -> None:
    """Refuse a limit that must not be reached of a load that an elastic parameter fills up."""
    takes = [e.name for e in expressions.elastic.values() if e.symbol in load.symbols]
    if requirement.strict and takes:
        raise QpsError.single(
            codes.NO_ANSWER,
            requirement.span,
            f"elastic `{takes[0]}` fills {name} to its limit and never stays below it",
            hint="write `<=`",
        )


def _refuse_endless(
    demands: Mapping[str, StationTraffic],
    loads: Mapping[str, Formula],
    limits: Mapping[str, Formula],
    expressions: ExpressionLowering,
) -> None:
    """Refuse that an elastic parameter fills up what is waited for: the queue would not end."""
    for elastic in expressions.elastic.values():
        for name, demand in demands.items():
            if demand.queueing is None or elastic.symbol not in loads[name].symbols:
                continue
            if name in limits and compare("<", expressions.put_in(limits[name]), ONE):
                continue
            raise QpsError.single(
                codes.NO_ANSWER,
                elastic.span,
                f"elastic `{elastic.name}` saturates {name}: queueing delay is infinite",
                secondary=[Label(demand.queueing.span, "queueing stated here")],
                hint=f"limit its utilization: `require {{ {name}.utilization <= 80 % }}`",
            )
