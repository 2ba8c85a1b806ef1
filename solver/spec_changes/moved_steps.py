"""Demand moved to where there is room: a step to another machine, or a call of another one.

A step may move that only works, on resources that the other machine has, too: what it changes of
the stream stays what it is. It goes to a machine that the same request comes to, or to one that a
link joins, which is called for it; a call may go to another node behind a link.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import TextEdit, replacement
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit
from qps.solver.spec_changes.statement_edits import removal

_MOST_STEPS, _MOST_PLACES = 2, 2
"""Steps that are moved, those that load the resource most, and places of each, the idlest ones."""
_WORKING = (ir.ResourceKind.PROCESSOR, ir.ResourceKind.RATE)


class _Placed(Struct, frozen=True, kw_only=True):
    """A step that may move, and what is around it: its block, its call and its stream."""

    step: ast.Step
    block: ast.At | ast.CallStep
    caller: str
    """The node that makes the call around it, the node itself outside of calls."""
    stream: ast.Stream
    resources: frozenset[str]


def moved_steps(limited: Limited) -> Iterator[SpecEdit]:
    """Yield steps of the resource that is full, each at another machine."""
    full = None if limited.waiting else limited.full  # a wait is scheduled
    resource = None if full is None else limited.resource(full)
    if full is None or resource is None or resource.kind not in _WORKING:
        return
    node = full.rpartition(".")[0]
    shares = next((one.shares for one in limited.solution.resources if one.name == full), {})
    placed = [one for one in _steps(limited, node) if resource.name in one.resources]
    placed.sort(key=lambda one: -shares.get(one.step.component.text, 0.0))
    for one in placed[:_MOST_STEPS]:
        places = sorted(
            _places(limited, one, node),
            key=lambda change: limited.utilizations.get(change.to or "", 0.0),
        )
        # Of each way to the same place the first one will do.
        by_place = {change.to: change for change in reversed(places)}
        yield from [change for change in places if by_place[change.to] is change][:_MOST_PLACES]


def _places(limited: Limited, one: _Placed, node: str) -> Iterator[SpecEdit]:
    """Yield the changes that move a step to other machines, each once."""
    own = (one.step.component.text, one.stream.name.text, node)
    resource = (limited.full or "").rpartition(".")[2]
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
    found = [limited.resource_at(place, name) for name in resources]
    return all(one is not None and one.kind in _WORKING for one in found)


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
