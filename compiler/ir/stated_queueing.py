"""What a spec states of a queue: its discipline, and the numbers that this takes."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.parameters import Quantity
from qps.compiler.quantities.disciplines import Discipline, Traits


class Queueing(Struct, frozen=True, kw_only=True):
    """A discipline, and what is said of it.

    `variation` is the coefficient of variation of the service time; `speeds` are how fast all
    are served together, by how many there are, the last one for all numbers beyond. There is `room`
    for so many, those being served among them. Of a CPU limit, `host_cores` work at once until the
    quota of a `period` (s) is used up.
    """

    discipline: Discipline
    span: Span
    variation: Quantity | None = None
    is_preemptive: bool = False
    speeds: tuple[Quantity, ...] = ()
    room: Quantity | None = None
    period: Quantity | None = None
    host_cores: Quantity | None = None

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
    def has_full_speed(self) -> bool:
        """True where it is for cores that lose nothing to each other."""
        return self.counts_servers or self.traits.needs_cores

    @property
    def written(self) -> str:
        """It in the words of a spec."""
        words = [self.discipline.value, *["preemptive"] * self.is_preemptive]
        if self.variation is not None:
            words.append(f"cv {self.variation.text}")
        if self.room is not None:
            words.append(f"room {self.room.text}")
        if self.speeds:
            words.append(f"speeds [{', '.join(speed.text for speed in self.speeds)}]")
        if self.period is not None and self.host_cores is not None:
            words.insert(1, f"per {self.period.text} on {self.host_cores.text}")
        return " ".join(words)

    @property
    def as_read(self) -> object:
        """What is equal where two say the same, wherever they stand."""
        numbers = (self.variation, self.room, self.period, self.host_cores, *self.speeds)
        return self.discipline, self.is_preemptive, tuple(one and one.expr for one in numbers)
