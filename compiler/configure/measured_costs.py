"""Costs of steps on another machine than the one that was measured, and what scales them."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import Folder
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.ir.cost_items import scaling_base


class PlacedCost(Struct, frozen=True, kw_only=True):
    """A cost of a step, with the machine of the node at which it runs, and the resource there."""

    node: str
    machine: ir.Machine
    resource: ir.Resource
    step: ir.Step
    cost: ir.Cost

    @property
    def _place(self) -> Label:
        return Label(self.step.span, f"`{self.node}` is `{self.machine.name}`")

    def check_rating(self, model: ir.Model, sink: Sink) -> None:
        """Report a cost that nothing scales from the machine on which it was measured."""
        cost, machine = self.cost, self.machine
        if self.resource.kind is not ir.ResourceKind.PROCESSOR:
            return
        if cost.measured_on is None:
            if self.resource.speed is not None and cost.scaled_by is None:
                sink.report(
                    codes.UNSCALED_COST,
                    cost.span,
                    f"the demand of `{self.step.component.name}` does not specify the machine that "
                    "it was measured on, and is used unscaled",
                    hint="add `measured on machine`, or `costs measured on machine` at the top",
                )
            return
        measured = model.machines.get(cost.measured_on)
        if measured is None:
            return
        base = scaling_base(measured, cost)
        if base is None:
            if measured.name != machine.name and not machine.is_alike(measured, cost.resource):
                sink.report(
                    codes.NO_RATING,
                    cost.span,
                    f"`{measured.name}` has no rating to scale its demand to `{machine.name}`",
                    secondary=[self._place],
                    hint="add a rating to both machines, such as `cpu 21.8 SPECint92`",
                )
            return
        for needed in (measured, machine):
            if needed.rating(base) is None:
                sink.report(
                    codes.NO_RATING,
                    cost.span,
                    f"`{needed.name}` has no {base} rating to scale this demand by",
                    secondary=[Label(needed.span, "declared here"), self._place],
                    hint=f"add `rating 10 {base}` to machine `{needed.name}`",
                )
                return

    def check_fit(self, model: ir.Model, configuration: Configuration, sink: Sink) -> None:
        """Warn of a fitted cost on another machine than the one that was measured."""
        cost, component, resource = self.cost, self.step.component, self.resource
        bases = [one.measured_on for one in component.costs if one.resource == cost.resource]
        measured = model.machines.get(cost.measured_on or "")
        if cost.fit is None or measured is None or self.machine.measured_as(bases) != measured.name:
            return
        of_measured = measured.resource(cost.resource)
        if resource.is_as(of_measured):
            return
        folder = Folder(configuration=configuration, population=Fraction(configuration.low))
        if self.step.condition is not None and folder.holds(self.step.condition) is False:
            return
        has_idle = resource.idle is not None or not cost.fit.fixed
        idle = "" if has_idle else ", and without an idle utilization"
        sink.report(
            codes.BEYOND_MEASURED,
            cost.span,
            f"`{component.name}` was measured on `{cost.measured_on}` "
            f"(`{cost.fit.file}`) but runs on `{self.machine.name}`, scaled by a single "
            f"rating{idle}",
            secondary=[self._place],
            hint="how far the rating is off is unknown, so no interval includes it: measure it on "
            f"`{self.machine.name}`, too, and add `measured on {self.machine.name}`; or specify "
            "the uncertainty with "
            f"`{component.name} * {_trusted(resource, of_measured)}` of `std.trust`",
        )


def _trusted(resource: ir.Resource, measured: ir.Resource | None) -> str:
    """Return the factor of `std.trust` for costs of another machine, or of more of the same."""
    if measured is None or resource.numbers[0] == measured.numbers[0]:
        return "trust.other_machine"
    is_more = resource.numbers[1] == measured.numbers[1]
    return "trust.more_cores" if is_more else "trust.other_machine * trust.more_cores"
