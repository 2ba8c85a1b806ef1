"""How it is known what a cycle of a closed stream waits, besides what each station does to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.lower.closed_networks.cycle import Cycle, ThroughputLimit
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.labels.one_service_pools import (
    DELAY,
    ONE_SERVICE,
    delay_case,
    pools_by_method,
)
from qps.compiler.lower.queues.visits import QueueVisit
from qps.compiler.lower.traffic.traffic_parts import ClassTraffic, StationTraffic
from qps.compiler.quantities.certainty import Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import ONE, number
from qps.engine.expressions.substitution import Substitution


class CycleKnown(Struct, frozen=True, kw_only=True):
    """A cycle, with what of it is a simplification."""

    stream: ir.Stream
    result: ClassTraffic
    cycle: Cycle
    demands: Mapping[str, StationTraffic]
    expressions: ExpressionLowering

    def within(self, limits: Sequence[ThroughputLimit]) -> Certainty:
        """Return how the waits are known, besides what each station does to it."""
        found = [known_by("product-form", self.stream.name)]
        if self._is_in_parts:
            found.append(known_by("fractional-population", self.result.name))
        shared = [limit.resource for limit in limits if limit.is_shared]
        if shared:
            found.append(known_by("saturation-slows-all", shared))
        if self.cycle.overlapping:
            found.append(known_by("visits-in-sequence", list(self.cycle.overlapping)))
        found += self._pools_known()
        if self.cycle.forks:
            found.append(known_by("closed-fork-join", self.result.name))
        if self.result.losses:
            found.append(known_by("lost-users-think", self.stream.name))
        differing = [visit.resource for visit in self.result.visits.values() if self._mixes(visit)]
        if differing:
            found.append(known_by("kinds-as-equal", list(dict.fromkeys(differing))))
        if self._own_several:
            found.append(known_by("own-as-any", self._own_several))
        return together(*found)

    def _pools_known(self) -> list[Certainty]:
        """Return how it is known what is waited for pools, and while some of them are held."""
        found = []
        held = pools_by_method(self.cycle)
        if "" in held:
            found.append(known_by("flow-equivalent-server", held[""]))
        if DELAY in held:
            found.append(known_by(DELAY, held[DELAY], case=delay_case(self.cycle)))
        if ONE_SERVICE in held:
            found.append(known_by(ONE_SERVICE, self.stream.name))
        if self.cycle.mixed:
            found.append(known_by("held-as-not-held", list(self.cycle.mixed)))
        return found

    def _mixes(self, visit: QueueVisit) -> bool:
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
