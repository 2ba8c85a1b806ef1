"""Components: which run in which, and what each costs and does to a stream."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.check.model.components.check_costs import CostChecker
from qps.compiler.check.model.components.check_effects import EffectChecker
from qps.compiler.check.model.fits.check_scalability import ScalabilityChecker
from qps.compiler.check.model.hardware.check_families import FamilyChecker, Member, doc_of
from qps.compiler.check.names.declarations import (
    DeclaredAs,
)
from qps.compiler.check.names.scope import AllowedNames
from qps.compiler.check.values.part import DeclarationChecker, whole
from qps.compiler.check.values.values import multiply
from qps.compiler.diagnostics import codes
from qps.compiler.ir.parts import parts_of
from qps.compiler.quantities.dimension import (
    DIMENSIONLESS,
)
from qps.compiler.syntax import ast
from qps.compiler.syntax.remarks import origin

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


class ComponentChecker(DeclarationChecker, frozen=True):
    """Checks components; one without formals is checked once, however often it is used."""

    run: set[str] = field(default_factory=set)
    """The components that run in others."""
    _components: dict[str, tuple[ComponentPart, ...] | None] = field(default_factory=dict)
    _open: list[DeclaredAs[ast.Component]] = field(default_factory=list)

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
        line = families.line(declared, AllowedNames.ELASTIC, formals)
        if line is None or self._is_too_deep(declared):
            return None
        self._open.append(declared)
        try:
            return self._parts_of(declared, line)
        finally:
            self._open.pop()

    def _parts_of(
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
        scope = replace(member.scope, allowed=AllowedNames.FLOWS)
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
            fixed = replace(scope, allowed=AllowedNames.NOTHING)
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
        of_costs, of_effects = CostChecker(self.expressions), EffectChecker(self.expressions)
        costs = whole([of_costs.cost(i, m) for i, m in items if isinstance(i, ast.Cost)])
        effects = whole(
            [of_effects.effect(i, m.scope) for i, m in items if isinstance(i, ast.Effect)]
        )
        if costs is None or effects is None:
            return None
        self._delays_dropped(costs, effects)
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

    def _delays_dropped(self, costs: tuple[ir.Cost, ...], effects: tuple[ir.Effect, ...]) -> None:
        """Warn of delays of closed load tests that a component does not have."""
        if any(effect.kind is ir.EffectKind.DELAY for effect in effects):
            return
        for cost in costs:
            if cost.station is not None:
                ScalabilityChecker(self.expressions).delay_dropped(cost.station, cost.span)

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
        value = member.own.fitted.value
        self.known.chosen.update(dict.fromkeys([number.span for number in own], value))
        # One times a parameter is no number of its own: what rests on that may rest on it.
        for part in (part for number in own for part in parts_of(number.expr)):
            if isinstance(part, ir.ParameterValue):
                self.known.chosen_with[part.name] = value


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
        items: list[tuple[ast.Cost | ast.Effect | ast.Run, Member[ast.Component]]] = []
        for item, of in found:
            word = _named_by(item)
            if word not in said:
                items.append((item, of))
            else:
                items += [new for named, new in own if named == word]
                own = [(named, new) for named, new in own if named != word]
        found = [*items, *(new for _, new in own)]
    return found


def _named_by(item: ast.Cost | ast.Effect | ast.Run) -> str:
    """Return what an item of a component is named by: its resource, or what it does."""
    if isinstance(item, ast.Run):
        return "run"
    return item.resource.text if isinstance(item, ast.Cost) else item.kind
