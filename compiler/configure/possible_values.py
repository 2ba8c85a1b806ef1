"""Values that cannot be: negative costs, shares above one, capacities of nothing.

All hardware is looked at, and what streams, requirements and claims state: in the configuration
at hand, with its parameters put in; what depends on the population, at both ends of the range
and at some points between them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property, partial

from qps.compiler import ir
from qps.compiler.configure.bound_hints import more_flows_than_users, shown
from qps.compiler.configure.bounded_value import Bounded, varies
from qps.compiler.configure.cases import report_unstated
from qps.compiler.configure.conditional_paths import conditions_of, legs_of, path_test, visited
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import (
    CircleError,
    Folder,
    UnstatedCaseError,
    ValueTooLargeError,
)
from qps.compiler.configure.fractional_runs import is_as_stated, may_be_fraction, repeated_steps
from qps.compiler.configure.place_overrides import report_not_there, set_in
from qps.compiler.configure.receivers import names_of_receivers, rooms_for
from qps.compiler.configure.validation_cache import ValidationCache, ValidationStep, names_in
from qps.compiler.configure.value_check import ValueCheck
from qps.compiler.configure.values_in_use import (
    chosen_from,
    cores_in_place,
    count_of,
    stated_values,
    users_of_instances,
    values_in_use,
)
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.source import Span
from qps.compiler.quantities.allowed_values import Bound
from qps.engine.exact_algebra.exact_values import NoValueError

_STORE = ir.ResourceKind.STORE
_REPORTED = (CircleError, NoValueError, ValueTooLargeError, UnstatedCaseError)
"""What keeps a value from being computed is reported where that value is looked at."""


class PossibleValues:
    """Looks at the values of one model in one configuration after the other."""

    def __init__(self, model: ir.Model) -> None:
        self._model = model
        self._parameters = ValidationCache(
            [_of_parameter(parameter) for parameter in model.parameters]
        )
        self._users = ValidationCache([_stated(users) for users in users_of_instances(model)])
        self._others = ValidationCache(list(_others(model)))

    def check(self, configuration: Configuration, moved: frozenset[str], sink: Sink) -> None:
        """Report every value in use that is out of bounds or cannot be computed.

        `moved` are the names that do not mean what they mean in the spec.
        """
        check = _Check(self._model, configuration, sink)
        if not self._parameters.look(check, configuration, moved, sink):
            return  # where the parameters are wrong, nothing rests on them
        if self._users.look(check, configuration, moved, sink):
            self._others.look(check, configuration, moved, sink)


def _of_parameter(parameter: ir.Parameter) -> ValidationStep[_Check]:
    names = names_in(ir.ParameterValue(parameter.name), parameter.low, parameter.high)
    return ValidationStep(names, lambda check: check.parameter(parameter))


def _stated(bounded: Bounded) -> ValidationStep[_Check]:
    return ValidationStep(names_in(bounded.expr), partial(_Check.value, bounded=bounded))


def _others(model: ir.Model) -> Iterator[ValidationStep[_Check]]:
    """Yield all values of a model but those of its parameters, and the users of its instances."""
    yield from map(_stated, stated_values(model))
    places: tuple[ir.Node | ir.Link, ...] = (*model.nodes, *model.links)
    chosen = names_in(*(one for stream in model.streams for one in conditions_of(stream)))
    shares = (one.times for stream in model.streams for one in stream.calls if one.times)
    chosen |= names_in(*(one.expr for one in shares))
    for place in places:
        names = names_in(place.count) | {place.name} | chosen
        yield ValidationStep(names, partial(_Check.count, name=place.name))
    for name in dict.fromkeys(p.place for p in model.parameters if p.place is not None):
        own = {p.name for p in model.parameters if p.place == name}
        yield ValidationStep(frozenset(own) | {name}, partial(_Check.set_in_place, name=name))
    if model.waits:
        machines = model.machines.values()
        named = names_in(*(one.capacity.expr for machine in machines for one in machine.resources))
        for node in model.nodes:
            yield ValidationStep(named | {node.name}, partial(_Check.cores, name=node.name))
    hardware = [one for machine in model.machines.values() for one in machine.resources]
    rooms = names_in(*(one.capacity.expr for one in hardware if one.kind is _STORE))
    for stream in model.streams:
        for mark in stream.pools:
            names = names_in(mark.amount.expr if mark.amount else None, mark.condition) | {
                mark.node
            }
            yield ValidationStep(
                names | chosen | rooms, partial(_Check.excessive_hold, stream=stream, mark=mark)
            )
        for call in stream.calls:
            if call.fan_out is not None and call.fan_out.answers is not None:
                call_names = names_in(call.fan_out.count.expr, call.fan_out.answers.expr)
                part = partial(_Check.answers, stream=stream, call=call, fan_out=call.fan_out)
                yield ValidationStep(call_names | chosen | {call.node}, part)
        visits = [leg for leg in stream.legs if isinstance(leg, ir.Visit)]
        repeats = [step.repeat for leg in visits for step in leg.steps if step.repeat]
        if repeats:
            names = names_in(*repeats) | {leg.node for leg in visits}
            yield ValidationStep(names, partial(_Check.runs, stream=stream))
        sent = names_of_receivers(stream)
        if sent:
            yield ValidationStep(sent | chosen, partial(_Check.receivers, stream=stream))
        each = stream.flows_from
        if isinstance(each, ir.InEachGroup):
            names = names_in(each.flows.expr, ir.Members(each.group))
            yield ValidationStep(names, partial(_Check.too_many, stream=stream.name, each=each))
        elif isinstance(each, str):
            yield ValidationStep(
                frozenset([each]), partial(_Check.chosen_flows, stream=stream, each=each)
            )


def check_cases(model: ir.Model, configuration: Configuration, sink: Sink) -> None:
    """Report every case in use that a parameter does not state."""
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))
    for bounded in values_in_use(model, configuration):
        try:
            folder.fold(bounded.expr)
        except UnstatedCaseError as error:
            report_unstated(error.unstated, model, sink)
        except (CircleError, ValueTooLargeError, NoValueError):
            continue  # that is reported where values are looked at


class _Check(ValueCheck):
    """Looks at every value of one configuration, at several populations."""

    @cached_property
    def _reached(self) -> Mapping[str, Label]:
        return visited(self._model, path_test(self._configuration))

    def parameter(self, parameter: ir.Parameter) -> None:
        """Report a parameter without a value, or out of its range, in a case that it states."""
        span = self._configuration.values_from[parameter.name]
        value = self._configuration.parameters[parameter.name]
        if isinstance(value, ir.ByCase):
            for stated in value.values:
                if not self._sink.has_errors:
                    in_case = self._folders[0].in_case(stated.case)
                    self._in_range(parameter, in_case, stated.span)
        elif not isinstance(value, ir.Mixture):  # as its kinds are, so is it
            self._in_range(parameter, self._folders[0], span)

    def _in_range(self, parameter: ir.Parameter, folder: Folder, span: Span) -> None:
        """Report a parameter without a value, or out of its range."""
        what = f"`{parameter.name}`"
        try:
            values = [
                self._folded(Bounded(expr=expr, span=span, what=what, bound=Bound.ANY), folder)
                for expr in (ir.ParameterValue(parameter.name), parameter.low, parameter.high)
                if expr is not None
            ]
        except UnstatedCaseError:
            return  # the request for that case reports it
        if None in values:
            return
        value, *limits = (v for v in values if v is not None)
        if not limits or limits[0] > limits[1] or limits[0] <= value <= limits[1]:
            # A range that is turned round was reported where it stands.
            return
        where = "below" if value < limits[0] else "above"
        self._sink.report(
            codes.OUT_OF_RANGE,
            span,
            f"`{parameter.name}` is {where} its range",
            secondary=[]
            if span.source is parameter.span.source
            else [Label(parameter.span, "range declared here")],
            hint="stay within the range, or widen it in the declaration",
        )

    def count(self, name: str) -> None:
        """Report a number of places that cannot be."""
        of = self._configuration
        place = of.nodes[name] if name in of.nodes else of.links[name]
        self.value(count_of(place, self._reached))

    def set_in_place(self, name: str) -> None:
        """Report numbers of a place that it does not have, and that cannot be."""
        place = self._configuration.place(name)
        report_not_there(self._model, self._configuration, place, self._sink)
        for bounded in set_in(self._model, self._configuration, place):
            self.value(bounded)

    def cores(self, name: str) -> None:
        """Report cores that are no whole number where these wait in one queue, by the spec."""
        for bounded in cores_in_place(self._configuration.nodes[name], self._model):
            self.value(bounded)

    def chosen_flows(self, stream: ir.Stream, each: str) -> None:
        """Report more flows than users in all, where each receiver gets a few."""
        for spread in chosen_from(stream):
            for folder in self._folders:
                flows = folder.fold(ir.NodeCount(each))
                if flows is not None and flows > folder.population:
                    self._sink.report(
                        codes.OUT_OF_RANGE,
                        spread.span,
                        f"`{stream.name}` has {shown(flows)} flows of "
                        f"{shown(folder.population)} users: receivers are ambiguous",
                        hint="declare one stream per kind of flow, with one flow per user",
                    )
                    return

    def excessive_hold(self, stream: ir.Stream, mark: ir.PoolMark) -> None:
        """Report more taken at once of a pool than there is: who requests that waits for ever."""
        test = path_test(self._configuration)
        if mark.point is not ir.PoolPoint.TAKE or mark not in legs_of(stream, test):
            return
        machine = ir.machine_at(self._model, self._configuration.nodes[mark.node])
        pool = machine and machine.resource(mark.resource)
        if not pool or (mark.condition is not None and test.holds(mark.condition) is False):
            return
        if mark.amount is not None and mark.amount.dimension != pool.capacity.dimension:
            return
        amount = ir.Constant(Fraction(1)) if mark.amount is None else mark.amount.expr
        populations = self._folders if varies(amount) else self._folders[:1]
        for folder in self._of_users(amount, populations):
            try:
                much, there = folder.fold(amount), folder.fold(pool.capacity.expr)
            except _REPORTED:
                return
            if much is None or there is None or much <= there or there <= 0:
                continue  # a capacity that is not above zero is reported itself
            self._sink.report(
                codes.OUT_OF_RANGE,
                mark.span if mark.amount is None else mark.amount.span,
                f"deadlock: more of `{mark.pool}` is taken at once than exists",
                label=f"this is {shown(much / there)} times as much",
                secondary=[Label(pool.capacity.span, "available amount")],
                hint="take less, or increase the pool",
            )
            return

    def answers(self, stream: ir.Stream, call: ir.Call, fan_out: ir.FanOut) -> None:
        """Report more answers to wait for than calls at once, and fewer machines than these."""
        assert fan_out.answers is not None
        legs = legs_of(stream, path_test(self._configuration))
        if not any(isinstance(leg, ir.CallMark) and leg.call == call for leg in legs):
            return
        there = self._configuration.nodes[call.node].count
        try:
            values = [
                self._folders[0].fold(one)
                for one in (fan_out.count.expr, fan_out.answers.expr, there)
            ]
        except _REPORTED:
            return
        count, answers, machines = values
        if count is None or answers is None:
            return
        if answers > count:
            self._sink.report(
                codes.FAN_OUT,
                fan_out.answers.span,
                f"waits for {shown(answers)} responses from `{call.node}`, but calls it only "
                f"{shown(count)} times",
                secondary=[Label(fan_out.count.span, "number of parallel calls")],
                hint=f"wait for at most {shown(count)}; to wait for all, remove `first … answers`",
            )
        elif machines is not None and machines < count:
            self._sink.report(
                codes.FAN_OUT,
                fan_out.count.span,
                f"{shown(count)} parallel calls to {shown(machines)} machines of `{call.node}`: "
                "the order of their responses is unknown",
                secondary=[Label(fan_out.answers.span, "waits only for the first responses")],
                hint=f"increase the number of machines of `{call.node}`, or wait for all answers",
            )

    def runs(self, stream: ir.Stream) -> None:
        """Report steps that run a fraction of a time."""
        seen = set[Span]()
        for one in repeated_steps(stream, self._model, self._configuration):
            if one.step.span in seen:
                continue  # several of one component
            populations = self._folders if varies(one.repeat) else self._folders[:1]
            try:
                wrong = one.wrong_runs(self._of_users(one.repeat, populations))
                of = self._model, self._configuration
                if may_be_fraction(one.repeat, *of):  # reported where the spec states it
                    is_wrong = is_as_stated(one.repeat, *of)
                else:
                    is_wrong = bool(wrong)
                if is_wrong:
                    one.report(next(iter(wrong), None), self._sink)
                    seen.add(one.step.span)
            except _REPORTED:
                return

    def receivers(self, stream: ir.Stream) -> None:
        """Report what goes to more others than there are, and pairs of one."""
        for bounded in rooms_for(stream, self._configuration, path_test(self._configuration)):
            self.value(bounded)

    def too_many(self, stream: str, each: ir.InEachGroup) -> None:
        """Report more flows in a group than it has users."""
        flows, group = each.flows, self._configuration.groups[each.group]
        if varies(group.size.expr):
            return  # small where that is: there, all of its users send
        both = ir.Sum((flows.expr, group.size.expr))
        for folder in (one for at in self._folders for _, one in at.each_class(both)):
            count, size = folder.fold(flows.expr), folder.fold(group.size.expr)
            if count is None or size is None or count <= size:
                continue
            self._sink.report(
                codes.OUT_OF_RANGE,
                flows.span,
                more_flows_than_users(stream, count, group.name, size),
                secondary=[Label(group.span, f"`{group.name}` is declared here")],
                hint=f"use at most all members of a group: `stream {stream} for "
                f"members({group.name}) in each {group.name}`",
            )
            return
