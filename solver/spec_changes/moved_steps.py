"""Demand moved to where there is room: a step to another machine, or a call of another one.

A step may move that only works, on resources that the other machine has, too: what it changes of
the stream stays what it is. It goes to a machine that the same request comes to, or to one that a
link joins, which is called for it; a call may go to another node behind a link. Where several
resources are about as full as the one that limits, a step of each is moved in one change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import TextEdit, replacement
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.spec_changes.machine_room import MachineRoom
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit
from qps.solver.spec_changes.statement_edits import removal

_MOST_STEPS, _MOST_PLACES = 2, 2
"""Steps that are moved, those that load the resource most, and places of each with most room."""
_TIGHT_SHARE = 0.9
"""Part of a utilization from which on another resource is about as full."""
_WORKING = (ir.ResourceKind.PROCESSOR, ir.ResourceKind.RATE)


class _Placed(Struct, frozen=True, kw_only=True):
    """A step that may move, and what is around it: its block, its call and its stream."""

    step: ast.Step
    block: ast.At | ast.CallStep
    caller: str
    """The node that makes the call around it, the node itself outside of calls."""
    stream: ast.Stream
    resources: frozenset[str]


class _Move(Struct, frozen=True, kw_only=True):
    """A change that moves a step, and the share of what loads its resource."""

    change: SpecEdit
    share: float


def moved_steps(limited: Limited) -> Iterator[SpecEdit]:
    """Yield steps of the resource that is full, or busiest where some wait, at other machines."""
    tight = list(_tight(limited))
    if not tight or not all(_works(limited, name) for name in tight):
        return
    room = MachineRoom(limited)
    if len(tight) > 1:
        yield from _together(limited, tight, MachineRoom(limited))
    yield from (one.change for one in _moves(limited, tight[0], room))


def _tight(limited: Limited) -> Iterator[str]:
    """Yield the resource that is full, or busiest, and those that are about as full."""
    full = limited.full
    if full is None:
        return
    yield full
    near = _TIGHT_SHARE * limited.utilizations.get(full, 0.0)
    met = dict.fromkeys(name for one in limited.waiting for name in limited.met_by(one))
    others = met if limited.waiting else limited.utilizations
    for name in others:
        if name != full and limited.utilizations.get(name, 0.0) >= near:
            yield name


def _moves(limited: Limited, resource: str, room: MachineRoom) -> list[_Move]:
    """Return the changes that move a step of a resource, those that load it most first.

    Of each step, the places come first that are least utilized with it.
    """
    node, _, own = resource.rpartition(".")
    shares = next((one.shares for one in limited.solution.resources if one.name == resource), {})
    placed = [one for one in _steps(limited, node) if own in one.resources]
    placed.sort(key=lambda one: -shares.get(one.step.component.text, 0.0))
    found: list[_Move] = []
    for one in placed[:_MOST_STEPS]:
        share = shares.get(one.step.component.text, 0.0)
        # Of each way to the same place the first one will do.
        by_place: dict[str, SpecEdit] = {}
        for change in _places(limited, one, resource):
            by_place.setdefault(change.to or "", change)
        roomy = sorted(by_place, key=lambda to: room.with_moved(share, resource, to))
        found += [_Move(change=by_place[to], share=share) for to in roomy[:_MOST_PLACES]]
    return found


def _together(limited: Limited, tight: Sequence[str], room: MachineRoom) -> Iterator[SpecEdit]:
    """Yield one change that moves a step of each resource, as far as that can be written.

    Each goes where there is most room with those that were moved before.
    """
    made: list[SpecEdit] = []
    for resource in tight:
        moves = _moves(limited, resource, room)
        move = next((one for one in moves if _is_apart(one.change.edits, made)), None)
        if move is None:
            return
        made.append(move.change)
        room.move(move.share, resource, move.change.to or "")
    first = made[0]
    yield SpecEdit(
        method=RewriteMethod.MOVED_TOGETHER,
        kind=ChangeKind.SHIFT,
        name=first.name,
        parts=tuple(part for one in made for part in (one.method.value, *one.parts)),
        edits=tuple(edit for one in made for edit in one.edits),
        to=first.to,
    )


def _is_apart(edits: Sequence[TextEdit], others: Sequence[SpecEdit]) -> bool:
    """Return whether edits change no text that other changes edit."""
    return all(
        one.end < other.start or other.end < one.start
        for one in edits
        for change in others
        for other in change.edits
    )


def _places(limited: Limited, one: _Placed, full: str) -> Iterator[SpecEdit]:
    """Yield the changes that move a step to other machines, each once."""
    node, _, resource = full.rpartition(".")
    own = (one.step.component.text, one.stream.name.text, node)
    for place in limited.configuration.nodes:
        if place == node or not _has(limited, place, one.resources):
            continue
        change = (
            _to_visit(one, place)
            or _to_caller(one, place)
            or _of_call(limited, one, place)
            or _called(limited, one, place)
        )
        if change is not None:
            method, edits = change
            yield SpecEdit(
                method=method,
                kind=ChangeKind.SHIFT,
                name=own[0],
                parts=(*own, place),
                edits=edits,
                to=f"{place}.{resource}",
            )


_Change = tuple[RewriteMethod, tuple[TextEdit, ...]]


def _to_visit(one: _Placed, place: str) -> _Change | None:
    """Return the change that moves a step to another node on the way of its stream."""
    if not isinstance(one.block, ast.At):
        return None
    there = next(
        (
            item
            for item in one.stream.items
            if isinstance(item, ast.At) and item.node.text == place and item.condition is None
        ),
        None,
    )
    if there is None:
        return None
    return RewriteMethod.MOVED_STEP, (removal(one.step.span), _appended(there, one.step.span.text))


def _to_caller(one: _Placed, place: str) -> _Change | None:
    """Return the change that moves a step out of a call, to the node that makes it once."""
    call = one.block
    if not isinstance(call, ast.CallStep) or place != one.caller:
        return None
    if call.times is not None or call.condition is not None:
        return None
    if len(call.steps) == 1:  # nothing is left to call for
        return RewriteMethod.MOVED_STEP, (replacement(call.span, one.step.span.text),)
    end = call.span.end
    behind = TextEdit(end, end, f"; {one.step.span.text}")
    return RewriteMethod.MOVED_STEP, (removal(one.step.span), behind)


def _of_call(limited: Limited, one: _Placed, place: str) -> _Change | None:
    """Return the change that calls another node for all that is done in a call."""
    call = one.block
    if not isinstance(call, ast.CallStep) or len(call.links) > 1:
        return None
    links = _links_between(limited, one.caller, place)
    if len(links) != 1 or any(link.text not in links for link in call.links):
        return None
    return RewriteMethod.MOVED_CALL, (replacement(call.node.span, place),)


def _called(limited: Limited, one: _Placed, place: str) -> _Change | None:
    """Return the change that calls another node for a step."""
    if limited.is_of_users(place) or not isinstance(one.block, ast.At):
        return None
    if len(_links_between(limited, one.block.node.text, place)) != 1:
        return None
    step = one.step.span
    return RewriteMethod.CALLED_STEP, (replacement(step, f"call {place} {{ {step.text} }}"),)


def _appended(block: ast.At, statement: str) -> TextEdit:
    """Return the edit that writes a statement at the end of a block."""
    if block.steps:
        end = block.steps[-1].span.end
        return TextEdit(end, end, f"; {statement}")
    end = block.span.end - 1
    text = block.span.source.text
    before = "" if text[end - 1] in " \t\n" else " "
    return TextEdit(end, end, f"{before}{statement} ")


def _has(limited: Limited, place: str, resources: frozenset[str]) -> bool:
    """Return whether the machine at a node has resources that work."""
    return all(_works(limited, f"{place}.{name}") for name in resources)


def _works(limited: Limited, resource: str) -> bool:
    own = limited.resource(resource)
    return own is not None and own.kind in _WORKING


def _links_between(limited: Limited, one: str, other: str) -> list[str]:
    links = limited.configuration.links.values()
    return [link.name for link in links if {one, other} <= set(link.ends)]


# -- which steps may move --------------------------------------------------------------------


def _steps(limited: Limited, node: str) -> Iterator[_Placed]:
    """Yield the steps at a node that only work, in the streams that the spec itself states."""
    known = _by_place(limited)
    for stream in limited.spec.program.main.syntax.every(ast.Stream):
        if stream.name.text not in limited.graph.streams or stream.index is not None:
            continue
        for item in stream.items:
            if isinstance(item, ast.At):
                for step, block, caller in _within(item, item.node.text, item.node.text):
                    here = block.node.text
                    steps = known.get(step.component.span.start, ())
                    if here == node and steps and all(map(_only_works, steps)):
                        resources = {cost.resource for s in steps for cost in s.component.costs}
                        yield _Placed(
                            step=step,
                            block=block,
                            caller=caller,
                            stream=stream,
                            resources=frozenset(resources),
                        )


def _within(
    block: ast.At | ast.CallStep, caller: str, node: str
) -> Iterator[tuple[ast.Step, ast.At | ast.CallStep, str]]:
    """Yield the steps in a block and in its calls, but those that are done by chance."""
    for item in block.steps:
        if isinstance(item, ast.Step):
            yield item, block, caller
        elif isinstance(item, ast.CallStep):
            yield from _within(item, node, item.node.text)


def _by_place(limited: Limited) -> Mapping[int, Sequence[ir.Step]]:
    """Return the steps of the model by where they stand in the text of the spec itself."""
    found: dict[int, list[ir.Step]] = {}
    for stream in limited.model.streams:
        for leg in stream.legs:
            for step in leg.steps if isinstance(leg, ir.Visit) else ():
                if step.span.source is limited.source:
                    found.setdefault(step.span.start, []).append(step)
    return found


def _only_works(step: ir.Step) -> bool:
    """Return whether a step does nothing to its stream but to take time."""
    is_plain = step.spread is None and step.group is None and bool(step.component.costs)
    return is_plain and all(one.kind is ir.EffectKind.DELAY for one in step.component.effects)
