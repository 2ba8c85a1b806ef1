"""The disciplines of queues: what each takes for given, and what it needs of a resource.

What they come to is told by `lower/disciplines`, a module for each family.
"""

from __future__ import annotations

from enum import Enum

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity


class Traits(Struct, frozen=True, kw_only=True):
    """What is true of a discipline.

    `variation` is the coefficient of variation of its service times, None where the spec says it.
    `has_equal_servers` where it is of the cores of a processor, whole ones, each as fast beside
    others as alone. `is_random` where items arrive at random. A network of queues is in product
    form where `has_product_form` and visits are exponential and equally long; `is_insensitive`
    where it does not matter how service times vary.
    """

    variation: int | None = 1
    has_equal_servers: bool = False
    is_random: bool = True
    has_product_form: bool = False
    is_insensitive: bool = False


class Discipline(Enum):
    """How what arrives at a resource waits (docs/language.md, "Waiting in queues")."""

    NONE = "none"  # waiting is not modelled, as in the thesis
    MM1 = "mm1"  # random arrivals, exponential service times
    MD1 = "md1"  # random arrivals, service times that are fixed for each stream
    MG1 = "mg1"  # random arrivals, service times of some coefficient of variation
    MMC = "mmc"  # the same as mm1, for several cores with one queue
    PERIODIC = "periodic"  # equal streams with one visit a period, at random phases

    @property
    def traits(self) -> Traits:
        """What is true of it."""
        return _TRAITS[self]


_TRAITS = {
    Discipline.NONE: Traits(variation=0, is_random=False),
    Discipline.MM1: Traits(has_product_form=True),
    Discipline.MD1: Traits(variation=0),
    Discipline.MG1: Traits(variation=None),
    Discipline.MMC: Traits(has_equal_servers=True, has_product_form=True),
    Discipline.PERIODIC: Traits(variation=0, is_random=False),
}


class Queueing(Struct, frozen=True):
    """A discipline; `variation` is the coefficient of variation of the service time of mg1."""

    discipline: Discipline
    variation: Quantity | None
    span: Span

    @property
    def that_waits(self) -> Queueing | None:
        """The same; None where it is said that no waiting is counted."""
        return None if self.discipline is Discipline.NONE else self

    @property
    def has_equal_servers(self) -> bool:
        """True where it is of whole cores, each as fast beside others as alone."""
        return self.discipline.traits.has_equal_servers

    @property
    def is_random(self) -> bool:
        """True where items arrive at random."""
        return self.discipline.traits.is_random

    @property
    def written(self) -> str:
        """It in the words of a spec."""
        variation = self.variation
        return self.discipline.value + ("" if variation is None else f" cv {variation.text}")

    @property
    def as_read(self) -> object:
        """What is equal where two say the same, wherever they stand."""
        return self.discipline, self.variation and self.variation.expr
