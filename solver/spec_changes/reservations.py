"""A share that is reserved for one stream: units of a pool, or cores that others leave free.

Where streams share a pool, the one that limits gets some units of its own. Where they share cores,
the work of another stream is limited to so many items at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import TextEdit, replacement
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit

_COUNTED = re.compile(r"([\d_]+)\s+(\w+)")
"""A number of things with their unit: `50 thread`."""
_LEAST = 2
"""Units of which some can be reserved."""


def reservations(limited: Limited) -> Iterator[SpecEdit]:
    """Yield what can be reserved for the stream whose latency limits."""
    for name in limited.waiting[:1]:
        yield from _own_units(limited, name)
        yield from _limited_work(limited, name)


def _machine(limited: Limited, node: str) -> ast.Machine | None:
    """Return the machine at a node as the spec itself states it."""
    placed = limited.configuration.nodes.get(node)
    machines = limited.spec.program.main.syntax.every(ast.Machine)
    return next((one for one in machines if placed and one.name.text == placed.machine), None)


def _resource(machine: ast.Machine, name: str) -> ast.ResourceItem | None:
    return next((one for one in machine.resources if one.name.text == name), None)


def _stated(limited: Limited, item: ast.ResourceItem) -> tuple[int, str] | None:
    """Return how many units a resource has, and the unit: as it is written, or as a parameter is.

    None where that is no plain number.
    """
    text = item.capacity.span.text
    parameters = limited.spec.program.main.syntax.every(ast.Param)
    stated = next((one for one in parameters if one.name.text == text), None)
    if stated is not None and isinstance(stated.value, ast.Written):
        text = stated.value.span.text
    found = _COUNTED.fullmatch(text)
    return None if found is None else (int(found[1].replace("_", "")), found[2])


# -- units of a pool -------------------------------------------------------------------------


def _own_units(limited: Limited, name: str) -> Iterator[SpecEdit]:
    """Yield some units of each pool that a stream shares with others, for it alone."""
    stream, written = _stream(limited, name), limited.written_stream(name)
    if written is None:
        return
    for pool in dict.fromkeys((mark.node, mark.resource) for mark in stream.pools):
        is_shared = any(
            (mark.node, mark.resource) == pool
            for other in limited.model.streams
            if other.name != name and other.name in limited.graph.streams
            for mark in other.pools
        )
        machine = _machine(limited, pool[0]) if is_shared else None
        item = None if machine is None else _resource(machine, pool[1])
        stated = None if item is None else _stated(limited, item)
        if item is None or stated is None or stated[0] < _LEAST:
            continue
        own = f"{name}_{pool[1]}"
        marks = [
            replacement(span, own if "." not in span.text else f"{pool[0]}.{own}")
            for span in _pool_names(written, pool)
        ]
        many, unit = stated
        for reserved in sorted({max(1, many // 4), many // 2}):
            left = f"{item.capacity.span.text} - {reserved} {unit}"
            if _COUNTED.fullmatch(item.capacity.span.text):
                left = f"{many - reserved} {unit}"
            rest = f"{left}; {own} {reserved} {unit}"
            yield SpecEdit(
                method=RewriteMethod.OWN_UNITS,
                kind=ChangeKind.RESERVATION,
                name=f"{pool[0]}.{pool[1]}",
                parts=(name, str(reserved), str(many), f"{pool[0]}.{pool[1]}"),
                edits=(_in_its_place(item, rest), *marks),
            )


def _in_its_place(item: ast.ResourceItem, rest: str) -> TextEdit:
    """Return the edit of a capacity; what stands behind it on its statement goes with the first."""
    start, end = item.capacity.span.start, item.span.end
    tail = item.span.source.text[item.capacity.span.end : end]
    first, _, second = rest.partition("; ")
    return TextEdit(start, end, f"{first}{tail}; {second}{tail}")


def _pool_names(written: ast.Stream, pool: tuple[str, str]) -> list[Span]:
    """Return where a stream names a pool."""
    found: list[Span] = []
    for item in written.items:
        if isinstance(item, ast.At):
            found += _named_within(item.steps, item.node.text, pool)
    return found


def _named_within(
    steps: Sequence[ast.StepItem], node: str, pool: tuple[str, str]
) -> Iterator[Span]:
    for item in steps:
        if isinstance(item, ast.Take | ast.Give):
            named = item.pool.text if "." in item.pool.text else f"{node}.{item.pool.text}"
            if named == ".".join(pool):
                yield item.pool.span
        elif isinstance(item, ast.CallStep):
            yield from _named_within(item.steps, item.node.text, pool)
        elif isinstance(item, ast.Chance | ast.Together | ast.CallOthers):
            yield from _named_within(item.steps, node, pool)
        elif isinstance(item, ast.Alternatives):
            for branch in item.branches:
                yield from _named_within(branch.steps, node, pool)


# -- cores that others leave free ------------------------------------------------------------


def _limited_work(limited: Limited, name: str) -> Iterator[SpecEdit]:
    """Yield other streams of which so many items at a time may be at the cores that one shares."""
    met = sorted(limited.met_by(name), key=lambda one: -limited.utilizations.get(one, 0.0))
    for resource in met:
        node, _, own = resource.rpartition(".")
        found, machine = limited.resource(resource), _machine(limited, node)
        cores = None if found is None else found.capacity.expr
        if found is None or machine is None or found.kind is not ir.ResourceKind.PROCESSOR:
            continue
        item = _resource(machine, own)
        others = [one for one in limited.sharing(resource) if one not in limited.waiting]
        if item is None or not others or found.waits is None:
            continue
        if not isinstance(cores, ir.Constant) or cores.value < _LEAST:
            continue
        many = int(cores.value)
        for other in others:
            for most in sorted({1, many // 2}):
                change = _at_most(limited, machine, item, (node, other), (most, many), name)
                if change is not None:
                    yield change
        return


def _at_most(
    limited: Limited,
    machine: ast.Machine,
    item: ast.ResourceItem,
    of: tuple[str, str],
    units: tuple[int, int],
    beneficiary: str,
) -> SpecEdit | None:
    """Return the change that lets a stream take one of few places while it is at a node."""
    node, other = of
    most, many = units
    written, pool = limited.written_stream(other), f"{other}_slots"
    blocks = [
        block
        for block in (() if written is None else written.items)
        if isinstance(block, ast.At) and block.node.text == node and block.steps
    ]
    has_pool = any(one.name.text == pool for one in machine.resources)
    if len(blocks) != 1 or has_pool or not all(isinstance(s, ast.Step) for s in blocks[0].steps):
        return None
    first, last = blocks[0].steps[0].span, blocks[0].steps[-1].span
    added = TextEdit(item.span.end, item.span.end, f"; {pool} {most} connection")
    return SpecEdit(
        method=RewriteMethod.LIMITED_WORK,
        kind=ChangeKind.RESERVATION,
        name=other,
        parts=(other, str(most), str(many), f"{node}.{item.name.text}", beneficiary),
        edits=(
            added,
            TextEdit(first.start, first.start, f"take {pool}; "),
            TextEdit(last.end, last.end, f"; give {pool}"),
        ),
    )


def _stream(limited: Limited, name: str) -> ir.Stream:
    return next(one for one in limited.model.streams if one.name == name)
