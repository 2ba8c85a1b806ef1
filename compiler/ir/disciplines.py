"""The disciplines of queues: what each takes for given, and what it needs of a resource.

What they come to is told by `lower/disciplines`, a module for each family.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity


class Traits(Struct, frozen=True, kw_only=True):
    """What is true of a discipline.

    `meaning` is told of it in an editor. `variation` is the coefficient of variation of its service
    times where the spec does not say it, None where it must. It `counts_servers` where a resource
    has whole cores, each as fast beside others as alone; where it is for nothing else,
    `on_one_server` is what takes its place there. `is_first_come` where those who wait are served
    in turn, `is_random` where items arrive at random. A network of queues is in product form where
    `has_product_form` and visits are exponential and equally long; `is_insensitive` where it does
    not matter how service times vary. Streams whose users wait `may_be_closed` there: they are
    told as if it were in product form. It `loses` what finds no room, and `has_ranks` where streams
    say which of them go first. It `takes` what else may be said.
    """

    meaning: str = ""
    variation: int | None = 1
    counts_servers: bool = False
    on_one_server: str | None = None
    is_first_come: bool = True
    is_random: bool = True
    has_product_form: bool = False
    may_be_closed: bool = True
    is_insensitive: bool = False
    has_ranks: bool = False
    loses: bool = False
    takes: tuple[str, ...] = ()

    @property
    def needs_cores(self) -> bool:
        """Whether it is for the cores of a processor alone."""
        return self.on_one_server is not None


class Discipline(Enum):
    """How what arrives at a resource waits (docs/language/queueing.md)."""

    NONE = "none"  # waiting is not modelled, as in the thesis
    MM1 = "mm1"  # random arrivals, exponential service times
    MD1 = "md1"  # random arrivals, service times that are fixed for each stream
    MG1 = "mg1"  # random arrivals, service times of some coefficient of variation
    MMC = "mmc"  # the same as mm1, for several cores with one queue
    MGC = "mgc"  # random arrivals at several cores, service times of some variation
    PS = "ps"  # random arrivals that share the server, or the cores
    PRIORITY = "priority"  # random arrivals, of streams that go before others
    LOSS = "loss"  # random arrivals at the cores of a processor, lost where all are busy
    PERIODIC = "periodic"  # equal streams with one visit a period, at random phases

    @property
    def traits(self) -> Traits:
        """What is true of it."""
        return _TRAITS[self]


_TRAITS = {
    Discipline.NONE: Traits(
        meaning="no queueing", variation=0, is_first_come=False, is_random=False
    ),
    Discipline.MM1: Traits(
        meaning="M/M/1: Poisson arrivals, one server, exponential service times",
        has_product_form=True,
        takes=("room",),
    ),
    Discipline.MD1: Traits(
        meaning="M/D/1: Poisson arrivals, one server, constant service times per stream",
        variation=0,
        takes=("room",),
    ),
    Discipline.MG1: Traits(
        meaning="M/G/1: Poisson arrivals, one server, service times with coefficient of variation "
        "`cv`",
        variation=None,
        takes=("cv", "room"),
    ),
    Discipline.MMC: Traits(
        meaning="M/M/c: Poisson arrivals, c cores with one queue, exponential service times",
        counts_servers=True,
        on_one_server="mm1",
        has_product_form=True,
        takes=("room",),
    ),
    Discipline.MGC: Traits(
        meaning="M/G/c: Poisson arrivals, c cores with one queue, service times with coefficient "
        "of variation `cv`",
        variation=None,
        counts_servers=True,
        on_one_server="mg1",
        takes=("cv", "room"),
    ),
    Discipline.PS: Traits(
        meaning="processor sharing: Poisson arrivals, all jobs share the server or the cores",
        counts_servers=True,
        is_first_come=False,
        has_product_form=True,
        is_insensitive=True,
        takes=("speeds",),
    ),
    Discipline.PRIORITY: Traits(
        meaning="Poisson arrivals, streams with higher priority are served first",
        counts_servers=True,
        is_first_come=False,
        has_ranks=True,
        takes=("cv", "preemptive"),
    ),
    Discipline.LOSS: Traits(
        meaning="Poisson arrivals at the cores of a CPU, lost if all cores are busy (Erlang B)",
        counts_servers=True,
        on_one_server="mm1",
        may_be_closed=False,
        loses=True,
    ),
    Discipline.PERIODIC: Traits(
        meaning="equal periodic streams with random phases", variation=0, is_random=False
    ),
}


class Queueing(Struct, frozen=True, kw_only=True):
    """A discipline, and what is said of it.

    `variation` is the coefficient of variation of the service time; `speeds` are how fast all
    are served together, by how many there are, the last one for all numbers beyond. There is `room`
    for so many, those being served among them.
    """

    discipline: Discipline
    span: Span
    variation: Quantity | None = None
    is_preemptive: bool = False
    speeds: tuple[Quantity, ...] = ()
    room: Quantity | None = None

    @property
    def that_waits(self) -> Queueing | None:
        """The same; None where it is said that no waiting is counted."""
        return None if self.discipline is Discipline.NONE else self

    @property
    def traits(self) -> Traits:
        """What is true of its discipline; with a room also that it loses what finds none."""
        known = self.discipline.traits
        if self.room is None:
            return known
        return replace(known, loses=True, may_be_closed=False, has_product_form=False)

    @property
    def counts_servers(self) -> bool:
        """True where cores are whole, each as fast beside others as alone."""
        return self.traits.counts_servers and not self.speeds

    @property
    def written(self) -> str:
        """It in the words of a spec."""
        told = [self.discipline.value, *["preemptive"] * self.is_preemptive]
        if self.variation is not None:
            told.append(f"cv {self.variation.text}")
        if self.room is not None:
            told.append(f"room {self.room.text}")
        if self.speeds:
            told.append(f"speeds [{', '.join(speed.text for speed in self.speeds)}]")
        return " ".join(told)

    @property
    def as_read(self) -> object:
        """What is equal where two say the same, wherever they stand."""
        numbers = (self.variation, self.room, *self.speeds)
        return self.discipline, self.is_preemptive, tuple(one and one.expr for one in numbers)
