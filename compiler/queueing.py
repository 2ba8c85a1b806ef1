"""Waiting in queues: how long an item waits at a resource, on average and in the worst cases.

A *visit* is one crossing of a port of a link, or one run of steps at one node on one resource.
Every stream that visits a resource waits there as long as the others: arrivals see time
averages. Load that no visit causes (idle load, constant costs) counts as visits of mean size.

The formulas are those of Pollaczek and Khinchine over the mix of visits, of Erlang (M/M/c), and
of N D/D/1, the superposition of N periodic flows (Roberts and Virtamo 1991; docs/language.md,
"Waiting in queues").
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy

from qps.compiler import ir
from qps.compiler.extremes import Maximum, Mean
from qps.compiler.queue_functions import (
    ErlangC,
    GammaQuantile,
    MD1Quantile,
    PeriodicQuantile,
    PeriodicWait,
    SojournQuantile,
    Waiting,
)


@dataclass
class Visit:
    """What one stream asks of a queue: grows while its run of steps is walked.

    `rate` visits a second at one machine or port, of `flows` of them; `service` is the time of
    one visit on one server, in s. `after` names the queues that the stream has waited in before;
    `is_uneven` where what happens within the run makes its visits differ (some items are dropped
    half way), so that the service time is a mean.
    """

    resource: str
    rate: sympy.Expr
    flows: sympy.Expr
    service: sympy.Expr = sympy.S.Zero
    after: tuple[str, ...] = ()
    is_uneven: bool = False


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue in its place, with all that visits it; `load` is that of the resource.

    `servers` are the cores, 1 for a port; `variation` is the coefficient of variation of the
    service time, 1 for mm1 and mmc; `background` is the load that no visit causes. `shaped_by` is
    a queue on the way here that leaves what arrives less or more random than the discipline says;
    `is_uneven` where the visits of a stream differ.
    """

    resource: str
    discipline: ir.Discipline
    variation: sympy.Expr
    servers: sympy.Expr
    load: sympy.Expr
    rates: tuple[sympy.Expr, ...]
    flows: tuple[sympy.Expr, ...]
    services: tuple[sympy.Expr, ...]
    background: sympy.Expr
    shaped_by: str | None = None
    is_uneven: bool = False

    # -- the mean ------------------------------------------------------------------------

    @property
    def wait(self) -> sympy.Expr:
        """The mean time that a visit waits, in s; infinite from load 1 on."""
        if self.discipline is ir.Discipline.PERIODIC:
            return self._size / self.servers * PeriodicWait(self._in_a_period, self.load)
        half = (1 + self.variation**2) / 2
        if self.discipline is ir.Discipline.MMC:
            waiting = ErlangC(self.servers, self.servers * self.load)
            return Waiting(half * waiting * self._size / self.servers, self.load)
        return Waiting(half * self.load * self._size / self.servers, self.load)

    @property
    def _size(self) -> sympy.Expr:
        """The mean square of the service times over their mean: what a visit finds in service.

        For equal visits their service time; the long ones of a mix weigh more.
        """
        if self.is_uniform:
            return self.services[0]
        pairs = list(zip(self.rates, self.services, strict=True))
        squares = sympy.Add(*(rate * service**2 for rate, service in pairs))
        return Mean(squares, sympy.Add(*(rate * service for rate, service in pairs)))

    @property
    def is_uniform(self) -> bool:
        """True where all visits have one service time."""
        return len(set(self.services)) == 1

    @property
    def keeps_randomness(self) -> bool:
        """True where what leaves at random has arrived at random: equal exponential service."""
        is_exponential = self.variation == 1 and not self.is_uneven
        is_modelled = self.discipline is ir.Discipline.MMC or self.servers == 1
        return is_exponential and is_modelled and self.is_uniform and self.background == 0

    @property
    def _in_a_period(self) -> sympy.Expr:
        """Visits in the longest period of the flows: their number where all have the same one.

        A faster flow counts as several of the longest period at random phases, which are less
        regular than it is, so that the wait is rather too long than too short.
        """
        if len(self.rates) == 1:
            return self.flows[0]
        periods = [Mean(f, r) for r, f in zip(self.rates, self.flows, strict=True)]
        return sympy.Add(*self.rates) * _longest(periods)

    # -- quantiles -----------------------------------------------------------------------

    def quantile(self, service: sympy.Expr, level: sympy.Expr) -> sympy.Expr:
        """Return what a share `level` of the visits does not wait longer than, in s.

        It is the quantile of wait and service less the mean service, which is in the latency
        already. Where visits differ, it is that of a queue in which all are as long as the
        longest at the same load: the residual service times are longer there in distribution,
        and so is their geometric sum, the wait.
        """
        longest = _longest(self.services)
        if self.discipline is ir.Discipline.PERIODIC:
            held = PeriodicQuantile(self._in_a_period, self.load, level)
            return longest / self.servers * held
        if self.variation == 0:
            return longest / self.servers * MD1Quantile(self.load, level)
        if self.variation == 1:
            return service * (self._sojourn(service / longest, level) - 1)
        return longest * GammaQuantile(self.load, self.variation**2, level) - service

    def _sojourn(self, part: sympy.Expr, level: sympy.Expr) -> sympy.Expr:
        """Return the quantile of wait and exponential service, in service times."""
        waiting = self.load
        if self.discipline is ir.Discipline.MMC:
            waiting = ErlangC(self.servers, self.servers * self.load)
        rate = self.servers * (1 - self.load) * part
        return SojournQuantile(waiting, rate, level)


def _longest(times: tuple[sympy.Expr, ...] | list[sympy.Expr]) -> sympy.Expr:
    distinct = list(dict.fromkeys(times))
    return distinct[0] if len(distinct) == 1 else Maximum(*distinct)
