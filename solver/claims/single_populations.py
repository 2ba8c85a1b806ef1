"""Changes of a claim that set a single population."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, changed


def at_one_population(
    base: Configuration, changes: Sequence[ir.Change]
) -> tuple[Configuration, int | None]:
    """Return the model as changed, and the one population to look at where one is set.

    One population is a point in the range, which stays as it is around it. A point that a
    scenario sets gives way to one that is set beside it.
    """
    own = [change for change in changes if not isinstance(change, ir.SetScenario)]
    points = [*_points(change for change in changes if change not in own), *_points(own)]
    widened = [_widened(change, base) for change in changes]
    return changed(base, widened), points[-1] if points else None


def _points(changes: Iterable[ir.Change]) -> Iterator[int]:
    """Yield the single populations that changes set, those of a scenario in its place."""
    for change in changes:
        if isinstance(change, ir.SetScenario):
            yield from _points(change.changes)
        elif isinstance(change, ir.SetPopulation) and change.low == change.high:
            yield change.low


def _widened(change: ir.Change, base: Configuration) -> ir.Change:
    """Return a change, a single population in it made the range around that."""
    if isinstance(change, ir.SetScenario):
        return replace(change, changes=tuple(_widened(inner, base) for inner in change.changes))
    if isinstance(change, ir.SetPopulation) and change.low == change.high:
        return replace(change, low=min(base.low, change.low), high=max(base.high, change.low))
    return change
