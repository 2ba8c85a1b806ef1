"""Stations that users visit who wait for their answer, by any discipline: mean value analysis.

An arrival of a closed stream finds the station as it is with one item less under way (Reiser and
Lavenberg 1980; Sevcik and Mitrani 1981), one of open traffic as it is at any time.
"""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from qps.compiler.lower.closed_networks.closed_stream_solution import ClosedStream
from qps.compiler.lower.closed_networks.fork_join_stations import every
from qps.compiler.lower.disciplines.closed_uneven import Uneven, shadow_server
from qps.compiler.lower.disciplines.closed_wait_laws import (
    LEAST_SHARE,
    UnlikeClosedWait,
    as_fast,
    closed_wait_law,
    unlike_closed_wait,
)
from qps.compiler.lower.disciplines.gamma_stages import gamma_law
from qps.compiler.lower.disciplines.open_work import Brought, WorkFound, found_stage
from qps.compiler.lower.queues.service_variation import wait_ratio
from qps.compiler.lower.queues.stage_law import StageLaw
from qps.compiler.lower.queues.station_queue import DisciplineLaw, Queue
from qps.compiler.lower.queues.visits import QueueVisit, mean_service
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import (
    ONE,
    ZERO,
    Formula,
    apply,
    formula,
    maximum,
    minimum,
    number,
    total,
)

_LEAST = number(Fraction(1, 10**9))
_MANY = 10


_VARIED = 2
_FEW_BRANCHES = 3
"""Quantiles were measured up to that coefficient of variation of service."""


class InClosedNetwork(DisciplineLaw, frozen=True):
    """A station of closed `streams`; `stated` is the discipline that it has.

    `uneven` are the stations of its network that are not in product form: these are solved as if
    they were, and so are the numbers of users at all others.
    """

    stated: DisciplineLaw
    streams: tuple[ClosedStream, ...]
    uneven: tuple[Uneven, ...] = ()

    def wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the mean wait of a visit.

        What users wait in a cycle is shared among their visits: where all who are there are served
        at once in proportion to their service, else, as first comes first, alike.
        """
        name, closed = queue.resource, self.stream_of(own)
        if closed is None and queue.traits.has_ranks:
            return self.stated.wait(queue, own)
        if closed is None:
            return self._open_wait(queue, own)
        if name in closed.alone:
            return closed.alone[name].wait * own.service / closed.alone[name].service
        station = closed.station(name)
        waits = closed.network.wait(closed.name, name)
        if queue.traits.is_insensitive:
            return waits * own.service / (station.demand * as_fast(queue, station))
        return waits / closed.visits[name]

    def quantile(self, queue: Queue, own: QueueVisit, level: Fraction | Formula) -> Formula:
        """Return the quantile of wait and service less the mean service, as if exponential."""
        whole = self.wait(queue, own) + own.service
        return -whole * apply("ln", 1 - formula(level)) - own.service

    def stage(self, queue: Queue, own: QueueVisit) -> StageLaw:
        """Return wait and service together, of a gamma law.

        Where it is a difference of times, no bounds of these must make it less than none.
        """
        if queue.resource in self.streams[0].finds_open_work:
            waits = maximum(ZERO, self.wait(queue, own))
            varies = self._found_variance(queue, own, waits)
            return found_stage(waits, varies, own.service, queue.variation**2)
        closed = self.stream_of(own)
        wait = self.wait(queue, own)
        unlike = None if closed is None else self._unlike_wait(queue, closed, wait)
        if unlike is not None:
            return unlike.stage(own.service, queue.variation**2)
        whole = maximum(ZERO, self.wait(queue, own) + own.service)
        return gamma_law(whole, self._variation(queue, own, whole), own.service)

    def waiting_law(self, queue: Queue, own: QueueVisit) -> tuple[Formula, StageLaw] | None:
        """Return who waits at all, and a gamma law of these."""
        wait, in_turn = self.wait(queue, own), not queue.traits.is_insensitive
        varies = self._in_line(queue, self.stream_of(own), wait) if in_turn else None
        spread = ONE if in_turn else self._variation(queue, own, own.service + wait)
        return closed_wait_law(queue, own, wait, varies=varies, spread=spread)

    def unevenness(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return the squared variation of wait and service; of a pool as if exponential."""
        closed = self.stream_of(own)
        if closed is not None and all(one.resource != queue.resource for one in closed.stations):
            return ONE
        return self._variation(queue, own, self.wait(queue, own) + own.service)

    def _variation(self, queue: Queue, own: QueueVisit, whole: Formula) -> Formula:
        """Return the squared variation of wait and service together.

        Where all are served at once it is that of an exponential service, and at one server more.
        Else services and waits vary each by itself, in all as an exponential time at most, but for
        who waits for those who go first.
        """
        if queue.traits.is_insensitive:
            return self._shared(queue, own, whole) if queue.servers is ONE else ONE
        waits, closed = whole - own.service, self.stream_of(own)
        uneven = queue.variation**2
        served = uneven * own.service**2
        if queue.resource in self.streams[0].finds_open_work:
            return apply("mean", self._found_variance(queue, own, waits) + served, whole**2)
        if closed is not None and (closed.name, queue.resource) in closed.network.behind:
            return apply("mean", self._behind(queue, closed, own, waits) + served, whole**2)
        in_line = self._in_line(queue, closed, waits)
        if uneven is ONE:
            return minimum(ONE, apply("mean", in_line + served, whole**2)) if in_line else ONE
        return apply("mean", (in_line or waits**2) + served, whole**2)

    def _in_line(self, queue: Queue, closed: ClosedStream | None, waits: Formula) -> Formula | None:
        """Return the variance of a wait behind users; None where that is as if exponential.

        One waits for so many services as users are found, of servers that open traffic leaves some
        of. So many services vary each by itself; how many there are varies as in open traffic where
        few are (Pollaczek 1930), and as those elsewhere do where most are: as a Poisson law, or
        more or less as they come from services that are so uneven.
        """
        unlike = None if closed is None else self._unlike_wait(queue, closed, waits)
        if unlike is not None:
            return unlike.variance
        return self._in_product_form(queue, closed or self.streams[0], waits)

    def _in_product_form(self, queue: Queue, first: ClosedStream, waits: Formula) -> Formula | None:
        """Return the same of a station at which services are alike."""
        if queue.traits.has_ranks or self._is_exclusive(first, queue.resource):
            return None
        station = first.station(queue.resource)
        users = [visit for visit in queue.visits if self.stream_of(visit) is not None]
        fast, left = as_fast(queue, station), station.servers - station.open_load
        each = mean_service(users) / fast / maximum(_LEAST, left)
        found = maximum(ZERO, waits) / each
        served = total(visit.rate * visit.service for visit in users) / fast
        jobs = total(first.network.jobs)
        uneven = queue.variation**2
        at_random = (2 + 4 * uneven) / 3 * left / station.servers - uneven
        # Of few, their number is a difference of times of which hardly any digits are known.
        few = found**2 + found * maximum(ZERO, at_random) * minimum(ONE, _MANY * found)
        elsewhere = maximum(_LEAST, jobs - found - served) * (1 + uneven) / 2
        varies = apply("mean", elsewhere * few, maximum(_LEAST, elsewhere + few))
        return (uneven * found + varies) * each**2

    def _unlike_wait(
        self, queue: Queue, closed: ClosedStream, wait: Formula
    ) -> UnlikeClosedWait | None:
        """Return the law of a wait for unlike services; None where they are alike."""
        unlike = closed.network.unlike.get(queue.resource)
        if unlike is None:
            return None
        longer = unlike.longer / closed.visits[queue.resource]
        varies = self._in_product_form(queue, closed, maximum(ZERO, wait - longer))
        return unlike_closed_wait(queue, unlike, wait, longer, varies)

    def _behind(
        self, queue: Queue, closed: ClosedStream, own: QueueVisit, waits: Formula
    ) -> Formula:
        """Return the variance of a wait for those who go first, and for others of the own rank.

        So many wait as find the server taken by these, each for an exponential time.
        """
        station = closed.network.station_of(closed.name, queue.resource)
        taken = (station.open_load + own.rate * own.service) / station.servers
        share = maximum(LEAST_SHARE, minimum(ONE, taken))
        return waits**2 * (2 / share - 1)

    def _shared(self, queue: Queue, own: QueueVisit, whole: Formula) -> Formula:
        """Return the squared variation of what is taken by who shares with users.

        Given how many it finds it is exponential, in proportion to these. Open traffic comes and
        goes as beside users who stay, which without any is the law of M/M/1 (Coffman, Muntz and
        Trotter 1970). How many users are there varies as a geometric law where few are, and as a
        Poisson law of the others where most are; it is forgotten as fast as they come.
        """
        users = [visit for visit in queue.visits if self.stream_of(visit) is not None]
        jobs, closed = total(self.streams[0].network.jobs), self.stream_of(own)
        most = maximum(_LEAST, jobs if closed is None else jobs - 1)
        comings = total(visit.rate for visit in users)
        if closed is not None:
            comings = comings * most / maximum(ONE, jobs)
        found = total(visit.rate * visit.service for visit in users)
        load = minimum(ONE, maximum(ZERO, queue.load - found))
        there = apply("mean", whole, own.service) * (1 - load) - 1
        there = minimum(most, maximum(ZERO, there))
        elsewhere, geometric = maximum(_LEAST, most - there), there * (1 + there)
        varies = elsewhere * geometric / (elsewhere + geometric)
        share = varies / maximum(_LEAST, varies + whole * comings)
        of_open = 2 * load / ((1 + there) * (2 - load))
        return 1 + of_open + 2 * varies * share / (1 + there) ** 2

    def _is_exclusive(self, closed: ClosedStream, name: str) -> bool:
        """Return whether a station is one's own, or visited by no more than hold a place."""
        return name in closed.alone or any(
            name in one.stations for pool in closed.pools for one in pool.every
        )

    def stage_known(self, queue: Queue) -> Certainty:
        """The law of the times is a guess."""
        return self.quantiles_known(queue)

    def keeps_randomness(self, queue: Queue) -> bool:
        """Return whether what arrives at random leaves at random."""
        return queue.is_in_product_form or self.stated.keeps_randomness(queue)

    def mean_known(self, queue: Queue) -> Certainty:
        """A network in product form is determined exactly, any other as if it were one."""
        return together(
            known_by("product-form-station", queue.resource),
            self.stations_known,
            self._ranks_known(queue),
            *(stream.known for stream in self.streams),
        )

    def rates_known(self, queue: Queue) -> Certainty:
        """The same, of how many cycles are made."""
        return together(
            *(station.rates_known for station in self.uneven),
            self._ranks_known(queue),
            *(stream.known for stream in self.streams),
        )

    def includes_arrival_error(self, queue: Queue) -> bool:
        """What stations of the network do to arrivals at others was measured with all of it."""
        return any(one.resource == queue.shaped_by for one in self.uneven)

    @property
    def finding(self) -> frozenset[str]:
        """The stations at which users of one class find open work as first comes first."""
        return frozenset(one.resource for one in self.uneven if one.finds_open_work)

    @property
    def _counts_residual(self) -> bool:
        """Whether one class waits at stations in product form but for residual services."""
        return bool(self.uneven) and all(one.counts_residual for one in self.uneven)

    @property
    def stations_known(self) -> Certainty:
        """How a network is labeled that has stations that are not in product form."""
        return together(*(station.known for station in self.uneven))

    def _ranks_known(self, queue: Queue) -> Certainty:
        if not queue.traits.has_ranks:
            return EXACT
        return known_by(shadow_server(self.uneven), queue.resource)

    def quantiles_known(self, queue: Queue) -> Certainty:
        """The law of the times is a guess."""
        if queue.traits.is_insensitive:
            return known_by("closed-gamma-sharing", queue.resource)
        if queue.resource in self.finding:
            return known_by("open-work-percentiles", queue.resource)
        if self._counts_residual:
            return together(*(one.residual_known("percentiles") for one in self.uneven))
        known = known_by("closed-gamma", queue.resource, case=self._quantile_case(queue))
        of_means = () if known.error is None else self.stations_known.because
        return replace(known, because=(*dict.fromkeys((*of_means, *known.because)),))

    def mean_for_quantile(self, queue: Queue) -> Certainty:
        """Quantiles were measured with all that stations do to means."""
        is_measured = queue.resource in self.finding or self._counts_residual
        is_measured = is_measured or bool(self._quantile_case(queue))
        if queue.traits.is_insensitive or not is_measured:
            return self.mean_known(queue)
        return together(*(stream.known for stream in self.streams))

    def _quantile_case(self, queue: Queue) -> str:
        """Return of which networks of first come first served quantiles were measured, if any."""
        if self._is_of_few_branches(queue):
            return "parallel calls"
        varied = all(one.varies is not None and one.varies <= _VARIED for one in self.uneven)
        is_plain = not any(
            one.pools or one.network.is_nested or one.network.forks for one in self.streams
        )
        is_known = all(one.times is not None for one in self.uneven)
        if queue.traits.has_ranks or not (is_known and is_plain and varied):
            return ""
        is_mixed = any(self.stream_of(visit) is None for visit in queue.visits)
        far = " far apart" if any(one.is_far_apart for one in self.uneven) else ""
        return f"users{' and open traffic' if is_mixed else ''}{far}"

    def _is_of_few_branches(self, queue: Queue) -> bool:
        """Return whether percentiles were measured of its network, which has parallel calls.

        That was one class, at single servers in product form but for the forks.
        """
        if len(self.streams) != 1 or self.uneven or queue.servers is not ONE:
            return False
        (stream,) = self.streams
        is_alone = all(self.stream_of(visit) is not None for visit in queue.visits)
        is_alone = is_alone and not queue.traits.has_ranks
        is_plain = is_alone and not stream.pools and not stream.network.is_nested
        forks = list(every(stream.network.forks))
        return is_plain and bool(forks) and all(len(one.branches) <= _FEW_BRANCHES for one in forks)

    def together(self, own: QueueVisit, fork: int) -> Formula | None:
        """Return how long calls take that are made together in a cycle."""
        closed = self.stream_of(own)
        return None if closed is None else closed.network.time_together(fork)

    def stream_of(self, own: QueueVisit) -> ClosedStream | None:
        """Return the closed stream of a visit; None where that is of open traffic."""
        return next((one for one in self.streams if one.name == own.of[0]), None)

    def _open_wait(self, queue: Queue, own: QueueVisit) -> Formula:
        """Return what open traffic waits that meets closed streams.

        Where first comes first, it waits for whoever is there: for other open traffic as long as
        without users, in its own mean service; and for the users that it meets in theirs.
        """
        name, closed = queue.resource, self.streams[0]
        if name in closed.alone:
            waits = closed.alone[name].open_wait
            station = closed.alone[name].station
        else:
            waits, station = closed.network.open_wait(name), closed.station(name)
        fast = as_fast(queue, station)
        if queue.traits.is_insensitive:
            return waits * own.service / fast
        is_alike = len({visit.service for visit in queue.visits}) == 1
        if is_alike and queue.variation is ONE:
            return waits * own.service / fast
        users = [visit for visit in queue.visits if self.stream_of(visit) is not None]
        others = [visit for visit in queue.visits if self.stream_of(visit) is None]
        servers, load = station.servers, station.open_load
        busy = load if servers is ONE else apply("erlang_c", servers, load)
        if name in closed.finds_open_work:
            return self._work_found(queue).mean
        without = apply("waiting", busy / servers, load / servers)
        # What is found in service is longer or shorter than a service, as these vary.
        longer = wait_ratio(queue.variation**2, servers, load / servers)
        of_others = without * longer * mean_service(others)
        return (of_others + (waits - without) * mean_service(users)) / fast

    def _work_found(self, queue: Queue) -> WorkFound:
        """Return the work at one server that open traffic finds as first comes first."""
        closed, name = self.streams[0], queue.resource
        station = closed.alone[name].station if name in closed.alone else closed.station(name)
        fast = as_fast(queue, station)
        brought = [
            Brought(
                rate=visit.rate,
                service=visit.service / fast,
                find=None if self.stream_of(visit) is None else self.wait(queue, visit),
            )
            for visit in queue.visits
        ]
        return WorkFound(brought=brought, load=station.open_load, variation=queue.variation)

    def _found_variance(self, queue: Queue, own: QueueVisit, waits: Formula) -> Formula:
        """Return the variance of what a visit finds at one server, open traffic included."""
        work, closed = self._work_found(queue), self.stream_of(own)
        if closed is not None:
            return work.found_variance(waits, own.service, self._in_line(queue, closed, waits))
        varied = [
            replace(one, variance=self._found_variance(queue, visit, one.find)) if one.find else one
            for one, visit in zip(work.brought, queue.visits, strict=True)
        ]
        return replace(work, brought=varied).variance(waits)
