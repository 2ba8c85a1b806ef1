"""Costs of a component: what a step takes of which resource, stated or fitted to measurements."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache

from qps.compiler import ir
from qps.compiler.check.model.fits.check_fits import FitChecker
from qps.compiler.check.model.fits.check_scalability import ScalabilityChecker
from qps.compiler.check.model.fits.fit_clauses import FitClauses
from qps.compiler.check.model.hardware.check_families import Member
from qps.compiler.check.model.hardware.check_machines import MachineChecker
from qps.compiler.check.names.declarations import LoadedModule, lookup_as
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.fixits import insertion_after_hint, instead
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.measurement.fit_columns import FitColumns
from qps.compiler.measurement.fits import CostFit
from qps.compiler.measurement.scalability.station_fit import StationFit
from qps.compiler.quantities.cores_together import effective_cores
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import origin
from qps.grammar.words import TOKEN_CHOICES

_MIN_SIMILARITY = 0.74


class CostChecker(DeclarationChecker, frozen=True):
    """Checks the costs of components."""

    def cost(self, item: ast.Cost, member: Member[ast.Component]) -> ir.Cost | None:
        """Return a cost of a component, None where it was reported."""
        if self._is_misspelt(item):
            return None
        scope = member.scope
        basis = item.measured_on or member.own.default_machine
        measured_on = None
        if basis is not None:
            measured_on = self._machine_name(scope.module, basis)
            if measured_on is None:
                return None
        loads = self._loads(item, scope)
        fit = station = None
        factors: Mapping[str, ir.Quantity] | None = {}
        terms: tuple[ir.Quantity, ...] | None
        if isinstance(item.amount, ast.Fit) and item.amount.by is not None:
            station = self._station(item, item.amount, measured_on, scope)
            source = origin(member.own.source, member.own.fitted)
            checker = ScalabilityChecker(self.expressions)
            terms = None if station is None else (checker.demand(station, item.amount, source),)
        elif isinstance(item.amount, ast.Fit):
            fit = self._fit(item, item.amount, measured_on, scope)
            source = origin(member.own.source, member.own.fitted)
            terms = None
            if fit is not None:
                factors = FitClauses(self.expressions).factors(item.amount, fit, scope)
                if factors is not None:
                    fits = FitChecker(self.expressions)
                    terms = fits.terms(fit, item.amount, source, factors)
                loads = loads or fit.loads
        else:
            terms = self._terms(item.amount, scope)
        if terms is None or factors is None:
            return None
        scaled_by = None
        if item.scaled_by is not None:
            unit = lookup_as(scope.module, item.scaled_by, ast.Unit)
            if unit is None or not unit.declaration.is_rating:
                report_name(self.sink, scope.module, item.scaled_by, "rating", (ast.Unit,))
                return None
            scaled_by = unit.declaration.name.text
        thread = None if item.single_thread is None else item.single_thread.name
        return ir.Cost(
            resource=item.resource.text,
            terms=terms,
            measured_on=measured_on,
            scaled_by=scaled_by,
            single_thread=item.single_thread is not None,
            span=item.span,
            measured_at=loads,
            thread=thread.text if thread is not None else None,
            fit=fit,
            station=station,
            factors=tuple(factors.items()),
        )

    def _station(
        self, item: ast.Cost, fit: ast.Fit, measured_on: str | None, scope: Scope
    ) -> StationFit | None:
        """Return the station that fits a closed load test, on a machine with its speeds."""
        checker = ScalabilityChecker(self.expressions)
        if measured_on is None:
            self._lacks_machine(item, fit)
            return None
        found = checker.station(fit, scope.module)
        machine = self.known.machines.get(measured_on)
        if found is not None and machine is not None:
            checker.speeds_dropped(found, machine, item)
        return found

    def _terms(self, amount: ast.Expr, scope: Scope) -> tuple[ir.Quantity, ...] | None:
        """Return the addends of a cost."""
        addends = amount.terms if isinstance(amount, ast.Sum) else ((False, amount),)
        terms: list[ir.Quantity] = []
        for minus, addend in addends:
            signed = ast.Negative(addend.span, addend) if minus else addend
            quantity = self.expressions.quantity(signed, scope)
            if quantity is None or self._lacks_unit(addend):
                return None
            terms.append(quantity)
        return tuple(terms)

    def _loads(self, item: ast.Cost, scope: Scope) -> tuple[Fraction, Fraction] | None:
        """Return the loads at which a cost was measured, None where none is stated."""
        stated = item.at_load
        if stated is None:
            return None
        if isinstance(stated, ast.Range):
            ends = [ast.with_unit_of(stated.low, stated.high), stated.high]
        else:
            ends = [stated, stated]
        loads = [self.expressions.number(end, scope, "a load") for end in ends]
        low, high = loads
        if low is None or high is None:
            return None
        if not 0 < low <= high <= 1:
            self.sink.report(
                codes.OUT_OF_RANGE,
                stated.span,
                "the range of utilization is in the wrong order"
                if 0 < high < low <= 1
                else "the measured utilization must be between 0 and 100 %",
                hint="write it like `measured on vm at 70 % load`, or `at 30..80 % load`",
            )
            return None
        return low, high

    def _lacks_machine(self, item: ast.Cost, fit: ast.Fit) -> None:
        """Report a fit that does not name the machine that was measured."""
        self.sink.report(
            codes.MISSING_PART,
            fit.span,
            "a fit needs the measured machine",
            hint=self._on_which(item.resource.text, fit),
        )

    def _on_which(self, resource: str, fit: ast.Fit) -> str:
        """Return the hint to name the machine that was measured: the only one, if there is one."""
        names = list(self.known.machines)
        if len(names) != 1:
            return f"name it: `{resource} {fit.span.text} measured on vm`"
        hint = f"name it: `{resource} {fit.span.text} measured on {names[0]}`"
        return insertion_after_hint(fit.span, f" measured on {names[0]}", text=hint)

    def _fit(
        self, item: ast.Cost, fit: ast.Fit, measured_on: str | None, scope: Scope
    ) -> CostFit | None:
        """Return the costs that fit a table, which was measured on a machine that is known."""
        machine = None if measured_on is None else self.known.machines.get(measured_on)
        if measured_on is None:
            self._lacks_machine(item, fit)
        resource = None if machine is None else machine.resource(item.resource.text)
        is_fixed = resource is not None and _has_fixed_cores(resource)
        if machine is not None and (
            resource is None
            or resource.kind is not ir.ResourceKind.PROCESSOR
            or (not is_fixed and resource.efficiency is not None)
        ):
            self.sink.report(
                codes.NO_RESOURCE,
                item.resource.span,
                f"`{machine.name}` has no CPU `{item.resource.text}` with a fixed number of cores",
                hint="add the cores to the machine, and its efficiency as a number: `cpu 2 core`"
                if resource is not None and resource.efficiency is not None
                else "add the cores to the machine: `cpu 2 core`",
            )
            return None
        if resource is None:
            return None
        cores = processors = None  # as the table says itself
        if isinstance(resource.capacity.expr, ir.Constant):
            cores = processors = resource.capacity.expr.value
            if resource.efficiency is not None:
                assert isinstance(resource.efficiency.expr, ir.Constant)
                cores = effective_cores(cores, resource.efficiency.expr.value)
        found = FitChecker(self.expressions).fit(
            fit,
            FitColumns(resource=item.resource.text, cores=cores, processors=processors),
            scope,
        )
        if found is not None and resource.idle is None and machine is not None:
            FitChecker(self.expressions).idle_dropped(found, machine.name, fit)
        elif found is not None and resource.idle is not None and machine is not None:
            idle = self.known.fitted.get(resource.idle.span)
            if idle is not None and idle.file == found.file and idle.of != found.of:
                FitChecker(self.expressions).idle_of_another(found, machine.name, fit)
        return found

    def _lacks_unit(self, addend: ast.Expr) -> bool:
        """Return whether a cost is a bare number, which is reported; `3 %` is a steady load."""
        if not isinstance(addend, ast.Number):
            return False
        self.sink.report(
            codes.WRONG_DIMENSION,
            addend.span,
            "this service demand has no unit",
            label="this is a plain number",
            hint=f"write `{addend.span.text} ms/packet`, or `{addend.span.text} %` for a "
            "constant background utilization",
        )
        return True

    def _is_misspelt(self, item: ast.Cost) -> bool:
        """Return whether a cost is an effect with a slip: `kep 85 %`; then it is reported."""
        word = item.resource.text
        near = _effect_like(word)
        if near is None or word in self.expressions.context.program.resources:
            return False
        self.sink.report(
            codes.NO_RESOURCE,
            item.resource.span,
            f"no machine has a resource `{word}`",
            hint=instead(word, near, words=f"did you mean `{near}`?"),
        )
        return True

    def _machine_name(self, module: LoadedModule, name: ast.Name) -> str | None:
        """Return the machine that a cost was measured on."""
        declared = self.named(module, name, ast.Machine)
        if declared is None:
            return None
        if declared.declaration.formals:
            self.sink.report(
                codes.WRONG_KIND,
                name.span,
                f"machine `{name.text}` has arguments: the measured one is ambiguous",
                secondary=[Label(declared.declaration.name.span, "declared here")],
                hint=f"declare it as `machine measured_one = {name.text}(…)` and name that",
            )
            return None
        MachineChecker(self.expressions).plain(declared)
        return declared.qualified


def _has_fixed_cores(resource: ir.Resource) -> bool:
    """Return whether what the cores of a processor do together is a number."""
    numbers = [resource.capacity, resource.efficiency]
    return all(number is None or isinstance(number.expr, ir.Constant) for number in numbers)


@lru_cache(maxsize=1024)  # called for every cost; there are few resources
def _effect_like(word: str) -> str | None:
    """Return the effect that a word is probably meant to be."""
    return closest(word, TOKEN_CHOICES["EFFECT"], _MIN_SIMILARITY)
