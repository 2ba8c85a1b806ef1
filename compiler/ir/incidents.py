"""What happens for a time: incidents, and how caches, autoscalers and clients behave in them."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct, field

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity


class Cache(Struct, frozen=True, kw_only=True):
    """A least-recently-used cache with room for `size` of its items, requested by a Zipf law.

    The parameter of its `name` is its hit rate.
    """

    name: str
    items: int
    zipf: float
    size: int
    span: Span


class Autoscaler(Struct, frozen=True, kw_only=True):
    """An autoscaler, which keeps `least` to `most` machines of a node: the Kubernetes HPA."""

    node: str
    least: Quantity
    most: Quantity
    span: Span
    settings: dict[str, Quantity] = field(default_factory=dict)


class Retrying(Struct, frozen=True, kw_only=True):
    """What the clients of a stream do if they have no answer in time."""

    stream: str
    span: Span
    settings: dict[str, Quantity] = field(default_factory=dict)


class DisturbanceKind(StrEnum):
    """What happens to something; the value is the word of the language."""

    LOSE = "lose"
    SLOW = "slow"
    SURGE = "surge"
    EMPTY = "empty"
    FAIL = "fail"


class Disturbance(Struct, frozen=True, kw_only=True):
    """A node is lost, slow or answers errors, a stream is under a surge, or a cache is emptied.

    Of a node, so many machines are lost or fail: all without a `count`.
    """

    kind: DisturbanceKind
    target: str
    span: Span
    count: int | None = None
    amount: Quantity | None = None
    start: Quantity | None = None
    length: Quantity | None = None


class Incident(Struct, frozen=True, kw_only=True):
    """What happens in an incident."""

    name: str
    disturbances: tuple[Disturbance, ...]
    span: Span
    doc: str | None = None
