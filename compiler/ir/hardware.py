"""Machines, networks, and where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Expr, LoseMachines
from qps.compiler.ir.parameters import Quantity
from qps.compiler.ir.stated_queueing import Queueing
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.dimension import DATA_RATE, Dimension


class ResourceKind(Enum):
    """How a resource is used up."""

    PROCESSOR = "processor"  # work is time; the capacity is cores, the speed a rating
    RATE = "rate"  # work is bits or items; the capacity is so many a second
    STORE = "store"  # what is held at once


class Resource(Struct, frozen=True, kw_only=True):
    """A resource of a machine.

    `capacity` is in cores (dimensionless) for a processor, in bit/s or items/s for a rate,
    in bits or items for a store; `work` is the dimension of what uses it up in a second.
    `jitter` is the variance (s^2) that it adds to a stream, a law of its load. `efficiency` is
    the share that each doubling of the cores keeps, None where they lose nothing to each other.
    Where its `law_holds_speed` the jitter law decides by the speed: it is not set by itself.
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
    law_holds_speed: bool = False

    @property
    def waits(self) -> Queueing | None:
        """How what arrives waits, None where no waiting is counted, be that said or not."""
        return self.queueing and self.queueing.that_waits

    def is_as(self, other: Resource | None) -> bool:
        """Return whether another one has the same capacity, speed, idle load and efficiency."""
        return other is not None and self.numbers == other.numbers

    @property
    def numbers(self) -> list[Expr | None]:
        """What it can do: its capacity, speed, idle load and efficiency."""
        stated = (self.capacity, self.speed, self.idle, self.efficiency)
        return [None if number is None else number.expr for number in stated]

    @property
    def carries_bits(self) -> bool:
        """True for a network card, a disk and the like, whose capacity is in bit/s."""
        return self.kind is ResourceKind.RATE and self.work == DATA_RATE


class FailureTimes(Struct, frozen=True, kw_only=True):
    """The mean time from a repair to the next failure, and the mean time of a repair."""

    every: Quantity
    repair: Quantity


class _Kind(Struct, frozen=True, kw_only=True):
    """A kind of machine or network; without `failures`, one never fails.

    `price_date` is the date of its price, if one is stated. `origins` says for each of its family,
    the nearest first, where its numbers come from.
    """

    name: str
    price: Quantity | None
    span: Span
    source: str | None
    doc: str | None
    origins: tuple[tuple[Span, str | None], ...] = ()
    failures: FailureTimes | None = None
    price_date: CalendarDate | None = None

    def origin(self, number: Quantity) -> str | None:
        """Return where one of its numbers comes from: what the one says that states it."""
        stated = (origin for whole, origin in self.origins if whole.holds(number.span))
        return next(stated, self.source or self.doc)


class Machine(_Kind, frozen=True, kw_only=True):
    """A kind of machine; `ratings` holds every rating by its base dimension.

    `family` names the machines that it is made of, its parent first.
    """

    resources: tuple[Resource, ...]
    ratings: tuple[tuple[str, Quantity], ...]
    family: tuple[str, ...] = ()

    def resource(self, name: str) -> Resource | None:
        """Return the resource of a name."""
        return next((r for r in self.resources if r.name == name), None)

    def measured_as(self, measured: Sequence[str | None]) -> str | None:
        """Return which of some machines a cost was measured on that it counts as.

        Itself, or the nearest of its family; otherwise the first one.
        """
        own = (name for name in (self.name, *self.family) if name in measured)
        return next(own, measured[0])

    def is_alike(self, other: Machine, resource: str) -> bool:
        """Return whether a resource is that of another one of its family, core by core.

        That is so where neither has a rating: what they are made of is the same.
        """
        ours, theirs = self.resource(resource), other.resource(resource)
        is_kin = {self.name, *self.family} & {other.name, *other.family}
        if not is_kin or ours is None or theirs is None:
            return False
        return ours.speed is None and theirs.speed is None

    def rating(self, base: str) -> Quantity | None:
        """Return the rating that a base dimension measures."""
        return dict(self.ratings).get(base)


class Medium(Enum):
    """How a network carries: one medium for all, a port each, or a pair of directions."""

    SHARED = "shared"
    SWITCHED = "switched"
    DUPLEX = "duplex"


class Network(_Kind, frozen=True, kw_only=True):
    """A kind of network: rate in bit/s, header in bit/item, cap in items/s, loss a share.

    `jitter` is the variance (s^2) that it adds to a stream, a law of its load. What has no rate is
    a delay: it carries whatever comes, and takes its propagation time for that. Where its
    `law_holds_rate` the jitter law decides by the rate: it is not set by itself.
    """

    medium: Medium
    rate: Quantity | None
    header: Quantity | None
    cap: Quantity | None
    loss: Quantity | None
    propagation: Quantity | None
    jitter: Quantity | None = None
    queueing: Queueing | None = None
    law_holds_rate: bool = False

    @property
    def waits(self) -> Queueing | None:
        """How what arrives waits, None where no waiting is counted, be that said or not."""
        return self.queueing and self.queueing.that_waits


class _Placed(Struct, frozen=True, kw_only=True):
    """What stands in a place; `own` are the numbers of its kind that are set in this place.

    After a failure (`lost`), `count` is what is left of the `stated_count`.
    """

    name: str
    count: Expr
    span: Span
    source: str | None = None
    own: frozenset[str] = frozenset()
    doc: str | None = None
    lost: LoseMachines | None = None
    count_before: Expr | None = None

    @property
    def stated_count(self) -> Expr:
        """How many there are before any failure."""
        return self.count if self.count_before is None else self.count_before


class Node(_Placed, frozen=True, kw_only=True):
    """A group of equal machines."""

    machine: str


class Link(_Placed, frozen=True, kw_only=True):
    """A network in its place: `ends` are the nodes and links that it joins."""

    network: str
    ends: tuple[str, ...]
