"""Steps that take some of a pool: is it a pool, and is the amount one of it?"""

from __future__ import annotations

from qps.compiler import ir
from qps.compiler.configure.missing_items import ItemUse, MissingItems
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.suggest import did_you_mean
from qps.compiler.quantities.dimension import INFORMATION, Dimension


def check_take(
    mark: ir.PoolMark, machine: ir.Machine, stream: ir.Stream, missing: MissingItems, sink: Sink
) -> None:
    """Report what a stream takes of something that is no pool, or in another measure."""
    resource = machine.resource(mark.resource)
    stores = [r.name for r in machine.resources if r.kind is ir.ResourceKind.STORE]
    if resource is None:
        sink.report(
            codes.NO_RESOURCE,
            mark.span,
            f"node `{mark.node}` ({machine.name}) has no `{mark.resource}` to take",
            hint=did_you_mean(mark.resource, stores)
            or (
                f"add a pool to machine `{machine.name}`, such as `{mark.resource} 200 "
                "thread`, or name a pool of another node: `take db.connections`"
            ),
        )
    elif resource.kind is not ir.ResourceKind.STORE:
        is_processor = resource.kind is ir.ResourceKind.PROCESSOR
        pool = "threads" if is_processor else resource.name
        such = f"{pool} 200 {pool.removesuffix('s')}"
        sink.report(
            codes.WRONG_KIND,
            mark.span,
            f"`{mark.pool}` has a speed and cannot be taken",
            secondary=[Label(resource.span, "declared here")],
            hint=f"a pool has items or bytes, such as `{such}`; use a component for "
            "service demands",
        )
    else:
        _check_amount(mark, resource, sink)
        if not stream.emission.items:
            message = f"items take `{mark.pool}`, but `{stream.name}` has only bytes"
            missing.ask("request", ItemUse(mark.span, message, "taken by each item"))


def _check_amount(mark: ir.PoolMark, resource: ir.Resource, sink: Sink) -> None:
    """Report an amount that is none of the pool, and bytes of which nobody says how many."""
    wanted = resource.capacity.dimension
    if mark.amount is None and not wanted.is_item:
        sink.report(
            codes.MISSING_PART,
            mark.span,
            f"the amount of `{mark.pool}` to take is missing",
            hint=f"write `take {mark.resource} 300 MB`",
        )
    elif mark.amount is not None and mark.amount.dimension != wanted:
        sink.report(
            codes.WRONG_DIMENSION,
            mark.amount.span,
            f"`{mark.pool}` holds {wanted.in_words}, not {mark.amount.dimension.in_words}",
            secondary=[Label(resource.span, "declared here")],
            hint=f"write an amount such as `take {mark.resource} {_some_of(wanted)}`",
        )


def _some_of(dimension: Dimension) -> str:
    """Return an example of so much of a pool."""
    return "300 MB" if dimension == INFORMATION else f"2 {dimension.single_base}"
