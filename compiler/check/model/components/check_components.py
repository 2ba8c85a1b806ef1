"""Components: what a step costs on which resource, and what it does to a stream."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.components.check_effects import EffectChecker
from qps.compiler.check.model.fits.check_fits import FitChecker
from qps.compiler.check.model.hardware.check_families import FamilyChecker, Member, doc_of
from qps.compiler.check.model.hardware.check_machines import MachineChecker
from qps.compiler.check.names.declarations import (
    DeclaredAs,
    Module,
    lookup_as,
)
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.part import Part, whole
from qps.compiler.check.values.values import multiply
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.mends import instead, put_behind
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.ir.parts import parts_of
from qps.compiler.measurement.fit_columns import Reading
from qps.compiler.measurement.fits import Fit
from qps.compiler.quantities.cores_together import effective_cores
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
)
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import origin
from qps.grammar.words import TOKEN_CHOICES

_SURE = 0.74


MOST_PARTS = 1000
"""Components that run in one, all counted, beyond which it is refused."""
DEEPEST_RUNS = 40


class ComponentPart(Struct, frozen=True):
    """A component that runs as part of another one: how often, and when."""

    component: ir.Component
    repeat: ir.Expr | None = None
    condition: ir.Condition | None = None

    def within(self, repeat: ir.Expr | None, condition: ir.Condition | None) -> ComponentPart:
        """Return it within what is itself done so often, under a condition."""
        times = [times for times in (self.repeat, repeat) if times is not None]
        conditions = tuple(one for one in (self.condition, condition) if one is not None)
        return ComponentPart(
            self.component,
            multiply(times) if times else None,
            ir.AllOf(conditions) if len(conditions) > 1 else next(iter(conditions), None),
        )


class ComponentChecker(Part, frozen=True):
    """Checks components; one without formals is checked once, however often it is used."""

    run: set[str] = field(default_factory=set)
    """The components that run in others."""
    _components: dict[str, tuple[ComponentPart, ...] | None] = field(default_factory=dict)
    _open: list[DeclaredAs[ast.Component]] = field(default_factory=list)

    def _machine_name(self, module: Module, name: ast.Name) -> str | None:
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

    def parts(
        self, declared: DeclaredAs[ast.Component], formals: dict[str, ir.Quantity]
    ) -> tuple[ComponentPart, ...] | None:
        """Return what a component is made of, with its arguments put in.

        That is the component itself where none runs in it. Those that run stand where it says so,
        what it costs and does itself between them.
        """
        key = declared.qualified
        if declared.declaration.formals or key not in self._components:
            self._components[key] = self._parts(declared, formals)
        return self._components[key]

    def unused(self, declared: DeclaredAs[ast.Component]) -> None:
        """Check a component that no stream uses: what is wrong in it whatever its arguments are."""
        declaration = declared.declaration
        formals = self.expressions.unknown(declared, declaration.formals, declaration.name.span)
        if formals is not None:
            self.parts(declared, formals)

    def _parts(
        self, declared: DeclaredAs[ast.Component], formals: dict[str, ir.Quantity]
    ) -> tuple[ComponentPart, ...] | None:
        families = FamilyChecker(self.expressions)
        if any(one.is_same(declared) for one in self._open):
            families.report_circle(self._open, declared, "remove one `run` from the cycle")
            return None
        line = families.line(declared, Allowed.ELASTIC, formals)
        if line is None or self._is_too_deep(declared):
            return None
        self._open.append(declared)
        try:
            return self._made_of(declared, line)
        finally:
            self._open.pop()

    def _made_of(
        self, declared: DeclaredAs[ast.Component], line: tuple[Member[ast.Component], ...]
    ) -> tuple[ComponentPart, ...] | None:
        found: list[ComponentPart] = []
        is_sound = True
        items = _items_of(line)
        for is_run, some in groupby(items, key=lambda pair: isinstance(pair[0], ast.Run)):
            if not is_run:
                own = self._component(declared, line, tuple(some))
                is_sound = is_sound and own is not None
                found += [] if own is None else [ComponentPart(own)]
                continue
            for item, member in some if is_sound else ():
                assert isinstance(item, ast.Run)
                parts = self._run(item, member)
                if parts is None:  # what runs twice as often each time would take forever
                    is_sound = False
                    break
                found += parts
        if not items:
            own = self._component(declared, line, ())
            found += [] if own is None else [ComponentPart(own)]
        if not is_sound:
            return None
        if len(found) <= MOST_PARTS:
            return tuple(found)
        name = declared.declaration.name
        self.sink.report(
            codes.TOO_DEEP,
            name.span,
            f"`{name.text}` runs more than {MOST_PARTS:,} components",
            hint="use a repetition: `run query * 3`",
        )
        return None

    def _is_too_deep(self, declared: DeclaredAs[ast.Component]) -> bool:
        if len(self._open) < DEEPEST_RUNS:
            return False
        name = declared.declaration.name
        self.sink.report(
            codes.TOO_DEEP,
            name.span,
            f"component `{name.text}` is nested more than {DEEPEST_RUNS} levels deep",
            hint="run it directly where it is needed",
        )
        return True

    def _run(
        self, item: ast.Run, member: Member[ast.Component]
    ) -> tuple[ComponentPart, ...] | None:
        """Return what runs within a component, as often as it does, under its condition."""
        scope = replace(member.scope, allowed=Allowed.FLOWS)
        declared = self.named(scope.module, item.component, ast.Component)
        if declared is None:
            return None
        self.run.add(declared.qualified)
        own = declared.declaration
        given = self.expressions.arguments(
            own.name, own.formals, item.arguments, item.span, declared, scope
        )
        repeat = condition = None
        if item.repeat is not None:
            repeat = self.expressions.quantity(item.repeat, scope, DIMENSIONLESS, "a repetition")
        if item.condition is not None:
            fixed = replace(scope, allowed=Allowed.NOTHING)
            condition = self.expressions.condition(item.condition, fixed)
        failed = (item.repeat is not None and repeat is None) or (
            item.condition is not None and condition is None
        )
        parts = None if given is None else self.parts(declared, given)
        if parts is None or failed:
            return None
        times = None if repeat is None else repeat.expr
        return tuple(part.within(times, condition) for part in parts)

    def _component(
        self,
        declared: DeclaredAs[ast.Component],
        line: tuple[Member[ast.Component], ...],
        items: tuple[tuple[ast.Cost | ast.Effect | ast.Run, Member[ast.Component]], ...],
    ) -> ir.Component | None:
        """Return some of what a component costs and does itself."""
        costs = whole([self._cost(i, m) for i, m in items if isinstance(i, ast.Cost)])
        checker = EffectChecker(self.expressions)
        effects = whole([checker.effect(i, m.scope) for i, m in items if isinstance(i, ast.Effect)])
        if costs is None or effects is None:
            return None
        for member in line:
            if member.own.fitted is not None:
                self._chosen(member, costs, effects)
        return ir.Component(
            name=declared.qualified,
            costs=costs,
            effects=effects,
            span=declared.declaration.name.span,
            source=next(filter(None, (origin(m.own.source, m.own.fitted) for m in line)), None),
            doc=doc_of(line),
            has_arguments=bool(declared.declaration.formals),
        )

    def _chosen(
        self,
        member: Member[ast.Component],
        costs: tuple[ir.Cost, ...],
        effects: tuple[ir.Effect, ...],
    ) -> None:
        """Note which numbers were chosen to hit one that is claimed: those that it states."""
        assert member.own.fitted is not None
        numbers = [term for cost in costs for term in cost.terms]
        numbers += [
            number
            for effect in effects
            for number in (effect.value, effect.lasting)
            if number is not None
        ]
        own = [number for number in numbers if member.own.span.holds(number.span)]
        told = member.own.fitted.value
        self.known.chosen.update(dict.fromkeys([number.span for number in own], told))
        # One times a parameter is no number of its own: what rests on that may rest on it.
        for part in (part for number in own for part in parts_of(number.expr)):
            if isinstance(part, ir.ParameterValue):
                self.known.chosen_with[part.name] = told

    def _cost(self, item: ast.Cost, member: Member[ast.Component]) -> ir.Cost | None:
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
        fit = None
        if isinstance(item.amount, ast.Fit):
            fit = self._fit(item, item.amount, measured_on, scope)
            source = origin(member.own.source, member.own.fitted)
            checker = FitChecker(self.expressions)
            terms = None if fit is None else checker.terms(fit, item.amount, source)
            loads = loads if fit is None else loads or fit.loads
        else:
            terms = self._terms(item.amount, scope)
        if terms is None:
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
        )

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

    def _on_which(self, resource: str, fit: ast.Fit) -> str:
        """Return the hint to name the machine that was measured: the only one, if there is one."""
        names = list(self.known.machines)
        if len(names) != 1:
            return f"name it: `{resource} {fit.span.text} measured on vm`"
        told = f"name it: `{resource} {fit.span.text} measured on {names[0]}`"
        return put_behind(fit.span, f" measured on {names[0]}", told=told)

    def _fit(
        self, item: ast.Cost, fit: ast.Fit, measured_on: str | None, scope: Scope
    ) -> Fit | None:
        """Return the costs that fit a table, which was measured on a machine that is known."""
        machine = None if measured_on is None else self.known.machines.get(measured_on)
        if measured_on is None:
            self.sink.report(
                codes.MISSING_PART,
                fit.span,
                "a fit needs the measured machine",
                hint=self._on_which(item.resource.text, fit),
            )
        resource = None if machine is None else machine.resource(item.resource.text)
        if machine is not None and (
            resource is None
            or resource.kind is not ir.ResourceKind.PROCESSOR
            or not _has_fixed_cores(resource)
        ):
            self.sink.report(
                codes.NO_RESOURCE,
                item.resource.span,
                f"`{machine.name}` has no CPU `{item.resource.text}` with a fixed number of cores",
                hint="add the cores to the machine: `cpu 2 core`",
            )
            return None
        if resource is None:
            return None
        assert isinstance(resource.capacity.expr, ir.Constant)
        cores = processors = resource.capacity.expr.value
        if resource.efficiency is not None:
            assert isinstance(resource.efficiency.expr, ir.Constant)
            cores = effective_cores(cores, resource.efficiency.expr.value)
        found = FitChecker(self.expressions).fit(
            fit,
            Reading(resource=item.resource.text, cores=cores, processors=processors),
            scope.module,
        )
        if found is not None and resource.idle is None and machine is not None:
            FitChecker(self.expressions).idle_dropped(found, machine.name, fit)
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
            hint=instead(word, near, told=f"did you mean `{near}`?"),
        )
        return True


def _items_of(
    line: Sequence[Member[ast.Component]],
) -> list[tuple[ast.Cost | ast.Effect | ast.Run, Member[ast.Component]]]:
    """Return what a component costs and does: what the nearest of its family names goes before.

    It stands where its parent says the first of the same; what is new comes last.
    """
    found: list[tuple[ast.Cost | ast.Effect | ast.Run, Member[ast.Component]]] = []
    for member in reversed(line):
        own = [(_named_by(item), (item, member)) for item in member.own.items]
        said = {word for word, _ in own}
        kept: list[tuple[ast.Cost | ast.Effect | ast.Run, Member[ast.Component]]] = []
        for item, of in found:
            word = _named_by(item)
            if word not in said:
                kept.append((item, of))
            else:
                kept += [new for named, new in own if named == word]
                own = [(named, new) for named, new in own if named != word]
        found = [*kept, *(new for _, new in own)]
    return found


def _named_by(item: ast.Cost | ast.Effect | ast.Run) -> str:
    """Return what an item of a component is named by: its resource, or what it does."""
    if isinstance(item, ast.Run):
        return "run"
    return item.resource.text if isinstance(item, ast.Cost) else item.kind


def _has_fixed_cores(resource: ir.Resource) -> bool:
    """Return whether what the cores of a processor do together is a number."""
    numbers = [resource.capacity, resource.efficiency]
    return all(number is None or isinstance(number.expr, ir.Constant) for number in numbers)


@lru_cache(maxsize=1024)  # asked of every cost; there are few resources
def _effect_like(word: str) -> str | None:
    """Return the effect that a word is probably meant to be."""
    return closest(word, TOKEN_CHOICES["EFFECT"], _SURE)
