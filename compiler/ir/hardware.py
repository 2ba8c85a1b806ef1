"""Machines, networks, and where they stand."""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Expr
from qps.compiler.ir.parameters import Quantity
from qps.compiler.quantities.dimension import DATA_RATE, Dimension


class ResourceKind(Enum):
    """How a resource is used up."""

    PROCESSOR = "processor"  # work is time; the capacity is cores, the speed a rating
    RATE = "rate"  # work is bits or items; the capacity is so many a second
    STORE = "store"  # what is held at once


class Discipline(Enum):
    """How what arrives at a resource waits (docs/language.md, "Waiting in queues")."""

    NONE = "none"  # waiting is not modelled, as in the thesis
    MM1 = "mm1"  # random arrivals, exponential service times
    MD1 = "md1"  # random arrivals, service times that are fixed for each stream
    MG1 = "mg1"  # random arrivals, service times of some coefficient of variation
    MMC = "mmc"  # the same as mm1, for several cores with one queue
    PERIODIC = "periodic"  # equal streams with one visit a period, at random phases


class Queueing(Struct, frozen=True):
    """A discipline; `variation` is the coefficient of variation of the service time of mg1."""

    discipline: Discipline
    variation: Quantity | None
    span: Span


class Resource(Struct, frozen=True, kw_only=True):
    """A resource of a machine.

    `capacity` is in cores (dimensionless) for a processor, in bit/s or items/s for a rate,
    in bits or items for a store; `work` is the dimension of what uses it up in a second.
    `jitter` is the variance (s^2) that it adds to a stream, a law of its load. `efficiency` is
    the share that each doubling of the cores keeps, None where they lose nothing to each other.
    """

    name: str
    kind: ResourceKind
    capacity: Quantity
    speed: Quantity | None = None
    idle: Quantity | None = None
    work: Dimension
    span: Span
    jitter: Quantity | None = None
    queueing: Queueing | None = None
    efficiency: Quantity | None = None

    @property
    def carries_bits(self) -> bool:
        """True for a network card, a disk and the like, whose capacity is in bit/s."""
        return self.kind is ResourceKind.RATE and self.work == DATA_RATE


class Machine(Struct, frozen=True, kw_only=True):
    """A kind of machine; `ratings` holds every rating by its base dimension."""

    name: str
    resources: tuple[Resource, ...]
    ratings: tuple[tuple[str, Quantity], ...]
    price: Quantity | None
    span: Span
    source: str | None
    doc: str | None

    def resource(self, name: str) -> Resource | None:
        """Return the resource of a name."""
        return next((r for r in self.resources if r.name == name), None)

    def rating(self, base: str) -> Quantity | None:
        """Return the rating that a base dimension measures."""
        return dict(self.ratings).get(base)


class Medium(Enum):
    """How a network carries: one medium for all, a port each, or a pair of directions."""

    SHARED = "shared"
    SWITCHED = "switched"
    DUPLEX = "duplex"


class Network(Struct, frozen=True, kw_only=True):
    """A kind of network: rate in bit/s, header in bit/item, cap in items/s, loss a share.

    `jitter` is the variance (s^2) that it adds to a stream, a law of its load.
    """

    name: str
    medium: Medium
    rate: Quantity
    header: Quantity | None
    cap: Quantity | None
    loss: Quantity | None
    propagation: Quantity | None
    price: Quantity | None
    span: Span
    source: str | None
    doc: str | None
    jitter: Quantity | None = None
    queueing: Queueing | None = None


class Node(Struct, frozen=True):
    """A group of equal machines."""

    name: str
    machine: str
    count: Expr
    span: Span


class Link(Struct, frozen=True, kw_only=True):
    """A network in its place: `ends` are the nodes and links that it joins."""

    name: str
    network: str
    count: Expr
    ends: tuple[str, ...]
    span: Span
