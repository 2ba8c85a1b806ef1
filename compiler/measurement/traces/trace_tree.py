"""The spans of one trace as a tree of requests: who called whom, and when.

A *request* is the work of a service from when it is called until it answers. Spans inside a
service are parts of it; the span of a client and that of its server are one call. What a trace
lacks or has twice is counted in `Flaws`, and nothing of it is made up: a span whose parent is not
there is no root, unless its trace has none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from msgspec import Struct, field

from qps.compiler.measurement.traces.spans import Kind, TraceSpan

SHARED = ":server"
"""Behind the ID of the span of a server that shares that of its client, as in Zipkin."""
_DEEPEST = 25


class Flaws(Struct, kw_only=True):
    """How often traces were not as they should be."""

    duplicates: int = 0
    orphans: int = 0
    in_cycles: int = 0
    rootless: int = 0
    outside_parent: int = 0
    skewed: int = 0
    too_deep: int = 0
    too_long: int = 0
    ends_before_start: int = 0


class TracedRequest(Struct, kw_only=True):
    """A request to a service: when its caller waited for it, and how long the service took.

    `start` and `end` are by the clock of the caller, `served` is by that of the service, in ns;
    `calls` are what it asks of others. One `is_peer` that wrote no spans itself; for one that is
    not `is_synchronous`, the caller goes on at once.
    """

    service: str
    operation: str
    start: int
    end: int
    served: int
    span_start: int
    is_error: bool = False
    is_peer: bool = False
    is_synchronous: bool = True
    has_client: bool = False
    instance: str = ""
    weight: float = 1.0
    sent: float = -1.0
    returned: float = -1.0
    depth: int = 0
    calls: list[TracedRequest] = field(default_factory=list)

    @property
    def own(self) -> int:
        """The time in which it waits for no call, in ns."""
        first, last = self.span_start, self.span_start + self.served
        return self.served - covered(
            [(max(first, c.start), min(last, c.end)) for c in self.calls if c.is_synchronous]
        )


def covered(intervals: Sequence[tuple[int, int]]) -> int:
    """Return how long at least one of some intervals lasts.

    >>> covered([(0, 4), (2, 6), (9, 10), (12, 11)])
    7
    """
    total, last = 0, None
    for start, end in sorted(intervals):
        begins = start if last is None else max(start, last)
        if end > begins:
            total += end - begins
            last = end
    return total


def _is_late(start: int, client: TraceSpan | None, inside: TracedRequest | None) -> bool:
    """Return whether a call begins after its caller has answered, by the caller's clock."""
    if client is None or inside is None or not inside.served:
        return False
    return start >= inside.span_start + inside.served


def requests_of(
    spans: Sequence[TraceSpan], flaws: Flaws, clients: frozenset[str]
) -> list[TracedRequest]:
    """Return the requests with which a trace begins, with all that they call.

    Services in `clients` are no part of the system: what they call are its requests.
    """
    index = _Index(spans, flaws)
    roots = index.roots()
    walk = _Walk(index, flaws, clients)
    found: list[TracedRequest] = []
    for root in roots:
        found += walk.from_root(root)
    index.count_lost(flaws)
    return found


class _Index:
    """The spans of a trace by ID, and those below each."""

    def __init__(self, spans: Sequence[TraceSpan], flaws: Flaws) -> None:
        self.by_id: dict[str, TraceSpan] = {}
        for span in spans:
            known = self.by_id.get(span.id)
            if known is None:
                self.by_id[span.id] = span
            elif known.is_served != span.is_served and known.service != span.service:
                self._share(known, span)
            else:
                flaws.duplicates += 1
        self.below: dict[str, list[TraceSpan]] = {}
        for span in self.by_id.values():
            parent = self._parent(span)
            if parent is not None:
                self.below.setdefault(parent.id, []).append(span)
        for children in self.below.values():
            children.sort(key=lambda one: (one.start, one.end, one.id))
        self.seen: set[str] = set()
        self.is_rootless = False

    def _share(self, known: TraceSpan, span: TraceSpan) -> None:
        """Keep both sides of a call that have one ID: the server's is below the client's."""
        client, server = (span, known) if known.is_served else (known, span)
        self.by_id[span.id] = client
        shared = span.id + SHARED
        values = {name: getattr(server, name) for name in server.__struct_fields__}
        self.by_id[shared] = TraceSpan(**{**values, "id": shared, "parent": client.id})

    def _parent(self, span: TraceSpan) -> TraceSpan | None:
        if span.parent == span.id:
            return None
        server = self.by_id.get(span.parent + SHARED)
        parent = self.by_id.get(span.parent)
        if server is None or span is server:
            return parent
        # What the server does has the shared ID as its parent as well.
        is_of_client = parent is not None and span.service == parent.service != server.service
        return parent if is_of_client else server

    def roots(self) -> list[TraceSpan]:
        """Return the spans without a parent; without any, the first that lacks its parent."""
        spans = self.by_id.values()
        roots = [one for one in spans if not one.parent]
        if roots:
            return sorted(roots, key=lambda one: (one.start, one.id))
        lacking = [one for one in spans if self._parent(one) is None and one.parent != one.id]
        # The longest of those that begin first: what is left of a request that began elsewhere.
        first = sorted(lacking, key=lambda one: (one.start, -one.end, one.id))[:1]
        self.is_rootless = bool(first)
        return first

    def count_lost(self, flaws: Flaws) -> None:
        """Count the spans that no root leads to."""
        flaws.rootless += self.is_rootless
        lost = [one for one in self.by_id.values() if one.id not in self.seen]
        below_missing: set[str] = set()
        todo = deque(one for one in lost if self._parent(one) is None and one.parent != one.id)
        while todo:
            span = todo.popleft()
            if span.id not in below_missing:
                below_missing.add(span.id)
                todo.extend(self.below.get(span.id, ()))
        flaws.orphans += len(below_missing)
        flaws.in_cycles += len(lost) - len(below_missing)


class _Walk:
    """The way from a root through all spans below it."""

    def __init__(self, index: _Index, flaws: Flaws, clients: frozenset[str]) -> None:
        self.index = index
        self.flaws = flaws
        self.clients = clients

    def from_root(self, root: TraceSpan) -> list[TracedRequest]:
        """Return the requests that a root makes, or the one that it is."""
        if root.service not in self.clients and root.kind is not Kind.CLIENT:
            request = self._request(root, None, None)
            self._fill(request, root)
            return [request]
        # A client outside the system, or one of which only its calls are known.
        caller = self._request(root, None, None)
        self._fill(caller, root)
        return caller.calls

    def _fill(self, request: TracedRequest, root: TraceSpan) -> None:
        """Add all calls of a request, and theirs; without recursion, as traces may be deep."""
        todo = deque([(request, root)])
        self.index.seen.add(root.id)
        while todo:
            inside, span = todo.pop()
            for child in self.index.below.get(span.id, ()):
                if child.id in self.index.seen:
                    continue
                self.index.seen.add(child.id)
                todo.extend(self._step(inside, span, child))
        self._sort(request)

    def _step(
        self, inside: TracedRequest, above: TraceSpan, span: TraceSpan
    ) -> list[tuple[TracedRequest, TraceSpan]]:
        """Return which request the spans below a span belong to."""
        if self._is_call(inside, above, span):
            client = above if above.is_outgoing and above.service == inside.service else None
            call = self._call(inside, span, client)
            return [(call, span)] if call is not None else []
        if span.is_outgoing and not self._leads_on(span):
            self._call_of_peer(inside, span)
        return [(inside, span)]

    def _leads_on(self, span: TraceSpan) -> bool:
        """Return whether anything below the span of a client is a call as well."""
        todo, seen = [span.id], {span.id}
        while todo:
            for child in self.index.below.get(todo.pop(), ()):
                if child.kind is not Kind.INTERNAL or child.service != span.service:
                    return True
                if child.id not in seen:
                    seen.add(child.id)
                    todo.append(child.id)
        return False

    @staticmethod
    def _is_call(inside: TracedRequest, above: TraceSpan, span: TraceSpan) -> bool:
        """Return whether a span is the work of another service, or of this one called anew."""
        if span.kind is Kind.CONSUMER:
            return above.kind is not Kind.CONSUMER or span.service != inside.service
        if span.service != inside.service:
            return True
        return span.kind is Kind.SERVER and above.is_outgoing

    def _call(
        self, inside: TracedRequest, span: TraceSpan, client: TraceSpan | None
    ) -> TracedRequest | None:
        if inside.depth >= _DEEPEST:
            self.flaws.too_deep += 1
            return None
        call = self._request(span, client, inside)
        inside.calls.append(call)
        return call

    def _call_of_peer(self, inside: TracedRequest, span: TraceSpan) -> None:
        """Add a call to what wrote no spans, such as a database."""
        if inside.depth >= _DEEPEST:
            self.flaws.too_deep += 1
            return
        call = self._request(span, span, inside)
        call.service = span.peer or f"what {inside.service} calls"
        call.is_peer = True
        call.instance = ""
        inside.calls.append(call)

    def _request(
        self, span: TraceSpan, client: TraceSpan | None, inside: TracedRequest | None
    ) -> TracedRequest:
        served = span.end - span.start
        if served < 0:
            self.flaws.ends_before_start += 1
            served = 0
        start, end = self._seen_by_caller(span, client, inside, served)
        outer = client or span
        is_message = outer.kind is Kind.PRODUCER and client is not span
        is_async = span.kind is Kind.CONSUMER or is_message or _is_late(start, client, inside)
        return TracedRequest(
            service=span.service,
            operation=span.operation,
            start=start,
            end=end,
            served=served,
            span_start=span.start or start,
            is_error=span.is_error or outer.is_error,
            is_synchronous=not (is_async or span.follows or outer.follows),
            has_client=client is not None and client is not span,
            instance=span.instance,
            weight=span.weight if inside is None else inside.weight,
            sent=max(span.sent, outer.sent),
            returned=max(span.returned, outer.returned),
            depth=0 if inside is None else inside.depth + 1,
        )

    def _seen_by_caller(
        self, span: TraceSpan, client: TraceSpan | None, inside: TracedRequest | None, served: int
    ) -> tuple[int, int]:
        """Return from when to when a caller waits, by its own clock."""
        if inside is None:
            return span.start, span.start + served
        first, last = inside.span_start, inside.span_start + inside.served
        if client is not None:
            start, end = client.start, max(client.start, client.end)
            if start < first or end > last:
                self.flaws.outside_parent += 1
            is_synchronous = client is not span and client.kind is not Kind.PRODUCER
            if is_synchronous and (span.start < start or span.start + served > end):
                self.flaws.skewed += 1
            return start, end
        start, end = span.start, span.start + served
        if (first <= start and end <= last) or not span.start or span.kind is Kind.CONSUMER:
            return (start, end) if span.start else (first, first)
        # By another clock: it is put into the middle of its caller, as Jaeger does.
        self.flaws.skewed += 1
        if served <= inside.served:
            start = first + (inside.served - served) // 2
        return start, start + served

    @staticmethod
    def _sort(request: TracedRequest) -> None:
        todo = [request]
        while todo:
            one = todo.pop()
            one.calls.sort(key=lambda call: (call.start, call.end))
            todo.extend(one.calls)
