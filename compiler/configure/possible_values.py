"""Values that cannot be: negative costs, shares above one, capacities of nothing.

All hardware is looked at, and what streams, requirements and claims state: in the configuration
at hand, with its parameters put in; what depends on the population, at both ends of the range
and at some points between them.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.cases import report_unstated
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import (
    CircleError,
    Folder,
    NoValueError,
    TooLargeError,
    UnstatedCaseError,
)
from qps.compiler.configure.intervals import Bound
from qps.compiler.configure.near import NEAR
from qps.compiler.configure.values_in_use import (
    Bounded,
    chosen_from,
    counts_in_place,
    flows_in_groups,
    is_alike,
    points_of,
    stated_values,
    values_in_use,
    varies,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import DIMENSIONLESS

_HUNDRED = 100


class Bounds(Struct, dict=True):
    """Looks at the values of one model in one configuration after the other.

    What is the same in all of them is looked at again only with another range of the population.
    """

    model: ir.Model
    _sound: set[tuple[int, int, int]] = field(default_factory=set)

    @cached_property
    def _stated(self) -> list[tuple[Bounded, bool, bool]]:
        return [
            (bounded, varies(bounded.expr), is_alike(bounded.expr))
            for bounded in stated_values(self.model)
        ]

    def check(self, configuration: Configuration, sink: Sink) -> None:
        """Report every value in use that is out of bounds or cannot be computed."""
        check = _Check(self.model, configuration, sink)
        if not check.parameters():
            return  # where the parameters are wrong, nothing rests on them
        for number, (bounded, is_varying, is_same) in enumerate(self._stated):
            known = number, configuration.low, configuration.high
            if known in self._sound:
                continue
            if check.value(bounded, is_varying=is_varying) and is_same:
                self._sound.add(known)
        for bounded in counts_in_place(configuration):
            check.value(bounded, is_varying=varies(bounded.expr))
        for name, flows, group in flows_in_groups(self.model, configuration):
            check.too_many(name, flows, group)
        for stream in self.model.streams:
            check.chosen_flows(stream)


def check_cases(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every case that what is in use asks for of a parameter which does not state it."""
    folder = Folder(configuration, Fraction(configuration.low))
    for bounded in values_in_use(model, configuration):
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

    def parameters(self) -> bool:
        """Return whether all parameters are sound; what is wrong is reported."""
        sound = [self._parameter(parameter) for parameter in self._model.parameters]
        return all(sound)

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
                self._folded(Bounded(expr=expr, span=span, what=what, bound=Bound.ANY), folder)
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

    def value(self, bounded: Bounded, *, is_varying: bool) -> bool:
        """Return whether a value is what it may be; what is wrong is reported."""
        is_sound = True
        populations = self._folders if is_varying else self._folders[:1]
        for folder in (one for at in populations for _, one in at.each_kind(bounded.expr)):
            try:
                value = self._folded(bounded, folder)
            except UnstatedCaseError as error:
                report_unstated(error.unstated, self._model, self._sink)
                return False
            if value is None:
                is_sound = False
                if not self._is_nearly(bounded, folder):
                    return False
            elif not bounded.bound.allows(value):
                self._out_of_bounds(bounded, folder, value)
                return False
        return is_sound

    def _is_nearly(self, bounded: Bounded, folder: Folder) -> bool:
        """Return whether a value that is not rational is in bounds, as far as that can be told."""
        near = None if bounded.bound is Bound.ANY else folder.nearly(bounded.expr)
        if near is None or bounded.bound.nearly_allows(near, NEAR):
            return True
        self._out_of_bounds(bounded, folder, near)
        return False

    def chosen_flows(self, stream: ir.Stream) -> None:
        """Report more flows than users in all, where each receiver gets a few."""
        each = stream.flows_from
        if isinstance(each, ir.InEachGroup):
            return
        for spread in chosen_from(stream):
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

    def too_many(self, stream: str, flows: ir.Quantity, group: ir.Group) -> None:
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

    def _folded(self, bounded: Bounded, folder: Folder) -> Fraction | None:
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
            if bounded.bound is Bound.ANY and varies(bounded.expr):
                return None  # a measure may have a pole: it has no value there
            self._sink.report(
                codes.NUMBER_SIZE,
                bounded.span,
                f"{bounded.what} {reason}{self._at(bounded, folder)}",
                secondary=self._causes(bounded),
                hint="narrow the range of the population, or keep it in bounds with `max(…)`"
                if varies(bounded.expr)
                else "correct the numbers that it rests on",
            )
        return None

    def _at(self, bounded: Bounded, folder: Folder) -> str:
        """Return for how many users, where that matters."""
        name = self._model.population.name
        return f" at {name} = {folder.population}" if varies(bounded.expr) else ""

    def _causes(self, bounded: Bounded) -> list[Label]:
        """Return where the parameters stand that a value rests on."""
        found = sorted(
            {part.name for part in parts_of(bounded.expr) if isinstance(part, ir.ParameterValue)}
        )
        spans = self._configuration.values_from
        return [Label(spans[name], f"`{name}` is this") for name in found]

    def _out_of_bounds(self, bounded: Bounded, folder: Folder, value: Fraction) -> None:
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


def _hint(bounded: Bounded, value: Fraction) -> str:
    if bounded.bound is Bound.COUNT and value > 0:
        return "give a whole number, or round it where it is used: `ceil(…)`"
    if varies(bounded.expr):
        return "narrow the range of the population, or keep it in bounds with `max` or `min`"
    if bounded.bound is Bound.EFFICIENCY:
        return "it is the share that each doubling of the cores keeps: `efficiency 95 %`"
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
