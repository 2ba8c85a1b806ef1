"""The streams of a spec: each kind of requests with all that it calls, as it was observed."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from msgspec import Struct

from qps.compiler.measurement.traces.call_graph import (
    CallGraph,
    CallGroup,
    Overlap,
    TracedCall,
    TracedRoute,
)
from qps.reports.text.systems.observed_system import comment
from qps.reports.text.systems.spec_numbers import amount, duration, percent, plain
from qps.reports.text.systems.system_names import SystemNames, all_calls
from qps.reports.text.words.phrases import phrase

_MOST_COPIES = 20
_WHOLE = 0.0005
"""How far a multiplier may be from a whole number that it is written as."""
DEFAULT_SIZE = 1000.0


class _Place(Struct, frozen=True, kw_only=True):
    """Where a call is written: the node, and by how much its caller's calls count there."""

    node: str
    times: float = 1.0
    indent: str = "    "


class StreamLines:
    """The streams of a graph."""

    def __init__(self, graph: CallGraph, names: SystemNames) -> None:
        self.graph = graph
        self.names = names
        self.size = mean_size(graph)

    def lines(self, number: int) -> Iterator[str]:
        """Yield the lines of one stream."""
        route = self.graph.routes[number]
        root = route.root
        node = self.names.nodes[root.service]
        yield from comment(self._described(route))
        if self.size is not None and route.root.returned is None and route.root.sent is None:
            yield from comment(phrase("system.size_question"))
        yield f"stream {self.names.streams[number]} for each user {{"
        size = "" if self.size is None else f", {plain(self._size(route))} byte/request"
        yield f"  traffic {self.names.streams[number]}_rate / traced / recorded_users{size}"
        yield f"  at {node} {{"
        yield f"    {self.names.components[root.key]}"
        yield from self._steps(root, _Place(node=node))
        yield "  }"
        yield "}"

    def _described(self, route: TracedRoute) -> str:
        """Return what was measured of a route, and what starts it."""
        root = route.root
        quantiles = (("p50", route.p50), ("p95", route.p95), ("p99", route.p99))
        times = [("mean", root.duration), *quantiles]
        shown = ", ".join(f"{name} {duration(value)}" for name, value in times if value)
        causes = ", ".join(self.names.streams[one.route] for one in route.messages)
        started = f"; {phrase('system.async', causes=causes)}" if causes else ""
        text = phrase("system.route", operation=root.operation, service=root.service, times=shown)
        return f"{text}{started}"

    def _size(self, route: TracedRoute) -> float:
        found = route.root.returned or route.root.sent or self.size
        return found or DEFAULT_SIZE

    def _steps(self, caller: TracedCall, place: _Place) -> Iterator[str]:
        for overlap in caller.overlaps:
            if not overlap.is_together:
                yield f"{place.indent}# {self._seen_together(overlap)}"
        for step in caller.steps:
            yield from self._step(caller, step, place)

    def _step(self, caller: TracedCall, step: CallGroup, place: _Place) -> Iterator[str]:
        """Yield the calls of a step: a share of requests is a block, but for one call."""
        only = step.together[0][0] if len(step.together) == len(step.together[0]) == 1 else None
        is_plain = only is not None and not only.is_fan_out and self._is_far(only, place)
        if step.share < 1 and only is not None and is_plain:
            if abs(only.count - only.callers) <= _WHOLE * only.count and not only.retries:
                yield from self._call(only, place, 1.0)
            else:
                yield from self._call(only, place, step.share, f"{percent(step.share)}: ")
            return
        is_block = step.share < 1
        inner = _Place(node=place.node, times=place.times, indent=place.indent + "  " * is_block)
        if is_block:
            yield f"{place.indent}{percent(step.share)}: {{"
        for group in step.together:
            if len(group) == 1 and not group[0].is_fan_out:
                yield from self._call(group[0], inner, step.share)
            else:
                yield from self._together(caller, group, step.share, inner)
        if is_block:
            yield f"{place.indent}}}"

    def _is_far(self, call: TracedCall, place: _Place) -> bool:
        return self.names.nodes[call.service] != place.node

    def _retry(self, call: TracedCall, place: _Place) -> str:
        """Return the parameter that says how many of a call's are retries."""
        found = (
            name
            for (caller, called), name in self.names.retries.items()
            if self.names.nodes[caller] == place.node and called == call.service
        )
        return next(found, "") if call.retries else ""

    def _together(
        self, caller: TracedCall, group: tuple[TracedCall, ...], share: float, place: _Place
    ) -> Iterator[str]:
        """Yield calls at the same time; one that is made several times, so many times."""
        keys = {call.key for call in group}
        for overlap in caller.overlaps:
            if overlap.is_together and {overlap.first, overlap.second} <= keys:
                yield f"{place.indent}# {self._seen_together(overlap)}"
        is_near = not all(self._is_far(one, place) for one in group)
        if is_near or max(call.per_request / share for call in group) > _MOST_COPIES:
            reason = "system.together_here" if is_near else "system.together_many"
            yield f"{place.indent}# {phrase(reason, most=_MOST_COPIES)}"
            for call in group:
                yield from self._call(call, place, share)
            return
        inner = _Place(node=place.node, times=place.times, indent=place.indent + "  ")
        yield f"{place.indent}together {{"
        for call in group:
            times = call.per_request / share * place.times
            copies = floor(times + _WHOLE) if call.is_fan_out else 0
            for _ in range(copies):
                yield from self._call(call, inner, call.per_request * place.times)
            if times - copies > _WHOLE:
                rest = call.per_request * place.times / (times - copies)
                yield from self._call(call, inner, rest)
        yield f"{place.indent}}}"

    def _seen_together(self, overlap: Overlap) -> str:
        kind = "system.steps_together" if overlap.is_together else "system.in_turn"
        keys = (overlap.first, overlap.second)
        pair = [*dict.fromkeys(self.names.components[one] for one in keys)]
        seen = phrase(kind, share=percent(overlap.share), both=amount(overlap.both))
        return f"{' + '.join(pair)}: {seen}"

    def _call(
        self, call: TracedCall, place: _Place, share: float, chance: str = ""
    ) -> Iterator[str]:
        """Yield a call with all below it, made by a share of requests; at its own node, work."""
        count = call.per_request / share * place.times
        node, component = self.names.nodes[call.service], self.names.components[call.key]
        if node == place.node:
            yield from self._local(call, place, component, count)
            return
        comment = f"  # {_seen(call)}"
        times = multiplier(call, count, self._retry(call, place))
        start = f"{place.indent}{chance}call {node}{times}{self._sizes(call)} {{"
        if not call.steps:
            yield f"{start} {component} }}{comment}"
            return
        yield f"{start}{comment}"
        inner = place.indent + "  "
        yield f"{inner}{component}"
        yield from self._steps(call, _Place(node=node, indent=inner))
        yield f"{place.indent}}}"

    def _local(
        self, call: TracedCall, place: _Place, component: str, count: float
    ) -> Iterator[str]:
        """Yield the work of a service that calls itself, with all below it as often."""
        indent = place.indent
        if count < 1 - _WHOLE:
            yield f"{indent}{percent(count)}: {{"
            indent += "  "
        whole = max(1.0, count)
        times = "" if abs(whole - 1) <= _WHOLE else f" * {plain(whole)}"
        yield f"{indent}{component}{times}  # {_seen(call)}"
        yield from self._steps(call, _Place(node=place.node, times=whole, indent=indent))
        if count < 1 - _WHOLE:
            yield f"{place.indent}}}"

    def _sizes(self, call: TracedCall) -> str:
        sent = "" if call.sent is None else f", sends {plain(call.sent)} byte/request"
        returned = "" if call.returned is None else f", returns {plain(call.returned)} byte/request"
        return sent + returned


def multiplier(call: TracedCall, times: float, retries: str = "") -> str:
    """Return how often a call is made, as a factor behind it."""
    if retries:
        first = times * (call.count - call.retries) / call.count
        base = "" if abs(first - 1) <= _WHOLE else f"{plain(first)} * "
        return f" * ({base}(1 + {retries}))" if base else f" * (1 + {retries})"
    if abs(times - 1) <= _WHOLE:
        return ""
    return f" * {percent(times)}" if times < 1 else f" * {plain(times)}"


def _seen(call: TracedCall) -> str:
    """Return what was counted of a call."""
    if abs(call.count - call.callers) <= _WHOLE * call.count:
        text = phrase("system.calls_share", count=amount(call.count), of=amount(call.of))
    else:
        text = phrase(
            "system.calls_of",
            count=amount(call.count),
            callers=amount(call.callers),
            of=amount(call.of),
        )
    failed = call.errors / call.count if call.count else 0.0
    return f"{text}; {phrase('system.failed', share=percent(failed))}" if failed else text


def mean_size(graph: CallGraph) -> float | None:
    """Return the mean size of what is returned or sent; None where no span says any."""
    sizes = [
        size
        for route in graph.routes
        for call in all_calls(route.root)
        for size in (call.sent, call.returned)
        if size
    ]
    return sum(sizes) / len(sizes) if sizes else None
