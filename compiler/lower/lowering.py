"""Lower a model in one configuration to its load graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from enum import Enum

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.lower.analyze import analyze
from qps.compiler.lower.certainty_requirements import refuse_confidence
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.expressions.power_limits import power_errors_placed
from qps.compiler.lower.expressions.symbolic_numbers import Moving
from qps.compiler.lower.graph_cache import GraphCache
from qps.compiler.lower.load_graph import Basis, Cited, GraphNumbers, LoadGraph
from qps.compiler.lower.requirements.stated_facts import stated_of
from qps.compiler.lower.traffic.build_network import build_network
from qps.engine.expressions.formulas import population


def lower(
    model: ir.Model,
    configuration: Configuration,
    moving: Moving | None = None,
    *,
    sizes_move: bool = False,
    by_points: bool = True,
) -> LoadGraph:
    """Return the load graph; QpsError where a value is outside its range.

    What it labels as known holds for all values of the numbers that are `moving`, and where
    `sizes_move` for all sizes of visits, so that those that are equal by chance count as different.
    Errors of approximations go by where its numbers lie; not so where `by_points` is false: then
    one graph serves more configurations.
    """
    refuse_confidence(model, configuration)
    cache, active, moved = model.derived(GraphCache), in_force(configuration), moving or {}
    shape = cache.shape_of(active, sizes_move, by_points, *moved.items())
    known = cache.like(shape, active)
    if known is not None:
        return known
    with power_errors_placed(), cache.memory.in_use():
        graph = _load_graph(model, active, moved, sizes_move=sizes_move, by_points=by_points)
    return cache.keep(shape, active, graph)


def lower_as_one_of_many(
    model: ir.Model, configuration: Configuration, moving: Moving
) -> LoadGraph:
    """Return a load graph in which steps that options switch on and off are numbers.

    It has the same of all that is loaded, limited and paid, and is shared by configurations that
    differ in such options; steps that are not taken are in it, and take no time.
    """
    cache, active = model.derived(GraphCache), in_force(configuration)
    refuse_confidence(model, configuration)
    known = cache.like(cache.shared_shape_of(active, *moving.items()), active)
    if known is not None:
        return known
    try:
        with power_errors_placed(), cache.memory.in_use():
            graph = _load_graph(
                model, active, moving, sizes_move=False, shared=GraphSharing.OPTIONS
            )
    except QpsError:  # it may be of a step that is not taken
        return lower(model, configuration, moving)
    return cache.add_shared(active, graph, *moving.items())


def outlined(model: ir.Model, configuration: Configuration) -> None:
    """Lower a load graph that serves all configurations that differ in counts, too.

    In it the numbers of machines and networks in each place are symbols, and all steps that only
    work are switched. It has what `lower` has of what is loaded, limited and paid, but not how well
    that is known. There may be none.
    """
    cache, active = model.derived(GraphCache), in_force(configuration)
    if cache.like(cache.outline_of(active), active) is not None:
        return
    with suppress(QpsError), power_errors_placed(), cache.memory.in_use():
        graph = _load_graph(model, active, {}, sizes_move=False, shared=GraphSharing.OUTLINE)
        cache.add_outline(active, graph)


def from_outline(model: ir.Model, configuration: Configuration) -> LoadGraph | None:
    """Return a graph that was `outlined`, with the numbers of a configuration; None for none."""
    cache, active = model.derived(GraphCache), in_force(configuration)
    return cache.like(cache.outline_of(active), active)


class GraphSharing(Enum):
    """By what configurations a graph is shared: also by those that differ in these."""

    NUMBERS = "numbers"
    OPTIONS = "options"
    OUTLINE = "counts"


def _load_graph(
    model: ir.Model,
    configuration: Configuration,
    moving: Moving,
    *,
    sizes_move: bool,
    by_points: bool = False,
    shared: GraphSharing = GraphSharing.NUMBERS,
) -> LoadGraph:
    numbers = ExpressionLowering(
        model=model,
        configuration=configuration,
        population=population(model.population.name),
        moving=moving,
        sizes_move=sizes_move,
        switches=None if shared is GraphSharing.NUMBERS else {},
        counts_move=shared is GraphSharing.OUTLINE,
        supposed={} if shared is GraphSharing.OPTIONS else None,
    )
    spec = build_network(numbers)
    stated = stated_of(spec, numbers)
    analysis = analyze(spec, stated, numbers, by_points=by_points)
    return LoadGraph(
        network=spec.network,
        analysis=analysis,
        numbers=GraphNumbers(
            assumptions=numbers.assumptions,
            cited=(*numbers.cited.values(), *_cited_places(configuration)),
        ),
        stated=stated,
        basis=Basis(
            decided=frozenset(numbers.decided),
            options=frozenset(numbers.options),
            weighed=numbers.weighed,
            structural=frozenset(numbers.structural),
            evaluated=frozenset(numbers.evaluated),
            supposed=numbers.supposed or {},
            switches=numbers.switches or {},
        ),
    )


def _cited_places(configuration: Configuration) -> Iterator[Cited]:
    """Yield what is cited for machines and networks in their places."""
    for node in configuration.nodes.values():
        if node.source is not None:
            yield _cited_place(node, node.machine, node.source)
    for link in configuration.links.values():
        if link.source is not None:
            yield _cited_place(link, link.network, link.source)


def _cited_place(place: ir.Node | ir.Link, stands: str, source: str) -> Cited:
    count = place.count
    often = f" * {count.value}" if isinstance(count, ir.Constant) and count.value != 1 else ""
    return Cited(name=place.name, text=stands + often, span=place.span, source=source)
