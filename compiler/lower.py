"""Lower a model in one configuration to its load graph."""

from __future__ import annotations

import networkx as nx
import sympy

from qps.compiler import ir
from qps.compiler.configuration import Configuration
from qps.compiler.dimension import DIMENSIONLESS
from qps.compiler.load_graph import (
    Criterion,
    LoadGraph,
    NamedMeasure,
    Place,
    ResourceLoad,
    StreamMeasures,
)
from qps.compiler.lower_expressions import ExpressionLowering, MeasureOf
from qps.compiler.lower_streams import StreamLowering, StreamResult
from qps.compiler.tidy import maximum


def lower(model: ir.Model, configuration: Configuration) -> LoadGraph:
    """Return the load graph; QpsError where a value is outside its range."""
    population = sympy.Symbol(model.population.name, integer=True, positive=True)
    expressions = ExpressionLowering(model, configuration, population)
    graph: nx.MultiDiGraph[Place] = nx.MultiDiGraph()
    streams = StreamLowering(model, configuration, expressions, graph, {})
    results = [streams.lower(stream) for stream in model.streams]
    streams.idle()
    resources = {
        name: ResourceLoad(
            name,
            sympy.Add(*(load for loads in demand.parts.values() for load in loads)),
            {by: sympy.Add(*loads) for by, loads in demand.parts.items()},
            demand.span,
        )
        for name, demand in streams.demands.items()
    }
    measures = {result.name: _measures(result, resources) for result in results}
    measure_of = measured_in(resources, measures)
    criteria = _criteria(model, expressions, measure_of, resources)
    return LoadGraph(
        graph,
        population,
        configuration.low,
        configuration.high,
        expressions.assumptions,
        resources,
        measures,
        {
            measure.name: NamedMeasure(
                measure.name,
                expressions.lower(measure.value.expr, measure_of),
                measure.value.dimension,
                measure.doc,
            )
            for measure in model.measures
        },
        criteria,
        model.quality.metric,
        _quality(model, expressions, measure_of, criteria),
    )


def measured_in(
    resources: dict[str, ResourceLoad], streams: dict[str, StreamMeasures]
) -> MeasureOf:
    """Return what gives the expression of a measure: a load, a share, a stream's latency."""

    def loads_of(name: str) -> list[ResourceLoad]:
        if name in resources:
            return [resources[name]]
        return [load for key, load in resources.items() if key.startswith(name + ".")]

    def measure(measured: ir.Measured | ir.Changed) -> sympy.Expr:
        assert isinstance(measured, ir.Measured)
        kind, subject = measured.kind, measured.subject
        if kind is ir.MeasureKind.LOAD:
            loads = [resource.load for resource in loads_of(subject)]
            return maximum(*loads) if loads else sympy.S.Zero
        if kind is ir.MeasureKind.SHARE:
            loads = [resource.load for resource in loads_of(subject)]
            parts = [r.parts.get(measured.component or "", 0) for r in loads_of(subject)]
            return sympy.Add(*parts) / sympy.Add(*loads) if loads else sympy.S.Zero
        stream = streams[subject]
        if kind is ir.MeasureKind.LATENCY:
            return sympy.Add(*(part.value for part in stream.latency))
        return {
            ir.MeasureKind.LOSS: stream.loss,
            ir.MeasureKind.RATE: stream.rate,
            ir.MeasureKind.THROUGHPUT: stream.throughput,
        }[kind]

    return measure


def _measures(result: StreamResult, resources: dict[str, ResourceLoad]) -> StreamMeasures:
    """Return what the users of a stream see.

    Beyond saturation a resource serves 1/load of what is asked of it; independent stages
    multiply (Claypool 1997, section 5.6.4, "Predicting Data Loss").
    """
    served = [1 / maximum(1, resources[name].load) for name in result.passes]
    saturated = sympy.Mul(*served)
    return StreamMeasures(
        result.name,
        tuple(result.latency),
        1 - sympy.Mul(*result.kept) * saturated,
        result.rate * saturated,
        result.throughput * saturated,
    )


def _criteria(
    model: ir.Model,
    expressions: ExpressionLowering,
    measure_of: MeasureOf,
    resources: dict[str, ResourceLoad],
) -> tuple[Criterion, ...]:
    """Return the requirements, and that no resource is loaded beyond saturation."""
    stated = []
    bounded: set[str] = set()
    for requirement in model.requirements:
        measure = expressions.lower(requirement.measure.expr, measure_of)
        limit = expressions.symbol(f"limit of {requirement.name}", requirement.limit)
        axis = _axis(requirement, expressions, measure, limit) if requirement.is_axis else None
        target = requirement.measure.expr
        if isinstance(target, ir.Measured) and target.kind is ir.MeasureKind.LOAD:
            bounded.update(
                name
                for name in resources
                if name == target.subject or name.startswith(target.subject + ".")
            )
        stated.append(
            Criterion(
                name=requirement.name,
                measure=measure,
                limit=limit,
                at_most=requirement.at_most,
                strict=requirement.strict,
                dimension=requirement.measure.dimension,
                span=requirement.span,
                axis=axis,
            )
        )
    stated += [
        Criterion(
            name=f"{name}.load",
            measure=resource.load,
            limit=sympy.S.One,
            at_most=True,
            strict=False,
            dimension=DIMENSIONLESS,
            span=None,
            axis=None,
        )
        for name, resource in resources.items()
        if name not in bounded
    ]
    return tuple(stated)


_NEVER_NEGATIVE = (ir.MeasureKind.LATENCY, ir.MeasureKind.LOSS)


def _axis(
    requirement: ir.Requirement,
    expressions: ExpressionLowering,
    measure: sympy.Expr,
    limit: sympy.Expr,
) -> sympy.Expr | None:
    """Return a measure scaled so that its limit is 1 and its ideal 0; better than ideal is 0.

    None where the limit is the ideal itself, such as a loss of at most 0: it is met or not.
    """
    ideal: sympy.Expr = sympy.S.Zero
    if requirement.ideal is not None:
        ideal = expressions.symbol(f"ideal of {requirement.name}", requirement.ideal)
    values = {a.symbol: a.value for a in expressions.assumptions.values()}
    if (limit - ideal).xreplace(values) == 0:
        return None
    axis = (measure - ideal) / (limit - ideal)
    asked = requirement.measure.expr
    never_negative = isinstance(asked, ir.Measured) and asked.kind in _NEVER_NEGATIVE
    return axis if never_negative and requirement.ideal is None else maximum(0, axis)


def _quality(
    model: ir.Model,
    expressions: ExpressionLowering,
    measure_of: MeasureOf,
    criteria: tuple[Criterion, ...],
) -> sympy.Expr | None:
    """Return the metric over all axes (Claypool 1997, section 2.3: Euclidean by default)."""
    formula = model.quality.formula
    if formula is not None:
        return expressions.lower(formula.expr, measure_of)
    axes = [criterion.axis for criterion in criteria if criterion.axis is not None]
    if not axes:
        return None
    if model.quality.metric is ir.Metric.WORST:
        return maximum(*axes)
    return sympy.sqrt(sympy.Add(*(axis**2 for axis in axes)))
