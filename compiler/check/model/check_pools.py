"""Pools on the way of a stream: what is taken by one step and given back by a later one."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.declarations import owner_in
from qps.compiler.check.names.scope import Allowed, Scope
from qps.compiler.check.values.part import Part
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.syntax import ast

_CHANGING = (ir.EffectKind.MERGE, ir.EffectKind.ACTIVE, ir.EffectKind.KEEP)
"""What makes other flows, or fewer, of those that hold something."""


class PoolChecker(Part, frozen=True):
    """Checks what is taken and given back."""

    def mark(self, item: ast.Take | ast.Give, node: str | None) -> ir.PoolMark | None:
        """Return what happens to a pool at a node; None where it was reported."""
        is_taken = isinstance(item, ast.Take)
        amount = condition = None
        pool = self._pool(item, node)
        if isinstance(item, ast.Take):
            if item.pool is not None:
                scope = Scope(self.main, Allowed.POPULATION)
                amount = self.expressions.quantity(item.what, scope)
            if item.condition is not None:
                fixed = Scope(self.main, Allowed.NOTHING)
                condition = self.expressions.condition(item.condition, fixed)
            if (amount is None) != (item.pool is None):
                return None
            if (condition is None) != (item.condition is None):
                return None
        elif item.pool is not None:
            self.sink.report(
                codes.MISPLACED,
                item.what.span,
                "all that was taken is given back, so that an amount says nothing",
                hint=f"write `give {item.pool.text}`",
            )
            return None
        if pool is None:
            return None
        return ir.PoolMark(
            point=ir.PoolPoint.TAKEN if is_taken else ir.PoolPoint.GIVEN,
            node=pool[0],
            resource=pool[1],
            span=item.span,
            amount=amount,
            condition=condition,
        )

    def _pool(self, item: ast.Take | ast.Give, node: str | None) -> tuple[str, str] | None:
        """Return the node and the resource that are meant."""
        word = "take" if isinstance(item, ast.Take) else "give"
        name = item.pool
        if name is None:
            if not isinstance(item.what, ast.Reference):
                written = " ".join(item.what.span.text.split())
                self.sink.report(
                    codes.MISSING_PART,
                    item.span,
                    f"this does not say of which pool `{written}` is",
                    hint=f"write `take {written} of memory`, or the name of a pool, `{word} threads`",
                )
                return None
            name = item.what.name
        if len(name.parts) == 1:
            return None if node is None else (node, name.text)
        owner, rest = owner_in(self.main, name)
        if owner is not None and isinstance(owner.declaration, ast.Node) and len(rest) == 1:
            return owner.qualified, rest[0]
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"`{name.text}` is no pool of a node",
            hint=f"name the node and its pool, such as `{word} db.connections`; one of the "
            f"machine where this stands is `{word} threads`",
        )
        return None


class _Level(Struct, frozen=True):
    """The way itself, or a call on it: what is held there, and what was given back there."""

    call: ir.Call | None = None
    held: dict[str, ir.PoolMark] = field(default_factory=dict)
    given: dict[str, ir.PoolMark] = field(default_factory=dict)


def check_pools(sink: Sink, legs: Iterable[ir.Leg]) -> None:
    """Report what is given back twice, never, or without having been taken."""
    levels = [_Level()]
    for leg in legs:
        if isinstance(leg, ir.CallMark):
            if leg.point is ir.CallPoint.BEGINS:
                levels.append(_Level(leg.call))
            elif leg.point is ir.CallPoint.ENDS:
                _never_given(sink, levels.pop())
        elif isinstance(leg, ir.PoolMark):
            _passed(sink, levels, leg)
        elif isinstance(leg, ir.Visit):
            held = [mark for level in levels for mark in level.held.values()]
            for step in leg.steps if held else ():
                _no_copies(sink, step, held[0])
    for level in levels:
        _never_given(sink, level)


def _passed(sink: Sink, levels: list[_Level], mark: ir.PoolMark) -> None:
    here, *outside = reversed(levels)
    if mark.point is ir.PoolPoint.TAKEN:
        held = next((one.held[mark.pool] for one in levels if mark.pool in one.held), None)
        if held is None:
            here.held[mark.pool] = mark
            return
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"`{mark.pool}` is taken again by what holds some of it: where all of it is held so, "
            "nobody goes on",
            secondary=[Label(held.span, "held since here")],
            hint="take all that is needed at once: `take 2 connection of connections`; or give it "
            "back before",
        )
        return
    if mark.pool in here.held:
        here.given[mark.pool] = mark
        del here.held[mark.pool]
        return
    taken = next((one.held[mark.pool] for one in outside if mark.pool in one.held), None)
    if taken is not None:
        assert here.call is not None
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"`{mark.pool}` is given back within the call of `{here.call.node}`, but was taken "
            "outside of it",
            secondary=[Label(taken.span, "taken here")],
            hint="give it back behind the call, or take it within",
        )
        return
    before = here.given.get(mark.pool)
    sink.report(
        codes.STREAM_ORDER,
        mark.span,
        f"`{mark.pool}` is given back {'twice' if before else 'but was not taken'}",
        secondary=[Label(before.span, "the first time")] if before else [],
        hint="take this out" if before else f"write `take {mark.resource}` before it",
    )


def _never_given(sink: Sink, level: _Level) -> None:
    for mark in level.held.values():
        where = "the stream ends" if level.call is None else f"`{level.call.node}` has answered"
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"`{mark.pool}` is never given back: {where}, and it is still held",
            hint=f"write `give {mark.resource}` where it is free again; what every flow keeps for "
            "good is a cost: `component session { memory 2 MB }`",
        )


def _no_copies(sink: Sink, step: ir.Step, held: ir.PoolMark) -> None:
    """Report a step of which other flows come than hold something."""
    spread = step.spread
    if spread is not None and spread.kind is not ir.SpreadKind.ONE:
        what, hint = "copies go different ways", "give it back before they are sent"
    elif any(effect.kind in _CHANGING for effect in step.component.effects):
        what, hint = "the flows become others", "give it back before, or take it behind"
    else:
        return
    sink.report(
        codes.STREAM_ORDER,
        step.span,
        f"{what} here while `{held.pool}` is held: which of them gives it back?",
        secondary=[Label(held.span, "held since here")],
        hint=hint,
    )
