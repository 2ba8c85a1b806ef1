"""The disciplines of queues: a row each, with all that is true of it.

What reads, checks, colors, completes and plays a discipline follows from its row; the formulas are
in `lower/disciplines`, a module for each family, by the table in `discipline_laws.py`.
"""

from __future__ import annotations

from enum import Enum
from typing import Self

from msgspec import Struct


class Service(Enum):
    """Who is served when several are there."""

    IN_TURN = "in turn"  # first come, first served
    SHARED = "shared"  # all at once
    RANKED = "ranked"  # by the priority that streams state


class Traits(Struct, frozen=True, kw_only=True):
    """What is true of a discipline.

    `meaning` is shown in an editor. `variation` is the coefficient of variation of its service
    times where the spec does not say it, None where it must. It `counts_servers` where a resource
    has whole cores, each as fast beside others as alone; where it is for nothing else,
    `on_one_server` is what takes its place there. `service` is who goes first of those who are
    there, `is_random` where items arrive at random. A network of queues is in product form where
    `has_product_form` and visits are exponential and equally long; `is_insensitive` where it does
    not matter how service times vary. Streams whose users wait `may_be_closed` there: they are
    answered as if it were in product form. It `loses` what finds no room. It `takes` what else may
    be said.
    """

    meaning: str = ""
    variation: int | None = 1
    counts_servers: bool = False
    on_one_server: str | None = None
    service: Service = Service.IN_TURN
    is_random: bool = True
    has_product_form: bool = False
    may_be_closed: bool = True
    is_insensitive: bool = False
    loses: bool = False
    takes: tuple[str, ...] = ()

    @property
    def needs_cores(self) -> bool:
        """Whether it is for the cores of a processor alone."""
        return self.on_one_server is not None

    @property
    def has_ranks(self) -> bool:
        """Whether streams say which of them go first."""
        return self.service is Service.RANKED


class Discipline(Enum):
    """How what arrives at a resource waits: its word, and its traits."""

    traits: Traits

    def __new__(cls, word: str, traits: Traits) -> Self:
        """Return the discipline of a word, which is its value."""
        made = object.__new__(cls)
        made._value_ = word
        made.traits = traits
        return made

    NONE = "none", Traits(meaning="no queueing", variation=0, is_random=False)
    MM1 = (
        "mm1",
        Traits(
            meaning="M/M/1: Poisson arrivals, one server, exponential service times",
            has_product_form=True,
            takes=("room",),
        ),
    )
    MD1 = (
        "md1",
        Traits(
            meaning="M/D/1: Poisson arrivals, one server, constant service times per stream",
            variation=0,
            takes=("room",),
        ),
    )
    MG1 = (
        "mg1",
        Traits(
            meaning="M/G/1: Poisson arrivals, one server, service times with coefficient of "
            "variation `cv`",
            variation=None,
            takes=("cv", "room"),
        ),
    )
    MMC = (
        "mmc",
        Traits(
            meaning="M/M/c: Poisson arrivals, c cores with one queue, exponential service times",
            counts_servers=True,
            on_one_server="mm1",
            has_product_form=True,
            takes=("room",),
        ),
    )
    MDC = (
        "mdc",
        Traits(
            meaning="M/D/c: Poisson arrivals, c cores with one queue, constant service times per "
            "stream",
            variation=0,
            counts_servers=True,
            on_one_server="md1",
            takes=("room",),
        ),
    )
    MGC = (
        "mgc",
        Traits(
            meaning="M/G/c: Poisson arrivals, c cores with one queue, service times with "
            "coefficient of variation `cv`",
            variation=None,
            counts_servers=True,
            on_one_server="mg1",
            takes=("cv", "room"),
        ),
    )
    PS = (
        "ps",
        Traits(
            meaning="processor sharing: Poisson arrivals, all jobs share the server or the cores",
            counts_servers=True,
            service=Service.SHARED,
            has_product_form=True,
            is_insensitive=True,
            takes=("speeds",),
        ),
    )
    PRIORITY = (
        "priority",
        Traits(
            meaning="Poisson arrivals, streams with higher priority are served first",
            counts_servers=True,
            service=Service.RANKED,
            takes=("cv", "preemptive"),
        ),
    )
    LOSS = (
        "loss",
        Traits(
            meaning="Poisson arrivals at the cores of a CPU, lost if all cores are busy (Erlang B)",
            counts_servers=True,
            on_one_server="mm1",
            may_be_closed=False,
            loses=True,
        ),
    )
    QUOTA = (
        "quota",
        Traits(
            meaning="CPU limit: Poisson arrivals, all jobs share the cores of the host until the "
            "quota of a period is used up",
            on_one_server="mm1",
            service=Service.SHARED,
            may_be_closed=False,
            takes=("cv", "per"),
        ),
    )
    PERIODIC = (
        "periodic",
        Traits(meaning="equal periodic streams with random phases", variation=0, is_random=False),
    )


DISCIPLINES = {one.value: one for one in Discipline}
"""All disciplines by the words of the language."""
