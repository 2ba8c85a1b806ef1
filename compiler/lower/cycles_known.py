"""How it is known what a cycle of a closed stream waits, besides what each station does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.closed import Limit
from qps.compiler.lower.closed_cycle import Cycle
from qps.compiler.lower.flows import Demand, StreamResult
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.queueing import Visit
from qps.compiler.quantities.certainty import Certainty, approximation, together
from qps.compiler.quantities.scales import percent
from qps.engine.formulas import ONE, number
from qps.engine.networks.forked_numbers import FORKED_ERROR
from qps.engine.substitution import Substitution

_POOLS_ERROR = 0.1
_POOLS_TOLD = "rates within 10 %, response times beyond the knee within 20 %"
SHARED_ERROR = 0.2
SHARED_TOLD = "rates within 10 %, response times within 20 %"


class CycleKnown(Struct, frozen=True, kw_only=True):
    """A cycle, with all that tells what of it is a simplification."""

    stream: ir.Stream
    result: StreamResult
    cycle: Cycle
    demands: Mapping[str, Demand]
    expressions: ExpressionLowering

    def within(self, limits: Sequence[Limit]) -> Certainty:
        """Return how the waits are known, besides what each station does to it."""
        found = []
        if self._is_in_parts:
            found.append(
                approximation(
                    f"`{self.result.name}` may have a fractional number of requests in flight: "
                    "interpolated between whole numbers"
                )
            )
        shared = [limit.resource for limit in limits if limit.is_shared]
        if shared:
            told = listed(shared, "or")
            found.append(approximation(f"saturation of {told} slows all visits alike"))
        if self.cycle.overlapping:
            told = listed(list(self.cycle.overlapping), "and")
            found.append(approximation(f"simultaneous visits to {told} are modeled as sequential"))
        found += self._pools_known()
        if self.cycle.forks:
            found.append(
                approximation(
                    (
                        f"parallel calls of `{self.result.name}` take the maximum of independent "
                        f"times: within {percent(FORKED_ERROR, 2)}"
                    ),
                    error=FORKED_ERROR,
                )
            )
        if self.result.losses:
            name = self.stream.name
            found.append(
                approximation(f"users of `{name}` whose request is lost start to think at once")
            )
        differing = [visit.resource for visit in self.result.visits.values() if self._mixes(visit)]
        if differing:
            told = listed(list(dict.fromkeys(differing)), "and")
            found.append(
                approximation(f"visits to {told} by several kinds of items count as equal")
            )
        if self._own_several:
            told = listed(self._own_several, "and")
            found.append(
                approximation(f"items at each holder's own {told} count as at any of them")
            )
        return together(*found)

    def _pools_known(self) -> list[Certainty]:
        """Return how it is known what is waited for pools, and while some of them are held."""
        pools, found = self.cycle.pools, []
        if pools.held:
            told = listed([one.resource for pool in pools.held for one in pool.every], "and")
            found.append(
                approximation(
                    (
                        f"work while {told} is held is assumed in steady state at each number of "
                        f"holders: {_POOLS_TOLD}"
                    ),
                    error=_POOLS_ERROR,
                )
            )
        if pools.mixed:
            told = listed(list(pools.mixed), "and")
            found.append(
                approximation(f"visits to {told} while a pool is held are modeled as without it")
            )
        return found

    def _mixes(self, visit: Visit) -> bool:
        """Return whether items of several kinds are served there as first comes first."""
        queueing = self.demands[visit.resource].queueing
        is_insensitive = queueing is None or queueing.traits.is_insensitive
        return visit.most is not None and not is_insensitive

    @property
    def _own_several(self) -> list[str]:
        """The stations of which each holder has its own, and several items there.

        Those of one holder never meet those of another: there are as many classes as machines. So
        it is with pairs: each has two machines of its own, which it shares with others.
        """
        whose = self.stream.flows_from
        if isinstance(whose, ir.EachPair):
            starts = (leg.node for leg in self.stream.legs if isinstance(leg, ir.Visit))
            whose = whose.node or next(starts)
        return [
            station.resource
            for station in self.cycle.stations
            if station.copies is not ONE
            and any(
                visit.place.name == whose
                for visit in self.result.visits.values()
                if visit.resource == station.resource
            )
        ]

    @property
    def _is_in_parts(self) -> bool:
        """Return whether less than a whole item may be under way, at some population."""
        expressions = self.expressions
        jobs = expressions.put_in(self.cycle.jobs)
        low, high = expressions.configuration.low, expressions.configuration.high
        for at in {low, min(low + 1, high), high}:
            known = Substitution({expressions.population: number(at)})(jobs).exact
            if known is None or known.denominator > 1:
                return True
        return False
