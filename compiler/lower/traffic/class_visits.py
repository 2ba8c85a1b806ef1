"""The visits of a class: which services are one visit of a station, and what waits there."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.think_times import think_time
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.lower.queues.visits import LAST, QueuePlace, QueueVisit
from qps.compiler.lower.response_time.response_stages import wait_for
from qps.compiler.lower.traffic.build_network import SpecNetwork
from qps.compiler.lower.traffic.call_batches import note_others
from qps.compiler.lower.traffic.flow_state import FlowState
from qps.compiler.lower.traffic.traffic_parts import StationTraffic
from qps.compiler.network.class_kinds import kinds_in
from qps.compiler.network.classes import Class
from qps.compiler.network.itinerary import Node
from qps.compiler.network.station_runs import goes_on
from qps.compiler.network.stations_and_pools import Station
from qps.engine.expressions.formulas import ONE, ZERO, Formula, apply, product, total
from qps.engine.expressions.quotients import above_and_below


class _Run(Struct, frozen=True):
    """A visit with the service times that it is made of."""

    visit: QueueVisit
    services: list[Formula] = field(default_factory=list)


class ClassVisits:
    """The visits of one class, as its flows come to them; `place` is where they are."""

    def __init__(
        self,
        spec: SpecNetwork,
        of: Class,
        *,
        stream: ir.Stream,
        state: FlowState,
        expressions: ExpressionLowering,
        demands: Mapping[str, StationTraffic],
    ) -> None:
        self._network = spec.network
        self._of = of
        self._stream = stream
        self._state = state
        self._result = state.result
        self._unmodeled = spec.unmodeled_queues
        self._demands = demands
        self._expressions = expressions
        self._has_feedback = think_time(expressions.model, stream) is not None
        self._has_kinds = bool(kinds_in(spec.network, of)[0])
        self._rank = LAST if of.rank is None else int(of.rank.value or 0)
        self._runs: dict[str, _Run] = {}  # visits that go on
        self._served: list[_Run] = []
        self.place = QueuePlace("", ONE)

    def come_to(self, node: Node) -> None:
        """Come to a node of the itinerary, which may end visits."""
        is_store = self._network.is_store
        self._runs = {n: run for n, run in self._runs.items() if goes_on(n, node, is_store)}

    def end(self) -> None:
        """Sum up what the visits demand: each as long as all that is done there in a row."""
        for run in self._served:
            # Visits that are alike are known by their formulas.
            run.visit.service = self._expressions.with_counts(total(run.services))
        note_others(self._result.visits.values())

    def wait(
        self,
        station: Station,
        holding: Formula,
        busy: Formula,
        *,
        is_bounded: bool,
        thread: str | None = None,
    ) -> None:
        """Let an item wait for a station, once for a visit; `busy` is for all flows `holding`."""
        if busy is ZERO:
            return
        now, name = self._state, station.name
        self._result.flows[name], self._result.where[name] = holding, self.place.name
        if not station.waits or now.is_bare:
            self.note_uncounted(name, is_bounded=is_bounded)
        if now.is_bare:
            return
        rate, run = holding * now.rate, self._runs.get(name)
        if run is None:
            run = self._runs[name] = _Run(self.visit(name, rate, holding))
            self._served.append(run)
            if station.waits:
                self.queue(run.visit)
        visit = run.visit
        visit.is_uneven |= visit.rate != rate
        visit.threads = (*visit.threads, thread)
        service = busy / visit.flows * (now.rate * visit.flows / visit.rate)
        run.services.append(self._for_each(service))

    def _for_each(self, service: Formula) -> Formula:
        """Return a time for each visit: none where the population leaves no visits at all."""
        count = self._network.population
        if count not in service.symbols:
            return service
        below = product(above_and_below(service)[1])
        if below is count or count not in below.symbols:
            return service
        return apply("mean", service * below, below)

    def note_uncounted(self, name: str, *, is_bounded: bool = False) -> None:
        """Note that no waiting is counted at a station, and whether that was said."""
        self._result.uncounted[name] = None
        if not is_bounded:
            self._result.unbounded[name] = None
        unwaited = self._unmodeled.get(name)
        if unwaited is not None:
            is_bare = self._state.is_bare
            self._result.unmodeled_queues[name] = (
                replace(unwaited, discipline=None) if is_bare else unwaited
            )

    def visit(
        self, name: str, rate: Formula, flows: Formula, place: QueuePlace | None = None
    ) -> QueueVisit:
        """Return a visit with what is known of the flows so far; at the node, if nowhere else."""
        now, at = self._state, place or self.place
        is_own = at.name == self._stream.flows_from
        return QueueVisit(
            resource=name,
            rate=rate,
            flows=flows,
            of=(self._of.name, len(self._result.latency)),
            after=tuple(dict.fromkeys(visit.resource for visit in now.queue_visits)),
            place=at,
            before=now.queue_visits[-1] if now.queue_visits else None,
            joined=None if self._of.is_closed else now.joined,
            variation=self._of.arrivals.variation,
            is_bursty=now.is_bursty,
            burst=now.burst,
            meets=now.meets,
            is_retransmitted=self._has_feedback,
            is_spread=not is_own,
            is_of_kinds=self._has_kinds and is_own and at.count is not ONE,
            rank=self._rank,
        )

    def queue(self, visit: QueueVisit) -> None:
        """Put a visit in a queue, and a place for its wait into the latency."""
        self._demands[visit.resource].visits.append(visit)
        self.add_wait(visit)
        self._state.queue_visits += (visit,)

    def add_wait(self, visit: QueueVisit) -> None:
        """Put a place for the wait of a visit into the latency."""
        place = self._network.place_of(visit.resource)
        self._result.visits[len(self._result.latency)] = visit
        self._state.append(wait_for(visit.resource, place=place))
