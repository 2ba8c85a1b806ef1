"""What a population takes, as an answer: of each resource, of machines, and what fails else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct, field

from qps.compiler.lower.load_graph import Criterion
from qps.compiler.quantities.certainty import EXACT, Certainty
from qps.compiler.quantities.dimension import Dimension
from qps.solver.answers.answer_parts import ModelError
from qps.solver.what_if.growth import Growth


class ResourceCapacity(Struct, frozen=True):
    """What a resource has, in base units of `dimension`; cores are counted where `is_whole`."""

    has: float
    dimension: Dimension
    is_whole: bool
    is_store: bool = False

    @property
    def is_count(self) -> bool:
        """True for places in a pool, such as threads, of which there is a whole number."""
        return self.is_store and self.dimension.is_item and self.has % 1 == 0


class Machines(Struct, frozen=True):
    """Current and required machine count of a node, with the price.

    `price` is in $, or in $/s for recurring cost; None if unknown.
    """

    now: int
    takes: int
    price: float | None
    unit: str

    @property
    def is_running(self) -> bool:
        """True for a recurring price."""
        return self.unit == "$/s"


class MachineTurn(Struct, frozen=True):
    """The number that turns the machines of a node: it is `now`, and `takes` would do."""

    number: str
    now: Fraction
    takes: int

    @property
    def times(self) -> dict[str, Fraction]:
        """So many times what the number is now."""
        return {self.number: self.takes / self.now}


class ResourceNeed(Struct, frozen=True, kw_only=True):
    """A resource at the population: its load, its target, and the capacity that it takes.

    That keeps the load within its target, and all that is required where no other capacity does by
    itself.

    `takes` is in the unit of the capacity, in whole cores where those are counted, `exact` the same
    before it was rounded up. Both are None where no capacity does, as of a single thread, and 0
    where any does. `machines` explains how many of as many as now would do as well, where that can
    be chosen.
    """

    resource: str
    place: str
    load: float
    target: float
    capacity: ResourceCapacity
    takes: float | None
    exact: float | None
    machines: Machines | None
    mode: str | None
    machine_turn: MachineTurn | None = None
    """What turns the reported machines, where what it takes was found for the load alone."""
    machines_mode: str | None = None
    """The mode whose machines are reported, where there are others outside of it."""
    machines_known: Certainty = EXACT
    is_link: bool = False
    is_searched: bool = False
    """True where a capacity that does was looked for, and not found: none may do all the same."""
    known: Certainty = EXACT
    """How it is known what it takes."""
    for_load: ResourceNeed | None = None
    """What it takes for its load alone, where it takes more for all that is required."""

    @property
    def suffices(self) -> bool:
        """True where what there is is enough."""
        return self.takes is not None and self.takes <= self.capacity.has


class FailingThere(Struct, frozen=True, kw_only=True):
    """A requirement that is not met at the population in some mode, with its value."""

    criterion: Criterion
    limit: float
    value: float
    mode: str | None
    known: Certainty = EXACT
    """How the value is known."""

    @property
    def at_most(self) -> bool:
        """True where the limit is from above."""
        return self.criterion.at_most


class SizingFix(Struct, frozen=True):
    """A capacity that, by itself, fixes what fails though all have what they take.

    `resources` have it in common; at least `takes` of it, in base units, is enough.
    """

    resources: tuple[str, ...]
    capacity: ResourceCapacity
    takes: float
    known: Certainty = EXACT


class SizingReliability(Struct, frozen=True, kw_only=True):
    """Whether the proposal supports the population with the model errors in `allowed_for`.

    Each is at its unfavorable end. `unmeasured` lists the requirements and utilizations whose model
    error was never measured.
    """

    is_supported: bool
    allowed_for: tuple[ModelError, ...]
    unmeasured: tuple[str, ...]


class Sizing(Struct, frozen=True, kw_only=True):
    """What each resource must have for a population.

    `fails_whatever` fails there with 10,000 times each capacity too; `fails_still` fails when
    all have what they take, though larger ones would fix it, each of `fixes` by itself; the
    population `is_supported` where neither does, nor anything at a smaller one. Where it is not,
    `growth` is what more machines do, None where no number of machines can be chosen. `known` is
    how it is known whether they are carried: a lower bound where they may be though it seems
    not, an upper bound where they may not be though it seems so. `fixes_known` is how it is known
    that no other capacity fixes what fails still. Where they were not searched, as more machines
    support the population, `has_fixes` is false.
    """

    population: str
    at: int
    needed: tuple[ResourceNeed, ...]
    fails_whatever: tuple[FailingThere, ...]
    fails_still: tuple[FailingThere, ...]
    fixes: tuple[SizingFix, ...]
    is_supported: bool
    growth: Growth | None = None
    known: Certainty = EXACT
    fixes_known: Certainty = EXACT
    has_fixes: bool = True
    ports: Mapping[str, str] = field(default_factory=dict)
    """The ports of switches, with the link that each is a port of."""
    reliability: SizingReliability | None = None
    """Whether the proposal holds with model errors, None where there is no proposal."""
    nominal_inputs: tuple[str, ...] = ()
    """The numbers that nobody knows exactly: typical values stand for them."""

    @property
    def is_possible(self) -> bool:
        """True where the proposal supports the population."""
        return self.is_supported or (self.growth is not None and bool(self.growth.machines))
