"""What traces say about a system: its services, its kinds of requests, and who calls whom."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from qps.compiler.measurement.traces.trace_tree import Flaws

Operation = tuple[str, str]
"""A service and what it is called for."""


class Overlap(Struct, frozen=True, kw_only=True):
    """Two calls of one request (or one call, made more than once): were they made together?

    `both` requests made both, of which they ran at the same time in `overlapping`. They count as
    made together where that is so in nearly all.
    """

    first: Operation
    second: Operation
    both: int
    overlapping: int
    is_together: bool

    @property
    def share(self) -> float:
        """The share of requests in which they ran at the same time."""
        return self.overlapping / self.both


class CallVariances(Struct, frozen=True, kw_only=True):
    """How much single requests vary: in calls, s and bytes, squared."""

    count: float = 0.0
    own: float = 0.0
    network: float = 0.0
    sent: float = 0.0
    returned: float = 0.0


class TracedCall(Struct, frozen=True, kw_only=True):
    """Calls of one operation by one kind of request, and all that they call in turn.

    Of `of` requests, `callers` made it, `count` times in all, `retries` of them right after one
    that failed. Means are in s and bytes, None where nothing says them; `own` is the time in which
    it waits for no call, `network` what its caller waits longer than it takes. A request makes one
    that `is_fan_out` several times at once. `overlaps` are those of the calls that it makes.
    """

    service: str
    operation: str
    of: float
    callers: float
    count: float
    errors: float
    retries: float
    is_peer: bool
    duration: float | None
    own: float | None
    network: float | None
    sent: float | None
    returned: float | None
    is_fan_out: bool = False
    steps: tuple[CallGroup, ...]
    overlaps: tuple[Overlap, ...] = ()
    variances: CallVariances = CallVariances()

    @property
    def key(self) -> Operation:
        """Its service and operation."""
        return self.service, self.operation

    @property
    def per_request(self) -> float:
        """Calls per request of the caller."""
        return self.count / self.of if self.of else 0.0


class CallGroup(Struct, frozen=True, kw_only=True):
    """Calls that are made by the same requests: a share of all, in turn or `together`."""

    share: float
    together: tuple[tuple[TracedCall, ...], ...]
    """In turn; those of one tuple at the same time."""


class Message(Struct, frozen=True, kw_only=True):
    """Work that a kind of request starts without waiting for it."""

    route: int
    count: float


class TracedRoute(Struct, frozen=True, kw_only=True):
    """A kind of request: `count` came in, or was started by `messages` of other routes.

    Quantiles are of the time until the answer, in s. It is named by its operation, but for one
    that has another `name`.
    """

    root: TracedCall
    messages: tuple[Message, ...]
    p50: float | None
    p95: float | None
    p99: float | None
    name: str = ""

    @property
    def is_message(self) -> bool:
        """Whether another route starts it, and does not wait for it."""
        return bool(self.messages)


class TracedService(Struct, frozen=True, kw_only=True):
    """A service, the processes that wrote spans, its requests, and the s between them."""

    name: str
    instances: int
    requests: float
    own: float | None
    is_peer: bool


class CallGraph(Struct, frozen=True, kw_only=True):
    """All of it; `seconds` is how long requests came in, 0 where there is one only.

    Each request that was recorded stands for `weight` of them on average, as spans are sampled. Its
    `origin` are traces, or metrics of a service graph, with series instead of spans. `spreads` say
    how far the mean time of an operation outside of its calls may be off (95 %), relative.
    """

    services: tuple[TracedService, ...]
    routes: tuple[TracedRoute, ...]
    traces: int
    spans: int
    first: float
    seconds: float
    sampled: bool
    flaws: Flaws
    notes: tuple[str, ...]
    weight: float = 1.0
    origin: str = "traces"
    spreads: Mapping[Operation, float] = {}

    @property
    def requests(self) -> float:
        """Requests that came in from outside."""
        return sum(route.root.count for route in self.routes if not route.is_message)
