"""Pools on the way of a stream: what is taken by one step and given back by a later one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.check.names.declarations import owner_in
from qps.compiler.check.names.name_recorder import Meaning
from qps.compiler.check.names.scope import AllowedNames, Scope
from qps.compiler.check.values.part import DeclarationChecker
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.fixits import instead, removal_hint
from qps.compiler.syntax import ast

_CHANGING = (ir.EffectKind.MERGE, ir.EffectKind.ACTIVE, ir.EffectKind.KEEP)
"""What makes other flows, or fewer, of those that hold something."""


class PoolChecker(DeclarationChecker, frozen=True):
    """Checks what is taken and given back."""

    def mark(self, item: ast.Take | ast.Give, node: str | None) -> ir.PoolMark | None:
        """Return what happens to a pool at a node; None where it was reported."""
        amount = condition = None
        pool = self._pool(item, node)
        if isinstance(item, ast.Give) and item.amount is not None:
            self.sink.report(
                codes.MISPLACED,
                item.amount.span,
                "`give` takes no amount: it returns all that was taken",
                hint=instead(item.span.text, f"give {item.pool.text}", at=item.span),
            )
        elif item.amount is not None:
            amount = self.expressions.quantity(
                item.amount, Scope(self.main, AllowedNames.POPULATION)
            )
        if isinstance(item, ast.Take) and item.condition is not None:
            fixed = Scope(self.main, AllowedNames.NOTHING)
            condition = self.expressions.condition(item.condition, fixed)
        if pool is None:
            return None
        return ir.PoolMark(
            point=ir.PoolPoint.TAKE if isinstance(item, ast.Take) else ir.PoolPoint.GIVE_BACK,
            node=pool[0],
            resource=pool[1],
            span=item.span,
            amount=amount,
            condition=condition,
        )

    def _pool(self, item: ast.Take | ast.Give, node: str | None) -> tuple[str, str] | None:
        """Return the node and the resource that are meant."""
        name = item.pool
        if len(name.parts) == 1:
            self.main.note(Meaning.RESOURCE, name)
            return None if node is None else (node, name.text)
        owner, rest = owner_in(self.main, name)
        if owner is not None and isinstance(owner.declaration, ast.Node) and len(rest) == 1:
            return owner.qualified, rest[0]
        word = "take" if isinstance(item, ast.Take) else "give"
        self.sink.report(
            codes.UNKNOWN_NAME,
            name.span,
            f"unknown pool `{name.text}`",
            hint=f"name the node and its pool: `{word} db.connections`; or a pool of this "
            f"node: `{word} threads`",
        )
        return None


def pool_items(item: ast.Written) -> Iterator[ast.Take | ast.Give]:
    """Yield what is taken and given back within a part of a stream, as it is written."""
    if isinstance(item, ast.Take | ast.Give):
        yield item
    if isinstance(item, ast.At | ast.CallStep | ast.CallOthers | ast.Together | ast.Chance):
        for step in item.steps:
            yield from pool_items(step)
    if isinstance(item, ast.Alternatives):
        for branch in item.branches:
            yield from pool_items(branch)


class _Level(Struct, frozen=True):
    """The way itself, or a call on it: what is held there, and what was given back there."""

    call: ir.Call | None = None
    open_holds: dict[str, list[ir.PoolMark]] = field(default_factory=dict)
    released: dict[str, ir.PoolMark] = field(default_factory=dict)


def check_pools(sink: Sink, legs: Iterable[ir.Leg]) -> None:
    """Report what is given back twice, never, or without having been taken."""
    levels = [_Level()]
    for leg in legs:
        if isinstance(leg, ir.CallMark):
            if leg.point is ir.CallPoint.BEGINS:
                levels.append(_Level(leg.call))
            elif leg.point is ir.CallPoint.ENDS:
                _report_never_released(sink, levels.pop())
        elif isinstance(leg, ir.PoolMark):
            _passed(sink, levels, leg)
        elif isinstance(leg, ir.Visit):
            held = next(
                (marks[0] for one in levels for marks in one.open_holds.values() if marks), None
            )
            for step in leg.steps if held is not None else ():
                assert held is not None
                _no_copies(sink, step, held)
    for level in levels:
        _report_never_released(sink, level)


def _passed(sink: Sink, levels: list[_Level], mark: ir.PoolMark) -> None:
    here, *outside = reversed(levels)
    if mark.point is ir.PoolPoint.TAKE:
        held = _holding(levels, mark)
        here.open_holds.setdefault(mark.pool, []).append(mark)
        if held is None:
            return
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"possible deadlock: `{mark.pool}` is taken again while it is held",
            secondary=[Label(held.span, "taken here")],
            hint="take the full amount at once: `take connections 2 connection`; or `give` it "
            "back first",
        )
        return
    if here.open_holds.get(mark.pool):
        here.released[mark.pool] = mark
        here.open_holds[mark.pool].pop()
        return
    taken = _holding(outside, mark)
    if taken is not None:
        assert here.call is not None
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"`{mark.pool}` is given back inside the call of `{here.call.node}` but was "
            "taken outside",
            secondary=[Label(taken.span, "taken here")],
            hint="move `give` after the call, or `take` inside it",
        )
        return
    before = here.released.get(mark.pool)
    sink.report(
        codes.STREAM_ORDER,
        mark.span,
        f"`{mark.pool}` is given back {'twice' if before else 'but was never taken'}",
        secondary=[Label(before.span, "first given back here")] if before else [],
        hint=removal_hint(mark.span, "remove this")
        if before
        else f"write `take {mark.resource}` before it",
    )


def _holding(levels: Iterable[_Level], mark: ir.PoolMark) -> ir.PoolMark | None:
    """Return where the same pool was taken that is held still."""
    return next(
        (one.open_holds[mark.pool][0] for one in levels if one.open_holds.get(mark.pool)), None
    )


def _report_never_released(sink: Sink, level: _Level) -> None:
    for mark in (mark for marks in level.open_holds.values() for mark in marks):
        where = (
            "it is still held at the end of the stream"
            if level.call is None
            else f"it is still held after `{level.call.node}` answers"
        )
        sink.report(
            codes.STREAM_ORDER,
            mark.span,
            f"`{mark.pool}` is never given back: {where}",
            hint=f"write `give {mark.resource}` where it is released; for memory of every "
            "flow, `component session { memory 2 MB }`",
        )


def _no_copies(sink: Sink, step: ir.Step, mark: ir.PoolMark) -> None:
    """Report a step of which other flows come than hold something."""
    spread = step.spread
    if spread is not None and spread.kind is not ir.SpreadKind.ONE:
        what, hint = "copies take different routes", "move `give` before the send"
    elif any(effect.kind in _CHANGING for effect in step.component.effects):
        what, hint = "flows are merged or split", "move `give` before this, or `take` after it"
    else:
        return
    sink.report(
        codes.STREAM_ORDER,
        step.span,
        f"{what} while `{mark.pool}` is held: its release is ambiguous",
        secondary=[Label(mark.span, "taken here")],
        hint=hint,
    )
