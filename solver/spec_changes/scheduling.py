"""Who is served when: priorities, a shared processor in place of a queue, arrivals at even times.

It is tried where the latency of some stream limits, at the resources that it shares with others.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.quantities.disciplines import Discipline, Service
from qps.compiler.syntax import ast
from qps.compiler.syntax.text_edits import TextEdit, replacement
from qps.solver.answers.answer_parts import ChangeKind, RewriteMethod
from qps.solver.spec_changes.spec_edit import Limited, SpecEdit
from qps.solver.spec_changes.statement_edits import line_behind, line_in_front


def scheduling_changes(limited: Limited) -> Iterator[SpecEdit]:
    """Yield the ways to serve what limits before others, or beside them."""
    shared = [name for name in _queues_of(limited) if _others(limited, name)]
    for resource in shared[:1]:
        yield from _first(limited, resource)
    for resource in _queues_of(limited)[:1]:
        yield from _processor_sharing(limited, resource)
    for resource in shared[:1]:
        yield from _paced(limited, resource)


def _queues_of(limited: Limited) -> list[str]:
    """Return the resources with a queue that the waiting streams meet, the busiest first."""
    met = dict.fromkeys(name for stream in limited.waiting for name in limited.met_by(stream))
    queued = [name for name in met if _queueing(limited, name) is not None]
    return sorted(queued, key=lambda name: -limited.utilizations.get(name, 0.0))


def _others(limited: Limited, resource: str) -> list[str]:
    return [name for name in limited.sharing(resource) if name not in limited.waiting]


def _place(limited: Limited, resource: str) -> str:
    """Return what a `queueing` line calls a resource: of a port, its link."""
    place = limited.graph.network.place_of(resource)
    return place if place in limited.configuration.links else resource


def _queueing(limited: Limited, resource: str) -> ir.Queueing | None:
    """Return how what arrives at a resource waits; None where it does not, or is lost."""
    place = _place(limited, resource)
    link = limited.configuration.links.get(place)
    if link is not None:
        network = ir.network_at(limited.model, link)
        found = None if network is None else network.waits
    else:
        own = limited.resource(resource)
        found = None if own is None else own.waits
    is_plain = found is not None and not (found.speeds or found.room or found.traits.loses)
    return found if is_plain else None


def _written(limited: Limited, resource: str, discipline: str) -> TextEdit | None:
    """Return the edit that states a discipline of one resource; None for no place to write it."""
    name, syntax = _place(limited, resource), limited.spec.program.main.syntax
    for stated in syntax.every(ast.DefaultQueueing):
        for wait in stated.waits:
            if wait.name.text == name:
                return replacement(wait.span, f"{name} {discipline}")
    topology = syntax.every(ast.Topology)
    if not topology:
        return None
    return line_behind(topology[-1].span, f"queueing {name} {discipline}")


# -- priorities ------------------------------------------------------------------------------


def _first(limited: Limited, resource: str) -> Iterator[SpecEdit]:
    """Yield the waiting streams before all others of a resource, with and without preemption."""
    queueing = _queueing(limited, resource)
    assert queueing is not None
    variation = _variation(queueing)
    if variation is None or queueing.discipline in (Discipline.QUOTA, Discipline.PERIODIC):
        return
    ranks = _ranks(limited, resource)
    if ranks is None:
        return
    is_port = _place(limited, resource) in limited.configuration.links
    own = limited.resource(resource)
    may_interrupt = not is_port and own is not None and own.kind is ir.ResourceKind.PROCESSOR
    if queueing.traits.has_ranks:
        if ranks:
            yield _change(limited, resource, RewriteMethod.PRIORITY, ranks)
        if may_interrupt and not queueing.is_preemptive:
            stated = _written(limited, resource, f"priority preemptive{variation}")
            if stated is not None:
                yield _change(limited, resource, RewriteMethod.PREEMPTION, (*ranks, stated))
        return
    ways = [(RewriteMethod.PRIORITY, "priority")]
    if may_interrupt:
        ways.append((RewriteMethod.PREEMPTION, "priority preemptive"))
    for method, word in ways:
        stated = _written(limited, resource, f"{word}{variation}")
        if stated is not None:
            yield _change(limited, resource, method, (*ranks, stated))


def _change(
    limited: Limited, resource: str, method: RewriteMethod, edits: tuple[TextEdit, ...]
) -> SpecEdit:
    return SpecEdit(
        method=method,
        kind=ChangeKind.SCHEDULING,
        name=resource,
        parts=(resource, *limited.waiting),
        edits=edits,
    )


def _variation(queueing: ir.Queueing) -> str | None:
    """Return the variation of service times as `priority` states it; None for no plain number."""
    if queueing.variation is not None:
        is_plain = isinstance(queueing.variation.expr, ir.Constant)
        return f" cv {queueing.variation.text}" if is_plain else None
    return " cv 0" if queueing.traits.variation == 0 else ""


def _ranks(limited: Limited, resource: str) -> tuple[TextEdit, ...] | None:
    """Return the edits that let the waiting streams go before all others; None where none do.

    They get priority 1; where another stream has that, all others go one step behind. There is
    nothing to edit where they go first as they are.
    """
    ranks = {one.name: _rank(one) for one in limited.model.streams}
    others = [rank for name in _others(limited, resource) if (rank := ranks[name]) is not None]
    own = [ranks[name] for name in limited.waiting]
    if all(rank is not None and all(rank < other for other in others) for rank in own):
        return ()
    wanted: dict[str, Fraction] = {name: Fraction(1) for name in limited.waiting}
    if 1 in others:
        later = {name: rank + 1 for name, rank in ranks.items() if rank is not None}
        wanted = later | wanted
    edits = [_ranked(limited, name, rank) for name, rank in wanted.items() if rank != ranks[name]]
    found = tuple(one for one in edits if one is not None)
    return found if len(found) == len(edits) else None


def _ranked(limited: Limited, name: str, rank: Fraction) -> TextEdit | None:
    """Return the edit that gives a stream a priority; None where the spec itself states none."""
    written = limited.written_stream(name)
    if written is None:
        return None
    stated = next((one for one in written.items if isinstance(one, ast.Rank)), None)
    if stated is None:
        return line_in_front(written.items[0].span, f"priority {rank}")
    return replacement(stated.span, f"priority {rank}")


def _rank(stream: ir.Stream) -> Fraction | None:
    """Return the priority of a stream, None where it has none that is a plain number."""
    stated = stream.priority
    return stated.expr.value if stated and isinstance(stated.expr, ir.Constant) else None


# -- sharing and pacing ----------------------------------------------------------------------


def _processor_sharing(limited: Limited, resource: str) -> Iterator[SpecEdit]:
    """Yield processor sharing in place of a queue that is served in turn."""
    queueing = _queueing(limited, resource)
    assert queueing is not None
    if queueing.traits.service is not Service.IN_TURN or not queueing.traits.is_random:
        return
    stated = _written(limited, resource, Discipline.PS.value)
    if stated is not None:
        yield SpecEdit(
            method=RewriteMethod.SHARING,
            kind=ChangeKind.SCHEDULING,
            name=resource,
            parts=(resource,),
            edits=(stated,),
        )


def _paced(limited: Limited, resource: str) -> Iterator[SpecEdit]:
    """Yield other streams without their bursts, where nothing is required of how long they take."""
    for name in _others(limited, resource):
        written, stream = limited.written_stream(name), _stream(limited, name)
        stated = stream.arrivals and stream.arrivals.expr
        if written is None or limited.has_requirement(name) or not isinstance(stated, ir.Constant):
            continue
        arrivals = next((one for one in written.items if isinstance(one, ast.Arrivals)), None)
        if stated.value > 1 and arrivals is not None:
            yield SpecEdit(
                method=RewriteMethod.PACING,
                kind=ChangeKind.SCHEDULING,
                name=name,
                parts=(name,),
                edits=(replacement(arrivals.span, "arrivals cv 1"),),
            )


def _stream(limited: Limited, name: str) -> ir.Stream:
    return next(one for one in limited.model.streams if one.name == name)
