"""Values that cannot be: negative costs, shares above one, capacities of nothing.

All hardware is looked at, and what streams, requirements and claims state: in the configuration
at hand, with its parameters put in; what depends on the population, at both ends of the range
and at some points between them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from qps.compiler import codes, ir
from qps.compiler.cases import report_unstated
from qps.compiler.configuration import VARYING, Configuration
from qps.compiler.diagnostics import Label, Sink
from qps.compiler.dimension import DIMENSIONLESS, Dimension
from qps.compiler.fold import (
    CircleError,
    Folder,
    NoValueError,
    TooLargeError,
    UnstatedCaseError,
)
from qps.compiler.source import Span
from qps.compiler.values import parts_of

_HUNDRED = 100
_STEPS = 8


class Bound(Enum):
    """What a value may be; the text completes `… must be`."""

    ANY = "a number"
    POSITIVE = "above zero"
    NOT_NEGATIVE = "zero or more"
    SHARE = "a share between 0 and 100 %"
    PART = "a share below 100 %"
    LOAD = "a share: 100 % is saturation"
    FULL = "a share of at most 100 %: beyond that it is saturated"
    TARGET = "a share above 0, at most 100 %"
    COUNT = "a whole number above zero"
    RANK = "a whole number from 1"
    WHOLE = "whole and above zero"

    def allows(self, value: Fraction) -> bool:
        """Return whether a value is in bounds."""
        least, most, is_least_out, is_most_out = LIMITS[self]
        if least is not None and (value < least or (is_least_out and value == least)):
            return False
        if most is not None and (value > most or (is_most_out and value == most)):
            return False
        return self not in WHOLE or value.denominator == 1


LIMITS: dict[Bound, tuple[int | None, int | None, bool, bool]] = {
    Bound.ANY: (None, None, False, False),
    Bound.POSITIVE: (0, None, True, False),
    Bound.NOT_NEGATIVE: (0, None, False, False),
    Bound.SHARE: (0, 1, False, False),
    Bound.PART: (0, 1, False, True),
    Bound.FULL: (0, 1, False, False),
    Bound.TARGET: (0, 1, True, False),
    Bound.LOAD: (0, 10, False, False),
    Bound.COUNT: (0, None, True, False),
    Bound.RANK: (0, None, True, False),
    Bound.WHOLE: (0, None, True, False),
}
"""The least and the most that is in bounds, None for no end; and whether each is out itself."""

WHOLE = (Bound.COUNT, Bound.RANK, Bound.WHOLE)
"""The bounds of what is counted."""


@dataclass(frozen=True, slots=True)
class _Bounded:
    """An expression with what it is called, what it may be, and its dimension."""

    expr: ir.Expr
    span: Span
    what: str
    bound: Bound
    dimension: Dimension = DIMENSIONLESS


def check_bounds(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every value in use that is out of bounds or cannot be computed."""
    _Check(model, configuration, sink).run()


def check_cases(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every case that what is in use asks for of a parameter which does not state it."""
    folder = Folder(configuration, Fraction(configuration.low))
    for bounded in _in_use(model, configuration):
        try:
            folder.fold(bounded.expr)
        except UnstatedCaseError as error:
            report_unstated(error.unstated, model, sink)
        except (CircleError, TooLargeError, NoValueError):
            continue  # that is reported where values are looked at


class _Check:
    """Looks at every value of one configuration, at several populations."""

    def __init__(self, model: ir.Model, configuration: Configuration, sink: Sink) -> None:
        self._model = model
        self._configuration = configuration
        self._sink = sink
        self._folders = [Folder(configuration, Fraction(at)) for at in points_of(configuration)]

    def run(self) -> None:
        """Report what is wrong; where the parameters are, nothing rests on them."""
        sound = [self._parameter(parameter) for parameter in self._model.parameters]
        if all(sound):
            for bounded in _in_use(self._model, self._configuration):
                self._value(bounded)
            for name, flows, group in flows_in_groups(self._model, self._configuration):
                self._too_many(name, flows, group)
            for stream in self._model.streams:
                self._chosen_flows(stream)

    def _parameter(self, parameter: ir.Parameter) -> bool:
        """Return whether a parameter has a value, in its range, in every case that it states."""
        span = self._configuration.values_from[parameter.name]
        value = self._configuration.parameters[parameter.name]
        if isinstance(value, ir.Mixture):
            return True  # as its kinds are, so is it
        if not isinstance(value, ir.ByCase):
            return self._is_sound(parameter, self._folders[0], span)
        return all(
            self._is_sound(parameter, self._folders[0].in_case(stated.case), stated.span)
            for stated in value.values
        )

    def _is_sound(self, parameter: ir.Parameter, folder: Folder, span: Span) -> bool:
        """Return whether a parameter has a value, in its range; else it is reported."""
        what = f"`{parameter.name}`"
        try:
            values = [
                self._folded(_Bounded(expr, span, what, Bound.ANY), folder)
                for expr in (ir.ParameterValue(parameter.name), parameter.low, parameter.high)
                if expr is not None
            ]
        except UnstatedCaseError:
            return True  # who asks for that case is told so
        if None in values:
            return not self._sink.has_errors
        value, *limits = (v for v in values if v is not None)
        if not limits or limits[0] > limits[1] or limits[0] <= value <= limits[1]:
            # A range that is turned round was reported where it stands.
            return True
        where = "below" if value < limits[0] else "above"
        self._sink.report(
            codes.OUT_OF_RANGE,
            span,
            f"`{parameter.name}` is {where} its range",
            secondary=[]
            if span.source is parameter.span.source
            else [Label(parameter.span, "its range is stated here")],
            hint="stay inside the range, or widen it where it is declared",
        )
        return False

    def _value(self, bounded: _Bounded) -> None:
        populations = self._folders if _varies(bounded.expr) else self._folders[:1]
        for folder in (one for at in populations for _, one in at.each_kind(bounded.expr)):
            try:
                value = self._folded(bounded, folder)
            except UnstatedCaseError as error:
                report_unstated(error.unstated, self._model, self._sink)
                return
            if value is not None and not bounded.bound.allows(value):
                self._out_of_bounds(bounded, folder, value)
                return

    def _chosen_flows(self, stream: ir.Stream) -> None:
        """Report more flows than users in all, where each receiver gets a few."""
        each = stream.flows_from
        if isinstance(each, ir.InEachGroup):
            return
        for spread in _chosen_from(stream):
            for folder in self._folders:
                flows = folder.fold(ir.NodeCount(each))
                if flows is not None and flows > folder.population:
                    self._sink.report(
                        codes.OUT_OF_RANGE,
                        spread.span,
                        f"`{stream.name}` has {_shown(flows)} flows of "
                        f"{_shown(folder.population)} users: whose others a receiver gets cannot "
                        "be told",
                        hint="make a stream for each kind of flow, with one flow for each user",
                    )
                    return

    def _too_many(self, stream: str, flows: ir.Quantity, group: ir.Group) -> None:
        """Report more flows in a group than it has users."""
        both = ir.Sum((flows.expr, group.size.expr))
        for folder in (one for at in self._folders for _, one in at.each_kind(both)):
            count, size = folder.fold(flows.expr), folder.fold(group.size.expr)
            if count is None or size is None or count <= size:
                continue
            self._sink.report(
                codes.OUT_OF_RANGE,
                flows.span,
                f"`{stream}` has {_shown(count)} flows in each `{group.name}`, which has "
                f"{_shown(size)} users",
                secondary=[Label(group.span, f"`{group.name}` is declared here")],
                hint="at most all users of a group send: "
                f"`stream {stream} for members({group.name}) in each {group.name}`",
            )
            return

    def _folded(self, bounded: _Bounded, folder: Folder) -> Fraction | None:
        """Return a value at a population; what cannot be computed is reported."""
        try:
            return folder.fold(bounded.expr)
        except CircleError as circle:
            self._sink.report(
                codes.DEFINITION_CYCLE,
                self._configuration.values_from[circle.name],
                f"`{circle.name}` is set to something that depends on `{circle.name}`",
                hint="set it to a value of its own",
            )
        except TooLargeError:
            self._sink.report(
                codes.NUMBER_SIZE,
                bounded.span,
                f"{bounded.what} is beyond what QPS computes with{self._at(bounded, folder)}",
                hint="use smaller exponents, or a smaller range of the population",
            )
        except NoValueError as reason:
            if bounded.bound is Bound.ANY and _varies(bounded.expr):
                return None  # a measure may have a pole: it has no value there
            self._sink.report(
                codes.NUMBER_SIZE,
                bounded.span,
                f"{bounded.what} {reason}{self._at(bounded, folder)}",
                secondary=self._causes(bounded),
                hint="narrow the range of the population, or keep it in bounds with `max(…)`"
                if _varies(bounded.expr)
                else "correct the numbers that it rests on",
            )
        return None

    def _at(self, bounded: _Bounded, folder: Folder) -> str:
        """Return for how many users, where that matters."""
        name = self._model.population.name
        return f" at {name} = {folder.population}" if _varies(bounded.expr) else ""

    def _causes(self, bounded: _Bounded) -> list[Label]:
        """Return where the parameters stand that a value rests on."""
        found = sorted(
            {part.name for part in parts_of(bounded.expr) if isinstance(part, ir.ParameterValue)}
        )
        spans = self._configuration.values_from
        return [Label(spans[name], f"`{name}` is this") for name in found]

    def _out_of_bounds(self, bounded: _Bounded, folder: Folder, value: Fraction) -> None:
        unit = "" if bounded.dimension == DIMENSIONLESS else f" {bounded.dimension}"
        kinds = "".join(f" for `{of}.{kind}`" for of, kind in folder.kinds.items())
        self._sink.report(
            codes.OUT_OF_RANGE,
            bounded.span,
            f"{bounded.what} must be {bounded.bound.value}",
            label=f"this is {_shown(value)}{unit}{kinds}{self._at(bounded, folder)}",
            secondary=self._causes(bounded),
            hint=_hint(bounded, value),
        )


def _shown(value: Fraction) -> str:
    try:
        return f"{float(value):g}"
    except OverflowError:
        return "beyond all numbers"


def _hint(bounded: _Bounded, value: Fraction) -> str:
    if bounded.bound is Bound.COUNT and value > 0:
        return "give a whole number, or round it where it is used: `ceil(…)`"
    if _varies(bounded.expr):
        return "narrow the range of the population, or keep it in bounds with `max` or `min`"
    if bounded.bound in (Bound.SHARE, Bound.PART, Bound.LOAD, Bound.FULL, Bound.TARGET):
        is_plain = 1 <= value <= _HUNDRED and "%" not in bounded.span.text
        shown = _shown(value)
        example = "75 %" if bounded.bound is Bound.FULL else "5 %"
        return f"write `{shown} %` if hundredths are meant" if is_plain else f"such as `{example}`"
    if bounded.bound is Bound.RANK:
        return "1 is served first, 2 after it: write `priority 1`"
    if bounded.bound is Bound.WHOLE:
        return "give it a whole number of cores, or write `mm1`"
    if bounded.bound is Bound.NOT_NEGATIVE:
        return "give it a value of zero or more"
    return "give it a value above zero, or leave the thing out"


def _varies(expr: ir.Expr) -> bool:
    return any(isinstance(part, VARYING) for part in parts_of(expr))


# -- what is in use ----------------------------------------------------------------------


def values_in_use(
    model: ir.Model, configuration: Configuration
) -> Iterator[tuple[ir.Expr, str, Bound]]:
    """Yield every value that is looked at: what it is, how it is called, what it may be."""
    for bounded in _in_use(model, configuration):
        yield bounded.expr, bounded.what, bounded.bound


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
            if not _varies(group.size.expr):
                yield stream.name, each.flows, group


def _in_use(model: ir.Model, configuration: Configuration) -> Iterator[_Bounded]:
    for parameter in model.parameters:
        if parameter.is_elastic and parameter.low is not None:
            what = f"the least of `{parameter.name}`"
            yield _Bounded(
                parameter.low, parameter.span, what, Bound.NOT_NEGATIVE, parameter.dimension
            )
        yield from _of(parameter.priority, f"the priority of `{parameter.name}`", Bound.RANK)
    for group in model.groups:
        yield _Bounded(group.size.expr, group.size.span, f"the size of `{group.name}`", Bound.COUNT)
    for stream in model.streams:
        yield from _stream(stream)
    for node in configuration.nodes.values():
        yield _count(node)
    for link in configuration.links.values():
        yield _count(link)
    for machine in model.machines.values():
        yield from _machine(machine)
    for network in model.networks.values():
        yield from _network(network)
    for measure in model.measures:
        yield from _of(measure.value, f"`{measure.name}`", Bound.ANY)
    for requirement in model.requirements:
        yield from _requirement(requirement)
    for mode in model.modes:
        for requirement in mode.requirements:
            yield from _requirement(requirement)
    for target in model.targets:
        yield from _of(target.value, f"the target of `{target.name}`", Bound.TARGET)
    yield from _of(model.quality.formula, "the quality", Bound.ANY)
    for expectation in model.expectations:
        for claim in expectation.claims:
            yield from _claim(claim)


def _chosen_from(stream: ir.Stream) -> Iterator[ir.Spread]:
    """Yield where each receiver gets a few of the flows of its group."""
    for leg in stream.legs:
        for step in leg.steps if isinstance(leg, ir.Visit) else ():
            if step.spread is not None and step.spread.most is not None:
                yield step.spread


def _count(place: ir.Node | ir.Link) -> _Bounded:
    """Return how many there are of a place: whole, unless they grow with the population."""
    bound = Bound.POSITIVE if _varies(place.count) else Bound.COUNT
    return _Bounded(place.count, place.span, f"the count of `{place.name}`", bound)


def _of(quantity: ir.Quantity | None, what: str, bound: Bound) -> Iterator[_Bounded]:
    if quantity is not None:
        yield _Bounded(quantity.expr, quantity.span, what, bound, quantity.dimension)


def _machine(machine: ir.Machine) -> Iterator[_Bounded]:
    for resource in machine.resources:
        yield from _of(resource.capacity, "a capacity", Bound.POSITIVE)
        yield from _queueing(resource.queueing)
        if resource.queueing and resource.queueing.discipline is ir.Discipline.MMC:
            yield from _of(resource.capacity, "the number of cores of `mmc`", Bound.WHOLE)
        yield from _of(resource.speed, "a speed", Bound.POSITIVE)
        yield from _of(resource.idle, "an idle load", Bound.PART)
        yield from _of(resource.jitter, "a jitter", Bound.NOT_NEGATIVE)
    for _, rating in machine.ratings:
        yield from _of(rating, "a rating", Bound.POSITIVE)
    yield from _of(machine.price, "a price", Bound.NOT_NEGATIVE)


def _network(network: ir.Network) -> Iterator[_Bounded]:
    yield from _of(network.rate, "a rate", Bound.POSITIVE)
    yield from _of(network.cap, "a cap", Bound.POSITIVE)
    yield from _of(network.header, "a header", Bound.NOT_NEGATIVE)
    yield from _of(network.propagation, "a propagation time", Bound.NOT_NEGATIVE)
    yield from _of(network.loss, "a loss", Bound.PART)
    yield from _of(network.jitter, "a jitter", Bound.NOT_NEGATIVE)
    yield from _queueing(network.queueing)
    yield from _of(network.price, "a price", Bound.NOT_NEGATIVE)


def _queueing(queueing: ir.Queueing | None) -> Iterator[_Bounded]:
    if queueing is not None:
        yield from _of(queueing.variation, "a coefficient of variation", Bound.NOT_NEGATIVE)


_EFFECT_BOUNDS = {
    ir.EffectKind.KEEP: Bound.SHARE,
    ir.EffectKind.ACTIVE: Bound.SHARE,
    ir.EffectKind.EMIT: Bound.POSITIVE,
    ir.EffectKind.DELAY: Bound.NOT_NEGATIVE,
    ir.EffectKind.DROP: Bound.SHARE,
    ir.EffectKind.QUEUE: Bound.NOT_NEGATIVE,
    ir.EffectKind.RECOVER: Bound.SHARE,
}


def _stream(stream: ir.Stream) -> Iterator[_Bounded]:
    for index, value in enumerate(stream.emission.values):
        yield from _of(value, "a size" if index else "a rate", Bound.POSITIVE)
    if stream.playout is not None:
        yield from _of(stream.playout.delay, "a playout delay", Bound.NOT_NEGATIVE)
        yield from _of(stream.playout.dropping, "the share that is dropped", Bound.SHARE)
    if isinstance(stream.flows_from, ir.InEachGroup):
        what = f"the flows of `{stream.name}` in each `{stream.flows_from.group}`"
        yield from _of(stream.flows_from.flows, what, Bound.NOT_NEGATIVE)
    for leg in stream.legs:
        if isinstance(leg, ir.Crossing):
            continue
        for step in leg.steps:
            if step.spread is not None:
                yield from _of(step.spread.most, "how many at most", Bound.COUNT)
            if step.repeat is not None:
                yield _Bounded(step.repeat, step.span, "a repetition", Bound.NOT_NEGATIVE)
            for cost in step.component.costs:
                for term in cost.terms:
                    yield from _of(term.amount, "a cost", Bound.NOT_NEGATIVE)
            for effect in step.component.effects:
                if effect.value is not None:
                    yield from _of(effect.value, f"`{effect.kind.value}`", _effect_bound(effect))


def _effect_bound(effect: ir.Effect) -> Bound:
    """Return what an effect may be: nothing may be left of the bits, but an item has a size."""
    is_share = effect.value is not None and effect.value.dimension == DIMENSIONLESS
    if effect.kind is ir.EffectKind.EMIT and is_share:
        return Bound.NOT_NEGATIVE
    return _EFFECT_BOUNDS[effect.kind]


_LIMITS = {
    ir.MeasureKind.LOSS: Bound.SHARE,
    ir.MeasureKind.SHARE: Bound.SHARE,
    ir.MeasureKind.LOAD: Bound.LOAD,
    ir.MeasureKind.LATENCY: Bound.NOT_NEGATIVE,
    ir.MeasureKind.QUANTILE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.JITTER: Bound.NOT_NEGATIVE,
    ir.MeasureKind.BUFFER: Bound.NOT_NEGATIVE,
    ir.MeasureKind.QUEUE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.VOLUNTARY_LOSS: Bound.SHARE,
    ir.MeasureKind.SATURATION_LOSS: Bound.SHARE,
    ir.MeasureKind.TRANSMISSION_LOSS: Bound.SHARE,
    ir.MeasureKind.RATE: Bound.NOT_NEGATIVE,
    ir.MeasureKind.THROUGHPUT: Bound.NOT_NEGATIVE,
}


def _claim(claim: ir.Claim) -> Iterator[_Bounded]:
    """Yield what is claimed of a share; a load may be claimed to be beyond saturation."""
    asked = claim.value.expr if isinstance(claim.value, ir.Quantity) else None
    if isinstance(asked, ir.Measured) and asked.kind is not ir.MeasureKind.LOAD:
        bound = _LIMITS.get(asked.kind, Bound.ANY)
        yield from _of(claim.claimed, "what is claimed", bound)


def _requirement(requirement: ir.Requirement) -> Iterator[_Bounded]:
    """Yield the sides of a requirement: nothing promises a loss of at most 600 %.

    No resource carries a load above 1: what may be beyond that is a floor, never a limit.
    """
    asked = requirement.measure.expr
    bound = _LIMITS.get(asked.kind, Bound.ANY) if isinstance(asked, ir.Measured) else Bound.ANY
    if bound is Bound.LOAD and requirement.at_most:
        bound = Bound.FULL
    yield from _of(requirement.measure, f"`{requirement.name}`", Bound.ANY)
    yield from _of(requirement.limit, f"the limit of `{requirement.name}`", bound)
    yield from _of(requirement.ideal, f"the ideal of `{requirement.name}`", bound)
