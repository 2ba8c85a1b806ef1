"""What values a model states: what each is called, and what it may be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.bounded_value import Bounded, bounded, varies
from qps.compiler.configure.conditional_paths import path_test, visited
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.incident_values import values_of_incidents
from qps.compiler.configure.receivers import rooms_for
from qps.compiler.configure.stream_values import values_of_stream
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.allowed_values import Bound

_STEPS = 8
_ALIKE = (ir.Constant, ir.Population, ir.Sum, ir.Product, ir.Power, ir.Apply)
"""What comes to the same in every configuration, where its operands do."""


def values_in_use(model: ir.Model, configuration: Configuration) -> Iterator[Bounded]:
    """Yield every value that is looked at in a configuration."""
    yield from users_of_instances(model)
    yield from stated_values(model)
    yield from counts_in_place(model, configuration)
    test = path_test(configuration)
    for stream in model.streams:
        yield from rooms_for(stream, configuration, test)


def counts_in_place(model: ir.Model, configuration: Configuration) -> Iterator[Bounded]:
    """Yield how many there are of each place."""
    reached = visited(model, path_test(configuration))
    for node in configuration.nodes.values():
        yield count_of(node, reached)
        yield from cores_in_place(node, model)
    for link in configuration.links.values():
        yield count_of(link, reached)


def cores_in_place(node: ir.Node, model: ir.Model) -> Iterator[Bounded]:
    """Yield how many cores there are where these wait as the spec says, not the machine."""
    machine = ir.machine_at(model, node) if model.waits else None
    for resource in machine.resources if machine is not None else ():
        if resource.kind is ir.ResourceKind.PROCESSOR:
            yield from _of_whole_cores(resource)


def _of_whole_cores(resource: ir.Resource) -> Iterator[Bounded]:
    if resource.queueing and resource.queueing.host_cores is not None:
        per_host = ir.Power(resource.queueing.host_cores.expr, ir.Constant(Fraction(-1)))
        yield Bounded(
            expr=ir.Product((resource.capacity.expr, per_host)),
            span=resource.capacity.span,
            what=f"the limit of `{resource.name}`, as a part of the cores of its host,",
            bound=Bound.TARGET,
            hint="raise the number behind `on`, or write `mmc`: this limit is never reached",
        )
    if resource.queueing and resource.queueing.counts_servers:
        what = f"the number of cores of `{resource.queueing.discipline.value}`"
        yield from bounded(resource.capacity, what, Bound.WHOLE)


def points_of(configuration: Configuration) -> tuple[int, ...]:
    """Return the populations at which values are looked at: both ends, and some between them."""
    low, high = configuration.low, configuration.high
    points = [low + (high - low) * step // _STEPS for step in range(_STEPS + 1)]
    return tuple(dict.fromkeys(points))


def flows_in_groups(
    model: ir.Model, configuration: Configuration
) -> Iterator[tuple[str, ir.Quantity, ir.Group]]:
    """Yield the flows of streams in each group that may not be more than the users of the group.

    A group that grows with the population is small where that is: there, all of its users send.
    """
    for stream in model.streams:
        each = stream.flows_from
        if isinstance(each, ir.InEachGroup):
            group = configuration.groups[each.group]
            if not varies(group.size.expr):
                yield stream.name, each.flows, group


def users_of_instances(model: ir.Model) -> Iterator[Bounded]:
    """Yield how many users instances have: a whole number, unless it grows with the population."""
    for instance in model.instances:
        if instance.users is not None:
            bound = Bound.POSITIVE if varies(instance.users.expr) else Bound.COUNT
            yield from bounded(instance.users, f"the population of `{instance.name}`", bound)


def stated_values(model: ir.Model) -> Iterator[Bounded]:
    """Yield the values that a model states, whatever its configuration."""
    for parameter in model.parameters:
        if parameter.is_elastic and parameter.low is not None:
            what = f"the least value of `{parameter.name}`"
            yield Bounded(
                expr=parameter.low,
                span=parameter.span,
                what=what,
                bound=Bound.NOT_NEGATIVE,
                dimension=parameter.dimension,
            )
            ends = parameter.low, parameter.high
            assert parameter.high is not None
            if not all(isinstance(end, ir.Constant) for end in ends):  # else checked as a range
                yield Bounded(
                    expr=_difference(parameter.high, parameter.low),
                    span=parameter.span,
                    what="the difference between the largest and the least value of "
                    f"`{parameter.name}`",
                    bound=Bound.NOT_NEGATIVE,
                    dimension=parameter.dimension,
                )
        yield from bounded(parameter.priority, f"the priority of `{parameter.name}`", Bound.RANK)
    for group in model.groups:
        yield Bounded(
            expr=group.size.expr,
            span=group.size.span,
            what=f"the size of `{group.name}`",
            bound=Bound.COUNT,
        )
    for stream in model.streams:
        yield from values_of_stream(stream)
    for machine in model.machines.values():
        yield from _machine(machine)
    for network in model.networks.values():
        yield from _network(network)
    yield from values_of_incidents(model)
    for measure in model.measures:
        yield from bounded(measure.value, f"`{measure.name}`", Bound.ANY)
    for requirement in model.requirements:
        yield from _requirement(requirement)
    for mode in model.modes:
        for requirement in mode.requirements:
            yield from _requirement(requirement)
    for target in model.targets:
        yield from bounded(target.value, f"the target of `{target.full_name}`", Bound.TARGET)
    for wait in model.waits:
        yield from _queueing(wait.queueing)
    yield from bounded(model.quality.formula, "the quality", Bound.ANY)
    for expectation in model.expectations:
        for claim in expectation.claims:
            yield from _claim(claim)


def is_alike(expr: ir.Expr) -> bool:
    """Return whether a value is sure to be the same in every configuration."""
    return all(isinstance(part, _ALIKE) for part in parts_of(expr))


def chosen_from(stream: ir.Stream) -> Iterator[ir.Spread]:
    """Yield where each receiver gets a few of the flows of its group."""
    for leg in stream.legs:
        for step in leg.steps if isinstance(leg, ir.Visit) else ():
            if step.spread is not None and step.spread.most is not None:
                yield step.spread


def count_of(place: ir.Node | ir.Link, reached: Mapping[str, Label]) -> Bounded:
    """Return how many there are of a place: whole, unless they grow with the population.

    Of a node that no stream visits, of those that are `reached`, there may be none.
    """
    bound = Bound.POSITIVE if varies(place.count) else Bound.COUNT
    is_passed = not isinstance(place, ir.Node) or place.name in reached
    if not is_passed:
        bound = Bound.NOT_NEGATIVE if varies(place.count) else Bound.NUMBER
    if place.lost is not None:
        return Bounded(
            expr=place.count,
            span=place.lost.span,
            what=f"after this failure, the count of `{place.name}`",
            bound=bound,
            because=Label(place.span, "declared here"),
            hint=f"increase its count, or remove `{place.name}` from `survive`",
        )
    return Bounded(
        expr=place.count,
        span=place.span,
        what=f"the count of `{place.name}`",
        bound=bound,
        because=reached.get(place.name),
    )


_CORES = "use a whole number of cores"
_PLACES = (
    "write the number of places including those in service, such as `room 100`; without it, "
    "the queue is unbounded"
)


def values_of(hardware: ir.Machine | ir.Network) -> Iterator[Bounded]:
    """Yield the values that a machine or a network states."""
    return _machine(hardware) if isinstance(hardware, ir.Machine) else _network(hardware)


def _machine(machine: ir.Machine) -> Iterator[Bounded]:
    for resource in machine.resources:
        yield from bounded(resource.capacity, "a capacity", Bound.POSITIVE)
        yield from _queueing(resource.queueing)
        yield from _of_whole_cores(resource)
        yield from bounded(resource.speed, "a speed", Bound.POSITIVE)
        yield from bounded(resource.efficiency, "an efficiency", Bound.EFFICIENCY)
        yield from bounded(resource.idle, "an idle utilization", Bound.PART)
        yield from bounded(resource.jitter, "a jitter", Bound.NOT_NEGATIVE)
    for _, rating in machine.ratings:
        yield from bounded(rating, "a rating", Bound.POSITIVE)
    yield from bounded(machine.price, "a price", Bound.NOT_NEGATIVE)
    yield from _failures(machine.failures)


def _network(network: ir.Network) -> Iterator[Bounded]:
    yield from bounded(network.rate, "a rate", Bound.POSITIVE)
    yield from bounded(network.cap, "a cap", Bound.POSITIVE)
    yield from bounded(network.header, "a header", Bound.NOT_NEGATIVE)
    yield from bounded(network.propagation, "a propagation time", Bound.NOT_NEGATIVE)
    yield from bounded(network.loss, "a loss", Bound.PART)
    yield from bounded(network.jitter, "a jitter", Bound.NOT_NEGATIVE)
    yield from _queueing(network.queueing)
    yield from bounded(network.price, "a price", Bound.NOT_NEGATIVE)
    yield from _failures(network.failures)


def _failures(failures: ir.FailureTimes | None) -> Iterator[Bounded]:
    if failures is not None:
        yield from bounded(failures.every, "a time until a failure", Bound.POSITIVE)
        yield from bounded(failures.repair, "a time of repair", Bound.NOT_NEGATIVE)


def _queueing(queueing: ir.Queueing | None) -> Iterator[Bounded]:
    if queueing is not None:
        yield from bounded(queueing.variation, "a coefficient of variation", Bound.NOT_NEGATIVE)
        yield from bounded(queueing.room, "a queue capacity (`room`)", Bound.WHOLE, _PLACES)
        yield from bounded(queueing.period, "the period of a quota", Bound.POSITIVE)
        yield from bounded(
            queueing.host_cores, "the number of cores of a host", Bound.WHOLE, _CORES
        )
        for speed in queueing.speeds:
            yield from bounded(speed, "a speed", Bound.POSITIVE)


_LIMITS = {
    ir.MeasureKind.LOSS: Bound.SHARE,
    ir.MeasureKind.SHARE: Bound.SHARE,
    ir.MeasureKind.LOAD: Bound.LOAD,
    ir.MeasureKind.LATENCY: Bound.NOT_NEGATIVE,
    ir.MeasureKind.QUANTILE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.JITTER: Bound.NOT_NEGATIVE,
    ir.MeasureKind.BUFFER: Bound.NOT_NEGATIVE,
    ir.MeasureKind.MAX_WAIT: Bound.NOT_NEGATIVE,
    ir.MeasureKind.WAIT: Bound.NOT_NEGATIVE,
    ir.MeasureKind.WAIT_QUANTILE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.QUEUE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.TIME_SHARE: Bound.SHARE,
    ir.MeasureKind.VOLUNTARY_LOSS: Bound.SHARE,
    ir.MeasureKind.SATURATION_LOSS: Bound.SHARE,
    ir.MeasureKind.TRANSMISSION_LOSS: Bound.SHARE,
    ir.MeasureKind.RATE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.THROUGHPUT: Bound.NOT_NEGATIVE,
}


def _claim(claim: ir.Claim) -> Iterator[Bounded]:
    """Yield what is claimed of a share; a load may be claimed to be beyond saturation."""
    expression = claim.value.expr if isinstance(claim.value, ir.Quantity) else None
    if isinstance(expression, ir.Measured) and expression.kind is not ir.MeasureKind.LOAD:
        bound = _LIMITS.get(expression.kind, Bound.ANY)
        yield from bounded(claim.claimed, "the claimed value", bound)


def _requirement(requirement: ir.Requirement) -> Iterator[Bounded]:
    """Yield the sides of a requirement: nothing promises a loss of at most 600 %.

    No resource carries a load above 1: what may be beyond that is a floor, never a limit.
    """
    expression = requirement.measure.expr
    bound = (
        _LIMITS.get(expression.kind, Bound.ANY)
        if isinstance(expression, ir.Measured)
        else Bound.ANY
    )
    if bound is Bound.LOAD and requirement.at_most:
        bound = Bound.FULL
    yield from bounded(requirement.measure, f"`{requirement.name}`", Bound.ANY)
    yield from bounded(requirement.limit, f"the limit of `{requirement.name}`", bound)
    yield from bounded(requirement.ideal, f"the ideal of `{requirement.name}`", bound)
    if requirement.ideal is not None:
        yield _room(requirement, requirement.ideal)


def _room(requirement: ir.Requirement, ideal: ir.Quantity) -> Bounded:
    """Return by how much the limit of a requirement lies beyond its ideal."""
    sides = requirement.limit.expr, ideal.expr
    beyond, less = sides if requirement.at_most else sides[::-1]
    return Bounded(
        expr=_difference(beyond, less),
        span=ideal.span,
        what=f"the difference between ideal and limit of `{requirement.name}`",
        bound=Bound.NOT_NEGATIVE,
        dimension=ideal.dimension,
    )


def _difference(more: ir.Expr, less: ir.Expr) -> ir.Expr:
    return ir.Sum((more, ir.Product((ir.Constant(Fraction(-1)), less))))
