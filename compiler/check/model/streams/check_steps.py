"""Steps at a node: what is done, how often, under which condition, and to whom it is sent on."""

from __future__ import annotations

from fractions import Fraction

from msgspec import field

from qps.compiler import ir
from qps.compiler.check.model.components.check_components import ComponentChecker, ComponentPart
from qps.compiler.check.model.streams.check_groups import GroupChecker
from qps.compiler.check.names.declarations import (
    lookup,
    lookup_as,
    names_of,
)
from qps.compiler.check.names.reported_names import report_name
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.check_conditions import choices_of
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label
from qps.compiler.diagnostics.source import Span
from qps.compiler.diagnostics.suggest import closest
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.compiler.syntax import ast

MOST_RUN = 20_000
"""Components that run in others, in all steps of a spec, beyond which it is refused."""
_SIMILAR_ENOUGH = 0.74
_CASTS = ("unicast", "multicast")
_NOT_REPEATED = frozenset(ir.EffectKind) - {ir.EffectKind.DELAY, ir.EffectKind.MERGE}
"""What a step does to a stream once, however often it is repeated; merging again merges nothing."""


class StepChecker(DeclarationChecker, frozen=True, kw_only=True):
    """Checks steps over the nodes that there are."""

    components: ComponentChecker
    nodes: dict[str, ir.Node]
    used_components: set[str] = field(default_factory=set)
    _run: list[int] = field(default_factory=list)

    @property
    def groups(self) -> GroupChecker:
        """What checks what is said of groups."""
        return GroupChecker(self.expressions)

    def node(self, name: ast.Name) -> str | None:
        """Return the node of a name; one that failed is reported where it stands."""
        declared = lookup(self.main, name)
        if declared is None or not isinstance(declared.declaration, ast.Node):
            report_name(self.sink, self.main, name, "node", (ast.Node,))
            return None
        return declared.qualified if declared.qualified in self.nodes else None

    def steps(self, item: ast.Step, node: str | None) -> tuple[ir.Step, ...]:
        """Return what is done in a step; every part is looked at, also where another one failed.

        A component in which others run is several steps.
        """
        scope = Scope(self.main, AllowedNames.FLOWS)
        parts = self._placed_component(item, scope)
        repeat = None
        if item.repeat is not None:
            times = self.expressions.quantity(item.repeat, scope, DIMENSIONLESS, "a repetition")
            repeat = times.expr if times else None
        condition = None
        if item.condition is not None:
            fixed = Scope(self.main, AllowedNames.NOTHING)
            condition = self.expressions.condition(item.condition, fixed)
        spread = None if item.spread is None else self._spread(item.spread, node)
        group = None if item.group is None else self.groups.group(item.group)
        if parts is None or self._is_several(item, parts):
            return ()
        if group is not None and not self.groups.merges(item, parts[0].component):
            return ()
        if self._are_too_many(item, parts):
            return ()
        placed = [part.within(repeat, condition) for part in parts]
        for part in placed:
            self._warn_not_repeated(item, part)
        return tuple(
            ir.Step(
                component=part.component,
                repeat=part.repeat,
                spread=spread,
                condition=part.condition,
                span=item.component.span,
                group=group,
                written=None if own.repeat is not None else _written(item),
            )
            for own, part in zip(parts, placed, strict=True)
        )

    def _warn_not_repeated(self, item: ast.Step, part: ComponentPart) -> None:
        """Warn where a step that is repeated changes the stream, which it does once all the same.

        Its costs and its delay count so often.
        """
        if part.repeat is None or part.repeat == ir.Constant(Fraction(1)):
            return
        effect = next((e for e in part.component.effects if e.kind in _NOT_REPEATED), None)
        if effect is None:
            return
        name = part.component.name
        self.sink.report(
            codes.SINGLE_EFFECT,
            item.span,
            f"`{name}` is repeated, but its `{effect.kind.value}` applies only once",
            secondary=[Label(effect.span, "this applies once")],
            hint=f"write `{name}` several times, or move the `{effect.kind.value}` to a "
            "separate component",
        )

    def _are_too_many(self, item: ast.Step, parts: tuple[ComponentPart, ...]) -> bool:
        """Return whether all steps together run more components than is reasonable."""
        self._run[:] = [sum(self._run) + len(parts) - 1]
        if self._run[0] <= MOST_RUN:
            return False
        self.sink.report(
            codes.TOO_DEEP,
            item.span,
            f"a spec can run at most {MOST_RUN:,} nested components",
            hint="use a repetition: `step * 3`",
        )
        return True

    def _is_several(self, item: ast.Step, parts: tuple[ComponentPart, ...]) -> bool:
        """Return whether several steps are sent on, or merge, as one: then that is reported."""
        if len(parts) == 1 or (item.spread is None and item.group is None):
            return False
        what, said = ("merges", "in …") if item.spread is None else ("is forwarded", "to …")
        name = item.component.text
        self.sink.report(
            codes.MISPLACED,
            item.span,
            f"`{name}` runs several components: the one that {what} is ambiguous",
            hint=f"move it to a separate step: `{name}; step {said}`",
        )
        return True

    def _is_a_verb(self, item: ast.Step) -> bool:
        """Return whether `send to all` has the word of another language for a component."""
        name, sent = item.component, item.spread
        if sent is None or lookup(self.main, name) is not None:
            return False
        known = list(names_of(self.main, (ast.Component,)))
        if closest(name.text, known, _SIMILAR_ENOUGH):
            return False
        such = known[0] if known else "forward"
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"unknown component `{name.text}`",
            hint=f"put a component before `{sent.span.text}`, such as `{such} {sent.span.text}`",
        )
        return True

    def _placed_component(self, item: ast.Step, scope: Scope) -> tuple[ComponentPart, ...] | None:
        if self._is_a_verb(item):
            return None
        declared = self.named(self.main, item.component, ast.Component)
        if declared is None:
            return None
        declaration = declared.declaration
        self.used_components.add(declared.qualified)
        formals = self.expressions.arguments(
            declaration.name, declaration.formals, item.arguments, item.span, declared, scope
        )
        return None if formals is None else self.components.parts(declared, formals)

    def _is_no_option(self, cast: ast.Name) -> None:
        """Report an option that is called as what it would choose: `by multicast`."""
        declared = self.main.names.get(cast.text)
        if isinstance(declared, ast.Option):
            self.sink.report(
                codes.RESERVED_WORD,
                declared.name.span,
                f"`by {cast.text}` is a keyword and ignores the option of that name",
                secondary=[Label(cast.span, "used here")],
                hint="rename the option, for example to `cast`",
            )

    def _spread(self, item: ast.Spread, node: str | None) -> ir.Spread | None:
        target = node if item.target is None else self.node(item.target)
        if target is None:
            return None
        group = most = count = None
        if item.count is not None:
            scope, what = Scope(self.main, AllowedNames.POPULATION), "a number of others"
            count = self.expressions.quantity(item.count, scope, DIMENSIONLESS, what)
            if count is None:
                return None
        if item.group is not None:
            group = self.groups.group(item.group)
            most = None if item.most is None else self.groups.most(item.most)
            if group is None or (most is None and item.most is not None):
                return None
        cast: bool | str = False
        if item.cast is not None:
            if item.cast.text in _CASTS:
                self._is_no_option(item.cast)
                cast = item.cast.text == "multicast"
            else:
                declared = lookup_as(self.main, item.cast, ast.Option)
                if declared is None or set(choices_of(declared)) != set(_CASTS):
                    self.sink.report(
                        codes.WRONG_KIND,
                        item.cast.span,
                        f"`{item.cast.text}` must be an option with unicast and multicast",
                        hint="declare `option cast = unicast or multicast`",
                    )
                    return None
                cast = declared.qualified
        kind = ir.SpreadKind(item.kind)
        return ir.Spread(
            kind=kind,
            target=None if group else target,
            cast=cast,
            span=item.span,
            group=group,
            most=most,
            count=count,
        )


def _written(item: ast.Step) -> ir.WrittenRuns | None:
    """Return how often a step runs, as it is written."""
    if item.repeat is None:
        return None
    start, source = item.component.span.start, item.span.source
    star = source.text.rindex("*", start, item.repeat.span.start)
    end = item.repeat.span.end
    while source.text.count("(", star, end) > source.text.count(")", star, end):
        end = source.text.index(")", end) + 1
    return ir.WrittenRuns(
        whole=Span(source, start, end),
        amount=Span(source, star + 1, end),
        single=" ".join(source.text[start:star].split()),
    )
