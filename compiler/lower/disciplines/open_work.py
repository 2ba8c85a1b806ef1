"""The work at one server of first come, first served, as open traffic beside users finds it.

All work that is brought is served (Brumelle 1971): so what users find says what is there at any
time, its mean and, with the square of what they find, its variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler.lower.disciplines.gamma_stages import gamma_law
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    maximum,
    minimum,
    number,
    square_root,
    total,
)

_NO_TIME = number(Fraction(1, 10**30))


class Brought(Struct, frozen=True, kw_only=True):
    """Work that comes to a server: at a `rate`, a `service` each.

    Users `find` so much, with a `variance`; open traffic what there is: None.
    """

    rate: Formula
    service: Formula
    find: Formula | None = None
    variance: Formula = ZERO


class WorkFound(Struct, frozen=True, kw_only=True):
    """What comes to a server, of which open traffic is a `load`.

    Services vary by the square of `variation`.
    """

    brought: Sequence[Brought]
    load: Formula
    variation: Formula

    @property
    def open_wait(self) -> Formula:
        """How long those wait who wait, where only open traffic comes, as if exponential."""
        opened = [one for one in self.brought if one.find is None]
        squares = total(one.rate * one.service**2 for one in opened)
        work = total(one.rate * one.service for one in opened)
        return apply(
            "waiting", apply("mean", squares, work) * (1 + self.variation**2) / 2, self.load
        )

    def found_variance(self, found: Formula, service: Formula, in_line: Formula | None) -> Formula:
        """Return the variance of what users find who are served so long: behind others, `in_line`.

        Those who find any find at least what open traffic alone would let them find, exponential;
        who is alone finds what came while it was there.
        """
        behind = found * (found + 2 * service) if in_line is None else in_line
        return maximum(behind, 2 * found * self.open_wait - found**2)

    @property
    def mean(self) -> Formula:
        """The mean work that is there."""
        squared = 1 + self.variation**2
        twice = [one.rate * one.service**2 * squared for one in self.brought]
        found = [one.rate * one.find * one.service for one in self.brought if one.find is not None]
        return apply("waiting", total(twice) / 2 + total(found), self.load)

    def variance(self, mean: Formula) -> Formula:
        """Return the variance of the work, which has a `mean`."""
        uneven, parts = self.variation**2, []
        for one in self.brought:
            square = one.service**2 * (1 + uneven)
            cube = one.service**3 * (1 + uneven) * (1 + 2 * uneven)
            found = mean if one.find is None else one.find
            parts.append(one.rate * (square * found + cube / 3))
            if one.find is not None:
                parts.append(one.rate * (found**2 + one.variance) * one.service)
        return maximum(ZERO, apply("waiting", total(parts), self.load) - mean**2)


def found_stage(
    found: Formula, variance: Formula, service: Formula, variation: Formula
) -> StageLaw:
    """Return a wait of a mean and a variance, and a service of a squared `variation`.

    A share waits, exponential, where the wait varies more than that; where it varies less, as much
    of it varies so, and the rest is fixed.
    """
    square = 1 + apply("mean", variance, maximum(_NO_TIME, found**2))
    share, part = minimum(ONE, 2 / square), minimum(ONE, square_root(square - 1))
    fixed = (1 - part) * found
    law = gamma_law(
        service + fixed,
        apply("mean", variation * service**2, maximum(_NO_TIME, (service + fixed) ** 2)),
        service,
    )
    return replace(law, waits=share, work=part * found / share)
