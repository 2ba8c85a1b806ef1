"""How much single requests vary, by the names of a spec: they distinguish drift from chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import sqrt

from msgspec import Struct

from qps.compiler.measurement.traces.call_graph import CallVariances, TracedCall
from qps.reports.text.systems.observed_system import System
from qps.reports.text.systems.system_names import calls_below

Path = tuple[str, ...]


class Spreads(Struct, frozen=True, kw_only=True):
    """Variances of calls by their path, relative deviations of elapsed times by component.

    A request that was counted stands for `weight` of them.
    """

    weight: float = 1.0
    calls: Mapping[Path, CallVariances] = {}
    elapsed: Mapping[str, float] = {}


def spreads_of(system: System) -> Spreads:
    """Return those of a system."""
    calls: dict[Path, CallVariances] = {}
    elapsed: dict[str, list[tuple[float, float, float]]] = {}
    for path, call in _paths(system):
        calls.setdefault(path, call.variances)
        if call.own is not None:
            mean = call.own + (call.network or 0.0)
            squares = call.variances.own + call.variances.network
            name = system.names.components[call.key]
            elapsed.setdefault(name, []).append((call.count, mean, squares))
    return Spreads(
        weight=system.graph.weight,
        calls=calls,
        elapsed={name: _relative(of) for name, of in elapsed.items()},
    )


def _relative(of: list[tuple[float, float, float]]) -> float:
    """Return the deviation of a mixture over its mean, 0 of nothing."""
    total = sum(count for count, _, _ in of)
    mean = sum(count * one for count, one, _ in of) / total
    squares = sum(count * (variance + one**2) for count, one, variance in of) / total
    return sqrt(max(0.0, squares - mean**2)) / mean if mean > 0 else 0.0


def _paths(system: System) -> Iterator[tuple[Path, TracedCall]]:
    for name, route in zip(system.names.streams, system.graph.routes, strict=True):
        todo: list[tuple[Path, TracedCall]] = [((name,), route.root)]
        while todo:
            path, call = todo.pop()
            yield path, call
            todo += [((*path, system.names.components[one.key]), one) for one in calls_below(call)]
