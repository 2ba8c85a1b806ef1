"""The law of a wait and a service, in the terms that sums of independent stages take."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.engine.expressions.formulas import ONE, ZERO, Formula, number


class WorkPart(Struct, frozen=True, kw_only=True):
    """A part of the work that is waited for: its `load`, and the law of one such work.

    A share `found` finds it first; None where that is as much as its load. Where it takes no less
    than the part before it, and it is known which share finds either of both first, that is the
    one `found_together`: bounds of the two rest on it.
    """

    load: Formula
    work: Formula
    spread: Formula
    found: Formula | None = None
    found_together: Formula = ZERO

    @property
    def operands(self) -> tuple[Formula, ...]:
        """The numbers of a stage that say what is waited for."""
        return (self.load if self.found is None else self.found, self.load, self.work, self.spread)


class StageLaw(Struct, frozen=True, kw_only=True):
    """The law of a wait and a service, as sums of independent stages take it.

    A share `waits`, a geometric sum, of ratio `load`, of what is left of `work` by so many
    `servers`; all are served. `spread` and `variation` are the squared variations of both.
    `counted` is what of its mean other stages of the latency contain already. Where there are
    `parts`, the work is a mixture of these, each of which is found first by so many.
    """

    waits: Formula
    load: Formula = ZERO
    work: Formula
    spread: Formula = ONE
    servers: Formula = ONE
    service: Formula = ZERO
    variation: Formula = ONE
    counted: Formula = ZERO
    parts: tuple[WorkPart, ...] = ()
    then: tuple[Formula, Formula, Formula] | None = None
    """Of a share of the visits one more wait, by itself: its mean and its squared variation."""

    def operands(self, times: Formula = ONE, inside: int = 0) -> tuple[Formula, ...]:
        """Return those of a sum: passed so often, with so many of the next stages inside."""
        if self.then is not None:
            share, mean, variation = self.then
            first = replace(self, then=None).operands()
            behind = StageLaw(waits=ZERO, work=ZERO, service=mean, variation=variation)
            both = (*first, *behind.operands(share))
            around = StageLaw(waits=ZERO, work=ZERO).operands(times, inside + len(both) // _SIZE)
            return (*around, *both)
        found: tuple[Formula, ...] = (self.waits, self.load, self.work, self.spread)
        more: list[Formula] = []
        if self.parts:
            found, *others = (one.operands for one in self.parts)
            together = [one.found_together for one in self.parts[1:]]
            more = [
                number
                for one, share in zip(others, together, strict=True)
                for number in (*one, *_NO_STATION, share, ZERO)
            ]
        within = number(Fraction(inside + len(self.parts[1:])))
        return (*found, self.servers, self.service, self.variation, times, within, *more)

    def lasting(self, times: Formula) -> StageLaw:
        """Return the stage where what is waited for takes so many times as long."""
        parts = tuple(replace(one, work=one.work * times) for one in self.parts)
        return replace(self, work=self.work * times, parts=parts)


class LastCopy(Struct, frozen=True, kw_only=True):
    """Until all copies are served that come together: a `wait`, then `parallel` services.

    Where `service` is None the wait has the service, too. `variation` is the coefficient of
    variation of services.
    """

    wait: StageLaw
    variation: Formula
    service: StageLaw | None = None
    parallel: Formula = ONE


_NO_STATION = (ZERO,) * 3
"""What follows the work of a part: it has no servers, and no service of its own."""
_SIZE = 9
"""Operands of a stage."""
