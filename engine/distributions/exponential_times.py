"""Times that are told in closed form: an exponential service behind an exponential wait.

A share C waits, for an exponential time of rate r; all are served, at a rate m. As an M/M/c queue
has it, so long does it take that

    P(T > t) = exp(-m t) + C m t exp(-min(r, m) t) f(|r - m| t), with f(x) = (1 - exp(-x))/x.

It may be taken by chance alone, and behind a time that is always the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np
from msgspec import Struct

from qps.engine.distributions.stages import OPERANDS
from qps.engine.numerics.array_blocks import Array

_NEXT_TO_NOTHING = 1e-300


class ExponentialTime(Struct, frozen=True, kw_only=True):
    """A time that is taken with some `chance`: a `fixed` one, then a wait for some, then a service.

    Rates are infinite where there is no such time.
    """

    chance: float
    fixed: float
    waits: float
    wait_rate: float
    service_rate: float

    @property
    def atoms(self) -> tuple[tuple[float, float], ...]:
        """The times that it takes for sure, each with the chance of it, the shortest first."""
        served_at_once = 0.0 if self.service_rate < inf else 1 - self.waits
        each = ((0.0, 1 - self.chance), (self.fixed, self.chance * served_at_once))
        return tuple(one for one in each if one[1] > 0)

    @property
    def shortest(self) -> float:
        """The shortest mean of what varies."""
        return min(1 / rate for rate in (self.wait_rate, self.service_rate) if rate < inf)

    def longer(self, times: Array) -> tuple[Array, Array]:
        """Return which share takes longer than each time, and the density of what varies."""
        after = np.maximum(times - self.fixed, 0.0)
        share, density = self._beyond(after)
        is_before = times < self.fixed
        share, density = np.where(is_before, 1.0, share), np.where(is_before, 0.0, density)
        return np.where(times < 0, 1.0, self.chance * share), self.chance * density

    def _beyond(self, times: Array) -> tuple[Array, Array]:
        waits, wait, service = self.waits, self.wait_rate, self.service_rate
        if service == inf:
            share = waits * np.exp(-wait * times)
            return share, wait * share
        served = np.exp(-service * times)
        if not waits:
            return served, service * served
        apart = np.maximum(abs(wait - service) * times, _NEXT_TO_NOTHING)
        both = service * times * np.exp(-min(wait, service) * times) * -np.expm1(-apart) / apart
        return served + waits * both, (1 - waits) * service * served + waits * wait * both


def exponential_time(stages: Sequence[float]) -> ExponentialTime | None:
    """Return the time to pass stages where it is such a one, None where it is another."""
    around, inner = stages[:OPERANDS], stages[OPERANDS:]
    if not inner:
        return _of_one(around, 1.0, 0.0)
    waits, _, _, _, _, service, variation, chance, inside = around
    if waits or inside * OPERANDS != len(inner):
        return None
    if not service and chance == 1:
        return exponential_time(inner)
    if len(inner) != OPERANDS or chance > 1 or (service and variation):
        return None
    return _of_one(inner, chance, service)


def _of_one(stage: Sequence[float], chance: float, fixed: float) -> ExponentialTime | None:
    waits, load, work, spread, servers, service, variation, times, inside = stage
    is_late = waits > 0 and work > 0
    if inside or times != 1 or not (is_late or service) or load >= 1:
        return None
    if (is_late and spread != 1) or (service and variation != 1):
        return None
    return ExponentialTime(
        chance=chance,
        fixed=fixed,
        waits=min(waits, 1.0) if is_late else 0.0,
        wait_rate=servers * (1 - load) / work if is_late else inf,
        service_rate=1 / service if service else inf,
    )
