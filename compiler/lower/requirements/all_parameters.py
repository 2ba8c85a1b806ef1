"""All parameters of a model in a load graph: also those that nothing rests on, and derived ones."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force, is_in_place
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.expressions.label_propagation import certainty_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.load_graph import LoadGraph, NamedMeasure
from qps.compiler.quantities.certainty import EXACT


def with_parameters(model: ir.Model, configuration: Configuration, graph: LoadGraph) -> LoadGraph:
    """Return a graph that knows every parameter that has a value in its configuration.

    A fixed number is an assumption, one that is made of others `derived`.
    """
    expressions = ExpressionLowering.of_graph(model, in_force(configuration), graph)
    elastic = {one.parameter.name for one in graph.elastic}
    derived = {}
    for parameter in model.parameters:
        if parameter.name in elastic or parameter.name in graph.stated.varied:
            continue
        if not is_in_place(parameter, configuration):
            continue
        value = ir.ParameterValue(parameter.name)
        with suppress(QpsError):
            lowered = expressions.lower(value)
            if parameter.name not in expressions.assumptions:
                derived[parameter.name] = NamedMeasure(
                    name=parameter.name,
                    value=lowered,
                    dimension=parameter.dimension,
                    doc=parameter.doc,
                    rests_on=(),
                    known=certainty_of(value, expressions, lambda _: EXACT),
                )
    numbers = replace(graph.numbers, assumptions=expressions.assumptions, derived=derived)
    looked_at = graph.basis.evaluated | expressions.evaluated
    return replace(graph, numbers=numbers, basis=replace(graph.basis, evaluated=looked_at))
