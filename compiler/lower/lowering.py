"""Lower a model in one configuration to its load graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from enum import Enum

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.case_tables import case_tables
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.diagnostics.diagnostic import QpsError
from qps.compiler.ir.parts import subjects
from qps.compiler.lower.assuming import Moving
from qps.compiler.lower.build_network import network_of, with_disciplines
from qps.compiler.lower.certainty_asked import refuse_certainty_asked
from qps.compiler.lower.closed_kinds import put_together
from qps.compiler.lower.closed_known import with_stations_known
from qps.compiler.lower.closing import closed_streams, without_own_waits
from qps.compiler.lower.elastic_known import with_known, with_resting
from qps.compiler.lower.kept_graphs import KeptGraphs
from qps.compiler.lower.kind_means import over_all_kinds
from qps.compiler.lower.labels.drawn_range import far_apart
from qps.compiler.lower.labels.gate import gate_of
from qps.compiler.lower.labels.measured_loads import with_load_errors
from qps.compiler.lower.labels.never_full import never_full
from qps.compiler.lower.labels.operating_points import OperatingPoints
from qps.compiler.lower.labels.walked_network import Numbers
from qps.compiler.lower.load_graph import (
    Calibration,
    Cited,
    GroupSize,
    LoadGraph,
    NamedMeasure,
)
from qps.compiler.lower.losses_in_series import in_series_anywhere, waits_of
from qps.compiler.lower.lower_criteria import (
    both_known,
    judged_by,
    lowered_quantity,
)
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.lower_measures import Measures, priced, stream_measures
from qps.compiler.lower.lower_queues import stations_of
from qps.compiler.lower.lower_targets import Targets
from qps.compiler.lower.network_builder import NetworkBuilder
from qps.compiler.lower.pools import refuse_elastic, settled_pools
from qps.compiler.lower.requirements_in_force import requirements_in_force
from qps.compiler.lower.settled_closed_pools import users_pools
from qps.compiler.lower.settled_loads import settled_loads, unsettled_loads
from qps.compiler.lower.settled_losses import with_losses
from qps.compiler.lower.too_long import powers_told
from qps.compiler.lower.traffic import traffic_of
from qps.compiler.lower.traffic_parts import Traffic
from qps.compiler.lower.unfilled_pools import unfilled_pools
from qps.compiler.lower.walk.lower_streams import walked_stream
from qps.compiler.network.class_kinds import with_classes_by_kind
from qps.engine.formulas import Formula, population
from qps.engine.substitution import Substitution


def lower(
    model: ir.Model,
    configuration: Configuration,
    moving: Moving | None = None,
    *,
    sizes_move: bool = False,
    by_points: bool = True,
) -> LoadGraph:
    """Return the load graph; QpsError where a value is outside its range.

    What it tells to be known holds for all values of the numbers that are `moving`, and where
    `sizes_move` for all sizes of visits, so that those that are equal by chance count as different.
    Errors of approximations go by where its numbers lie; not so where `by_points` is false: then
    one graph serves more configurations.
    """
    refuse_certainty_asked(model, configuration)
    kept, settled, moved = model.once(KeptGraphs), in_force(configuration), moving or {}
    shape = kept.shape_of(settled, sizes_move, by_points, *moved.items())
    known = kept.like(shape, settled)
    if known is not None:
        return known
    with powers_told(), kept.memory.in_use():
        graph = _lowered_model(model, settled, moved, sizes_move=sizes_move, by_points=by_points)
    return kept.keep(shape, settled, graph)


def lower_as_one_of_many(
    model: ir.Model, configuration: Configuration, moving: Moving
) -> LoadGraph:
    """Return a load graph in which steps that options switch on and off are numbers.

    It tells the same of all that is loaded, limited and paid, and is shared by configurations that
    differ in such options; steps that are not taken are in it, and take no time.
    """
    kept, settled = model.once(KeptGraphs), in_force(configuration)
    refuse_certainty_asked(model, configuration)
    known = kept.like(kept.shared_shape_of(settled, *moving.items()), settled)
    if known is not None:
        return known
    try:
        with powers_told(), kept.memory.in_use():
            graph = _lowered_model(model, settled, moving, sizes_move=False, shared=Shared.OPTIONS)
    except QpsError:  # it may be of a step that is not taken
        return lower(model, configuration, moving)
    return kept.keep_shared(settled, graph, *moving.items())


def outlined(model: ir.Model, configuration: Configuration) -> None:
    """Lower a load graph that serves all configurations that differ in counts, too.

    In it the numbers of machines and networks in each place are symbols, and all steps that only
    work are switched. It tells what `lower` tells of what is loaded, limited and paid; how well
    that is known it does not tell. There may be none.
    """
    kept, settled = model.once(KeptGraphs), in_force(configuration)
    if kept.like(kept.outline_of(settled), settled) is not None:
        return
    with suppress(QpsError), powers_told(), kept.memory.in_use():
        graph = _lowered_model(model, settled, {}, sizes_move=False, shared=Shared.OUTLINE)
        kept.keep_outline(settled, graph)


def from_outline(model: ir.Model, configuration: Configuration) -> LoadGraph | None:
    """Return a graph that was `outlined`, with the numbers of a configuration; None for none."""
    kept, settled = model.once(KeptGraphs), in_force(configuration)
    return kept.like(kept.outline_of(settled), settled)


class Shared(Enum):
    """By what configurations a graph is shared: also by those that differ in these."""

    NUMBERS = "numbers"
    OPTIONS = "options"
    OUTLINE = "counts"


def _lowered_model(
    model: ir.Model,
    configuration: Configuration,
    moving: Moving,
    *,
    sizes_move: bool,
    by_points: bool = False,
    shared: Shared = Shared.NUMBERS,
) -> LoadGraph:
    users = population(model.population.name)
    expressions = ExpressionLowering(
        model=model,
        configuration=configuration,
        population=users,
        moving=moving,
        sizes_move=sizes_move,
        switches=None if shared is Shared.NUMBERS else {},
        counts_move=shared is Shared.OUTLINE,
        supposed={} if shared is Shared.OPTIONS else None,
    )
    for parameter in expressions.in_order_of_service():  # so they take what is left
        expressions.lower(ir.ParameterValue(parameter.name, is_elastic=True))
    builder = NetworkBuilder(
        model=model, configuration=configuration, expressions=expressions.keeping_classes()
    )
    there = tuple(one for one in model.streams if expressions.holds(one.condition))
    walked = [walked_stream(stream, builder) for stream in there]
    builder.idle()
    network = with_classes_by_kind(network_of(builder, (one.of for one in walked)))
    traffic = traffic_of(network, walked, builder)
    traffic = over_all_kinds(traffic, expressions)
    traffic = with_losses(traffic, network, expressions)
    demands = traffic.stations
    absent = frozenset(one.name for one in model.streams if one not in there)
    requirements = requirements_in_force(model, configuration.mode, absent)
    targets = Targets(
        model=model,
        expressions=expressions,
        requirements=requirements,
        network=network,
        resources=demands.keys(),
    )
    refuse_elastic(demands, traffic.classes, expressions.elastic.values())
    stated = unsettled_loads(demands)
    closed = closed_streams(
        {one.name: one for one in there},
        traffic.closed,
        demands,
        stated,
        expressions,
        never_full(network, expressions),
    )
    traffic = without_own_waits(traffic, closed)
    settled = settled_loads(stated, demands, expressions, targets, closed)
    put_in = settled.put_in
    prices, unpriced = priced(model, configuration, expressions)
    network = with_disciplines(network, demands, {}, expressions.mixtures)
    stations = stations_of(demands, settled.resources, put_in, expressions)
    gate = gate_of(network, traffic, stations, settled.closed, expressions)
    known = with_known(settled, stations, demands, expressions, gate)
    resources, elastic, closed = known.resources, known.elastic, known.closed
    queues, rates = known.queues, known.rates
    traffic = with_resting(traffic, elastic)
    for one in elastic:
        expressions.settle(one.parameter.name, one.value, one.known)
    if elastic or closed.values:
        traffic = traffic.of_each(lambda one: one.changed(put_in))
    of_users = users_pools(
        closed.streams,
        demands=demands,
        classes=traffic.classes,
        resources=resources,
        put_in=put_in,
        gate=gate,
    )
    roomy = unfilled_pools(
        closed.unfilled,
        demands=demands,
        classes=of_users.classes,
        queues=queues | of_users.queues,
        resources=resources,
        rates=rates,
        put_in=put_in,
        gate=gate,
    )
    traffic = replace(traffic, classes=roomy.classes)
    held_by_users, numbers = of_users.resources | roomy.resources, Numbers(expressions)
    pools = settled_pools(
        {n: one for n, one in demands.items() if n not in held_by_users},
        traffic.classes,
        resources,
        queues | of_users.queues,
        put_in,
        numbers,
    )
    queues, gate = pools.queues, gate.beside(far_apart(pools.queues, network, numbers))
    points = OperatingPoints(pools.resources | held_by_users, numbers if by_points else None)
    resources = with_load_errors(points, gate)
    measured = Measures(resources=resources, streams={}, prices=prices, absent=absent, gate=gate)
    for stream in there:
        if stream.emission.think is None:
            alone = traffic.classes[stream.name]
            told = stream_measures(stream, alone, measured, expressions, queues)
        else:
            each = [
                (closed.streams[one.name], one)
                for one in traffic.closed
                if one.stream == stream.name
            ]
            told = put_together(
                stream.name,
                [
                    (of, stream_measures(stream, one, measured, expressions, queues, of))
                    for of, one in each
                ],
                rates[stream.name],
                gate.of(stream.name),
            )
        measured.streams[stream.name] = points.put_on(told)
    in_series = replace(measured, series=in_series_anywhere(measured.streams))
    judged = judged_by(model, requirements, expressions, measured, in_series, queues)
    return LoadGraph(
        population=users,
        low=configuration.low,
        high=configuration.high,
        assumptions=expressions.assumptions,
        resources=resources,
        streams=measured.streams,
        measures={
            m.name: _named(m, expressions, measured, in_series)
            for m in model.measures
            if absent.isdisjoint(subjects(m.value))
        },
        absent=absent,
        criteria=judged.criteria,
        metric=model.quality.metric,
        quality=judged.quality,
        quality_value=judged.quality_value,
        elastic=elastic,
        prices=prices,
        unpriced=unpriced,
        mode=configuration.mode,
        calibrations=_settled_rates(builder, traffic, expressions, put_in),
        decided=frozenset(expressions.decided),
        asked=frozenset(expressions.asked),
        case=configuration.case,
        varied=case_tables(model, configuration),
        groups={
            group.name: GroupSize(
                expressions.members(group.name),
                expressions.groups(group.name),
                group.doc,
            )
            for group in model.groups
        },
        targets=targets.stated,
        quality_known=judged.quality_known,
        quality_in_series=judged.quality_in_series,
        quality_unsaid=measured.unsaid(model.quality.formula) if model.quality.formula else (),
        weighed=expressions.weighed,
        looked_at=frozenset(expressions.looked_at),
        supposed=expressions.supposed or {},
        cited=(*expressions.cited.values(), *_cited_places(configuration)),
        switches=expressions.switches or {},
        network=with_disciplines(network, demands, queues, expressions.mixtures),
        rooms=pools.rooms | of_users.rooms | roomy.rooms,
        closed=with_stations_known(closed.streams, queues),
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


def _named(
    measure: ir.Measure,
    expressions: ExpressionLowering,
    measured: Measures,
    in_series: Measures,
) -> NamedMeasure:
    """Return a measure of the spec's own."""
    known, known_in_series = both_known(measure.value, expressions, measured, in_series)
    value, stated = lowered_quantity(measure.value, expressions, measured.of), measure.value
    expressions.cite(measure.name, stated.text, stated.span, measure.source, value)
    return NamedMeasure(
        name=measure.name,
        value=value,
        dimension=measure.value.dimension,
        doc=measure.doc,
        rests_on=subjects(measure.value),
        known=known,
        known_in_series=known_in_series,
        waits_of=waits_of(measure.value.expr),
    )


def _settled_rates(
    builder: NetworkBuilder,
    traffic: Traffic,
    expressions: ExpressionLowering,
    put_in: Substitution,
) -> tuple[Calibration, ...]:
    """Return the calibrations, with what elastic parameters settle at in the rates."""
    mean = expressions.averaged if expressions.mixtures else _as_it_is
    return tuple(
        replace(
            found,
            rates={i: put_in(mean(rate)) for i, rate in traffic.counted.get(of, {}).items()},
        )
        for of, found in builder.calibrations.items()
    )


def _as_it_is(expr: Formula) -> Formula:
    return expr
