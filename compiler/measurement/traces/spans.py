"""A span of a distributed trace, as every reader gives it and the store keeps it."""

from __future__ import annotations

from enum import IntEnum

from msgspec import Struct


class Kind(IntEnum):
    """The role of a span in a call, as OpenTelemetry numbers it."""

    INTERNAL = 1
    SERVER = 2
    CLIENT = 3
    PRODUCER = 4
    CONSUMER = 5


_LATEST = 2**62
"""In ns since 1970: the year 2116."""


def clock(nanoseconds: int) -> int:
    """Return a time; 0, as for one that is missing, for one that no clock shows."""
    return nanoseconds if 0 <= nanoseconds <= _LATEST else 0


class TraceSpan(Struct, frozen=True, kw_only=True, array_like=True, gc=False):
    """A span: times are in ns since 1970; `parent` is empty where there is none.

    `follows` says that the parent does not wait for it; `peer` names the other side of a call that
    wrote no spans itself; `instance` the process or pod. A span stands for `weight` spans, as it
    was sampled. Sizes are in bytes of the body of the request and of its answer, -1 if unknown.
    Where the name that was recorded `has_secrets`, they are left out of the operation.
    """

    trace: str
    id: str
    parent: str
    service: str
    operation: str
    kind: Kind
    start: int
    end: int
    is_error: bool = False
    follows: bool = False
    peer: str = ""
    instance: str = ""
    weight: float = 1.0
    sent: float = -1.0
    returned: float = -1.0
    has_secrets: bool = False

    @property
    def is_served(self) -> bool:
        """Whether it is the side of a call that does the work."""
        return self.kind in (Kind.SERVER, Kind.CONSUMER)

    @property
    def is_outgoing(self) -> bool:
        """Whether it is the side of a call that asks for it."""
        return self.kind in (Kind.CLIENT, Kind.PRODUCER)
