"""Waits on the way of a stream: which of its runs of steps and ports are visits of a queue."""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.think_times import think_time
from qps.compiler.lower.flows import Demand
from qps.compiler.lower.latency_parts import wait_for
from qps.compiler.lower.queueing import LAST, Place, Visit
from qps.compiler.lower.stream_demands import StreamDemands
from qps.compiler.lower.stream_measures import LossKind
from qps.compiler.lower.unwaited import Unwaited, fitting
from qps.compiler.lower.walk.under_way import UnderWay
from qps.engine.formulas import ONE, ZERO, Formula, above_and_below, apply, product, total


class _Run(Struct, frozen=True):
    """A visit with the service times of the steps that it is made of."""

    visit: Visit
    services: list[Formula] = field(default_factory=list)


class WalkedWaits:
    """The waits of one walk along a stream.

    A run of steps on one resource is one visit; it ends where the flow comes to a node, is on
    another resource, or is delayed.
    """

    def __init__(self, streams: StreamDemands, stream: ir.Stream, under_way: UnderWay) -> None:
        self._streams = streams
        self._expressions = streams.expressions
        self._stream = stream
        self._under_way = under_way
        self._result = under_way.result
        self._is_asked_again = think_time(streams.model, stream) is not None
        self._place = Place("", ONE)
        stated, name = stream.arrivals, f"{stream.name}.arrivals"
        self._variation = None if stated is None else streams.expressions.symbol(name, stated)
        rank = streams.expressions.rank(stream.priority)
        self._rank = LAST if rank is None else rank
        self._runs: dict[str, _Run] = {}  # of the resource that the last step was on
        self._served: list[_Run] = []

    def end(self) -> None:
        """Sum up what the visits ask for: each as long as all of its steps."""
        for run in self._served:
            # Visits that are alike are told so by their formulas.
            run.visit.service = self._expressions.with_counts(total(run.services))

    def end_runs(self, *but: str) -> None:
        """End the runs of steps, but on these resources: what comes back there waits anew."""
        self._runs = {name: run for name, run in self._runs.items() if name in but}

    def admit(self, name: str, resource: ir.Resource) -> None:
        """Lose what finds no room at a resource, once for a run of steps."""
        if name not in self._runs:
            self.admit_to(name, resource.waits)

    def admit_to(self, name: str, queueing: ir.Queueing | None) -> None:
        """Lose what finds no room."""
        now = self._under_way
        if queueing is None or not queueing.traits.loses:
            return
        if now.flow.primary is not None:
            share = self._streams.lost(name)
            now.lose(f"no room at {name}", LossKind.BLOCKED, share, queueing.span, at=name)

    def wait(
        self,
        name: str,
        demand: Demand,
        resource: ir.Resource,
        held: Formula,
        busy: Formula,
        *,
        is_bounded: bool,
        thread: str | None = None,
    ) -> None:
        """Let an item wait for a resource, once for a run of steps; `busy` is for all flows."""
        if busy is ZERO:
            return
        self._result.held[name] = held
        self._result.where[name] = self._place.name
        queueing = resource.waits
        if queueing is None or self._under_way.flow.primary is None:
            unwaited = Unwaited(name, name, resource.name, fitting(resource))
            self.note_uncounted(unwaited, resource.queueing)
            if not is_bounded:
                self._result.unbounded[name] = None
        if self._under_way.flow.primary is None:
            return
        now = self._under_way.flow.rates[self._under_way.flow.primary]
        run = self._runs.get(name)
        if run is None:
            run = self._runs[name] = _Run(self.visit(name, held * now, held))
            self._served.append(run)
            if queueing is not None:
                self.queue(run.visit, demand, queueing)
        visit = run.visit
        visit.is_uneven |= visit.rate != held * now
        visit.threads = (*visit.threads, thread)
        service = busy / visit.flows * (now * visit.flows / visit.rate)
        run.services.append(self._for_each(service))

    def note_uncounted(self, found: Unwaited, stated: ir.Queueing | None) -> None:
        """Note that no waiting is counted at a resource, and whether that was said."""
        self._result.uncounted[found.resource] = None
        if stated is None:
            can_wait = self._under_way.flow.primary is not None
            unsaid = found if can_wait else replace(found, discipline=None)
            self._result.unsaid[found.resource] = unsaid

    def _for_each(self, service: Formula) -> Formula:
        """Return a time for each visit: none where the population leaves no visits at all."""
        count = self._expressions.population
        if count not in service.symbols:
            return service
        below = product(above_and_below(service)[1])
        if below is count or count not in below.symbols:
            return service
        return apply("mean", service * below, below)

    def at(self, place: Place) -> None:
        """Come to the machines of a node: runs of steps begin there."""
        self.end_runs()
        self._place = place

    def visit(self, name: str, rate: Formula, flows: Formula, place: Place | None = None) -> Visit:
        """Return a visit with what is known of the flows so far; at the node, if nowhere else."""
        waited = self._under_way.waited
        return Visit(
            resource=name,
            rate=rate,
            flows=flows,
            of=(self._stream.name, len(self._result.latency)),
            after=tuple(dict.fromkeys(visit.resource for visit in waited)),
            place=place or self._place,
            before=waited[-1] if waited else None,
            variation=self._variation,
            is_bursty=self._under_way.is_bursty,
            burst=self._under_way.burst,
            meets=self._under_way.meets,
            is_asked_again=self._is_asked_again,
            is_spread=(place or self._place).name != self._stream.flows_from,
            rank=self._rank,
        )

    def queue(self, visit: Visit, demand: Demand, queueing: ir.Queueing) -> None:
        """Put a visit in a queue, and a place for its wait into the latency."""
        demand.queueing = queueing
        demand.visits.append(visit)
        self._under_way.waited += (visit,)
        latency = self._result.latency
        self._result.visits[len(latency)] = visit
        place = self._streams.configuration.place_of(visit.resource)
        self._under_way.append(wait_for(visit.resource, place=place))
