"""What no stream reaches or loads: its limits would silently be none."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.check.model.dangling_references import everything_in
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Sink
from qps.compiler.diagnostics.source import Span

_NONE = ir.Constant(Fraction(0))


def report_unreached(
    sink: Sink,
    nodes: dict[str, ir.Node],
    links: dict[str, ir.Link],
    streams: Sequence[ir.Stream],
) -> None:
    """Warn of nodes that no stream visits and links that none crosses.

    A node that another place or a formula counts on (`count(node)`) is reached by no stream all
    the same: what it has is never loaded.
    """
    visited, crossed = _reached(streams)
    for node in nodes.values():
        if node.name not in visited and node.count != _NONE:
            _warn(
                sink,
                node.span,
                f"no stream visits node `{node.name}`",
                f"add `at {node.name} {{ … }}` to a stream, or remove the node",
            )
    for link in links.values():
        if link.name not in crossed:
            ends = ", ".join(link.ends)
            _warn(
                sink,
                link.span,
                f"no stream crosses link `{link.name}`",
                f"add a stream between its ends ({ends}), or remove the link",
            )


def report_unloaded(sink: Sink, machines: Sequence[ir.Machine], model: ir.Model) -> None:
    """Warn of resources that no step loads wherever their machine stands, or is put by a change.

    What stands nowhere is no mistake, nor is a machine of which nothing is loaded, that only sends
    or receives; what is always there (`idle`) is a load of its own.
    """
    placed = _placed(model)
    for name in list(placed):  # what stands somewhere counts for all that it is made of
        for parent in model.machines[name].family if name in model.machines else ():
            placed[parent] = placed.get(parent, set()) | placed[name]
    loaded = _loaded(model.streams)
    for machine in machines:
        nodes = placed.get(machine.name, set())
        used = {r.name for r in machine.resources if any((n, r.name) in loaded for n in nodes)}
        for resource in machine.resources if used else ():
            if resource.name not in used and resource.idle is None and _is_own(machine, resource):
                _warn(
                    sink,
                    resource.span,
                    f"no component uses `{resource.name}` of machine `{machine.name}`",
                    _to_load(resource),
                )


def _to_load(resource: ir.Resource) -> str:
    """Return how something comes to be loaded: a pool is taken of, too."""
    cost = f"add a service demand, `component … {{ {resource.name} … }}`, or remove it"
    if resource.kind is not ir.ResourceKind.STORE:
        return cost
    return f"add `take {resource.name}` and `give {resource.name}` to a stream, or {cost}"


def _is_own(machine: ir.Machine, resource: ir.Resource) -> bool:
    """Return whether a machine states a resource itself: its parent's is reported at its parent."""
    return not machine.origins or machine.origins[0][0].holds(resource.span)


def _placed(model: ir.Model) -> dict[str, set[str]]:
    """Return the nodes at which each machine stands, as it is declared or by any change."""
    placed: dict[str, set[str]] = {}
    for node in model.nodes:
        placed.setdefault(node.machine, set()).add(node.name)
    changing = (model.scenarios, model.modes, model.matrices, model.choices)
    claiming = (model.expectations, model.observations, model.figures)
    for part in everything_in((*changing, *claiming)):
        if isinstance(part, ir.SetPlace):
            placed.setdefault(part.kind, set()).add(part.name)
    return placed


def _loaded(streams: Sequence[ir.Stream]) -> set[tuple[str, str]]:
    """Return the resources that steps load, with the nodes at which they do."""
    return {
        (leg.node, cost.resource)
        for stream in streams
        for leg in stream.legs
        if isinstance(leg, ir.Visit)
        for step in leg.steps
        for cost in step.component.costs
    } | {
        (leg.node, leg.resource)
        for stream in streams
        for leg in stream.legs
        if isinstance(leg, ir.PoolMark)
    }


def _reached(streams: Sequence[ir.Stream]) -> tuple[set[str], set[str]]:
    """Return the names of the nodes and of the links that streams reach."""
    visited: set[str] = set()
    crossed: set[str] = set()
    for stream in streams:
        if isinstance(stream.flows_from, str):
            visited.add(stream.flows_from)
        if isinstance(stream.flows_from, ir.EachPair) and stream.flows_from.node is not None:
            visited.add(stream.flows_from.node)
        for leg in stream.legs:
            if isinstance(leg, ir.Crossing):
                crossed.add(leg.link)
            elif isinstance(leg, ir.Visit):
                visited.add(leg.node)
    return visited, crossed


def _warn(sink: Sink, span: Span, message: str, hint: str) -> None:
    sink.report(codes.UNUSED, span, message, hint=hint)
