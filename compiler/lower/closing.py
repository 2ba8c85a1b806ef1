"""The rates of closed streams, whose users wait for their answer and think before they ask again.

While streams are walked, the rate of one flow of a closed stream is a symbol x; all loads are
linear in it. What stands before x tells how long a cycle needs each resource, so that x is settled
by mean value analysis over the stations that the stream waits for (`closed_rate`); everything else
that takes time in a cycle is a delay, as thinking is. A machine whose cores count as one fast
server is that server, and the rest of its service time a delay (Seidmann and others 1987). What
states no queueing is a delay, too, but serves no more than it can: then the rest waits (the
asymptotic bound).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import ceil

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, QpsError
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.lower.closed import (
    Alone,
    Closed,
    ClosedNetwork,
    ClosedStation,
    ClosedStream,
    Limit,
    SharedStation,
)
from qps.compiler.lower.comparing import compare
from qps.compiler.lower.flows import ClosedSource, Demand, StreamResult
from qps.compiler.lower.lower_expressions import ExpressionLowering
from qps.compiler.lower.queueing import Visit
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, together
from qps.engine.formulas import ONE, ZERO, Formula, apply, maximum, minimum, number, total
from qps.engine.monomials import monomials
from qps.engine.points import Point
from qps.engine.substitution import Substitution

_TAKEN = frozenset(
    {
        ir.Discipline.MM1,
        ir.Discipline.MD1,
        ir.Discipline.MG1,
        ir.Discipline.MMC,
        ir.Discipline.MGC,
        ir.Discipline.PS,
        ir.Discipline.PERIODIC,
    }
)
"""Disciplines of which a closed stream may be told: those in product form, and as if they were."""


class _Cycle(Struct, frozen=True, kw_only=True):
    """What a cycle of a closed stream is made of, with its waits at machines of its own."""

    name: str
    jobs: Formula
    delay: Formula
    stations: tuple[ClosedStation, ...]
    limits: tuple[Limit, ...]
    own_waits: Mapping[str, Formula]
    overlapping: tuple[str, ...]


class _Loads(Struct, frozen=True):
    """What a resource is asked for: by each closed stream while its rate is 1, and by all else."""

    by: Mapping[Formula, Formula]
    open_load: Formula


def closed_streams(
    there: Sequence[ir.Stream],
    results: Sequence[StreamResult],
    demands: Mapping[str, Demand],
    loads: Mapping[str, Formula],
    expressions: ExpressionLowering,
) -> Closed:
    """Return what the closed streams come to; QpsError where that is not told."""
    sources = {
        result.closed.symbol: stream
        for stream, result in zip(there, results, strict=True)
        if result.closed is not None
    }
    if not sources:
        return Closed()
    parted = {n: _parted(n, load, sources, expressions) for n, load in loads.items()}
    closing = [
        _Closing(
            stream,
            result,
            result.closed,
            demands=demands,
            parted=parted,
            expressions=expressions,
        )
        for stream, result in zip(there, results, strict=True)
        if result.closed is not None
    ]
    for one in closing:
        one.forget_own()
    networks = _networks([one.cycle for one in closing])
    found = [one.settled(networks[one.cycle.name], expressions) for one in closing]
    values = {symbol: one.rate for symbol, one in zip(sources, found, strict=True)}
    return Closed(
        streams={one.name: one for one in found},
        values=values,
        loads=_filled(found, sources, parted),
        open_loads={name: part.open_load for name, part in parted.items() if part.by},
        loading={
            name: tuple(sources[symbol].name for symbol in part.by)
            for name, part in parted.items()
            if part.by
        },
    )


def _networks(cycles: Sequence[_Cycle]) -> dict[str, ClosedNetwork]:
    """Return the network that each stream is a class of: those that meet at a station are one."""
    together_with = {one.name: {one.name} for one in cycles}
    at: dict[str, str] = {}
    for one in cycles:
        for station in one.stations:
            other = at.setdefault(station.resource, one.name)
            joined = together_with[one.name] | together_with[other]
            together_with |= dict.fromkeys(joined, joined)
    return {
        one.name: _network([each for each in cycles if each.name in together_with[one.name]])
        for one in cycles
    }


def _network(classes: Sequence[_Cycle]) -> ClosedNetwork:
    places = {station.resource: station for one in classes for station in one.stations}
    asked = {
        (one.name, station.resource): station.demand for one in classes for station in one.stations
    }
    return ClosedNetwork(
        names=tuple(one.name for one in classes),
        jobs=tuple(one.jobs for one in classes),
        delays=tuple(one.delay for one in classes),
        stations=tuple(
            SharedStation(
                resource=name,
                demands=tuple(asked.get((one.name, name), ZERO) for one in classes),
                servers=station.servers,
                open_load=station.open_load,
                copies=station.copies,
            )
            for name, station in places.items()
        ),
    )


def refuse_pools(there: Sequence[ir.Stream], demands: Mapping[str, Demand]) -> None:
    """Refuse that a closed stream takes of a pool: how long that is waited for is not told."""
    closed = {stream.name: stream for stream in there if stream.is_closed}
    for name, demand in demands.items():
        for hold in demand.holds:
            if hold.stream in closed:
                raise _refused(
                    closed[hold.stream], f"it takes of {name}, and waits until there is some again"
                )


def _parted(
    name: str, load: Formula, sources: Mapping[Formula, ir.Stream], expressions: ExpressionLowering
) -> _Loads:
    """Return what a load is made of; QpsError where it is not in proportion with a rate."""
    if load.symbols.isdisjoint(sources):
        return _Loads({}, load)
    by: dict[Formula, Formula] = {}
    open_load: Formula = ZERO
    for of, before in monomials(load, sources).items():
        bent = [symbol for symbol in sources if symbol in before.symbols]
        if bent or len(of) > 1:
            stream = sources[(*bent, *of)[0]]
            raise _refused(stream, f"the load of {name} does not grow in proportion with its rate")
        if of:
            by[of[0]] = before
        else:
            open_load = before
    for elastic in expressions.elastic.values():
        if elastic.symbol in load.symbols:
            stream = sources[next(iter(by))]
            raise QpsError.single(
                codes.NO_ANSWER,
                elastic.span,
                f"`{elastic.name}` takes what is left of {name}, and so do the users of "
                f"`{stream.name}`, who ask more the sooner they are answered",
                secondary=[Label(stream.span, "they wait for their answer")],
                hint=f"fix one of them: `{elastic.name} = …`, or a rate for `{stream.name}`",
            )
    return _Loads(by, open_load)


def _refused(stream: ir.Stream, why: str, hint: str | None = None) -> QpsError:
    return QpsError.single(
        codes.NO_ANSWER,
        stream.span,
        f"how long the users of `{stream.name}` wait is not told: {why}",
        hint=hint or "send it as open traffic: a rate instead of an amount and a time to think",
    )


class _Closing:
    """A closed stream while it is settled."""

    def __init__(
        self,
        stream: ir.Stream,
        result: StreamResult,
        source: ClosedSource,
        *,
        demands: Mapping[str, Demand],
        parted: Mapping[str, _Loads],
        expressions: ExpressionLowering,
    ) -> None:
        self._stream = stream
        self._result = result
        self._source = source
        self._demands = demands
        self._parted = parted
        self._expressions = expressions
        self._spent = [
            (on, expressions.averaged(held) / source.symbol) for on, held in result.spent
        ]

    @cached_property
    def cycle(self) -> _Cycle:
        """What a cycle of the stream is made of."""
        self._refuse_kinds()
        waited = dict.fromkeys(visit.resource for visit in self._result.visits.values())
        lone = [name for name in waited if self._is_alone(name)]
        stations = tuple(self._station(name) for name in waited if name not in lone)
        own = {name: self._own_wait(name) for name in lone}
        delay, overlapping = self._delay(stations, own)
        self._refuse_no_time(delay, stations)
        return _Cycle(
            name=self._stream.name,
            jobs=self._source.flows * self._source.amount,
            delay=delay,
            stations=stations,
            limits=tuple(_tightest(list(self._limits()))),
            own_waits=own,
            overlapping=tuple(overlapping),
        )

    def forget_own(self) -> None:
        """Count no waiting as missing at what each holder has of its own: nobody waits there."""
        result = self._result
        for name in tuple(result.uncounted):
            if self._is_own(name):
                del result.uncounted[name]
                result.unsaid.pop(name, None)
                result.unbounded.pop(name, None)

    def _is_own(self, name: str) -> bool:
        """Return whether nobody and nothing else is ever at a resource."""
        part = self._parted[name]
        return len(part.by) == 1 and part.open_load is ZERO and self._is_alone(name)

    def settled(self, network: ClosedNetwork, expressions: ExpressionLowering) -> ClosedStream:
        """Return what the stream comes to as a class of a network."""
        cycle, source = self.cycle, self._source
        free = network.rate(cycle.name)
        rate = free / source.flows
        if cycle.limits:
            rate = minimum(rate, *(limit.at_most for limit in cycle.limits))
        time = cycle.jobs / free
        return ClosedStream(
            name=cycle.name,
            span=self._stream.span,
            jobs=cycle.jobs,
            flows=source.flows,
            amount=source.amount,
            think=source.think,
            delay=cycle.delay,
            stations=cycle.stations,
            limits=cycle.limits,
            free=free,
            rate=rate,
            network=network,
            visits={one.resource: self._visits(one) for one in cycle.stations},
            alone={name: self._alone(name, w, time) for name, w in cycle.own_waits.items()},
            known=together(self._known(cycle.overlapping), _classes_known(network, expressions)),
        )

    def _alone(self, name: str, wait: Formula, cycle: Formula) -> Alone:
        """Return a machine of each holder's own, once it is known how long a cycle takes."""
        station = self._station(name)
        elsewhere = cycle - station.demand - wait
        open_wait = ZERO
        if station.open_load is not ZERO:
            open_wait = apply(
                "mixed_wait",
                ONE,
                elsewhere,
                station.demand,
                station.servers,
                station.open_load,
                ONE,
            )
        servers = self._demands[name].servers
        is_several = station.servers is servers
        service = station.demand if is_several else station.demand * servers
        return Alone(station=station, service=service, wait=wait, open_wait=open_wait)

    def _known(self, overlapping: Sequence[str]) -> Certainty:
        """Return how the waits are known, besides what each station does to it."""
        found = []
        if overlapping:
            told = listed(list(overlapping), "and")
            found.append(approximation(f"a cycle is at {told} at once, and waits at one by one"))
        if self._result.losses:
            name = self._stream.name
            found.append(approximation(f"whose request of `{name}` is lost thinks again at once"))
        differing = [visit.resource for visit in self._result.visits.values() if self._mixes(visit)]
        if differing:
            told = listed(list(dict.fromkeys(differing)), "and")
            found.append(
                approximation(f"visits of {told} by items of several kinds count as equal")
            )
        if self._own_several:
            told = listed(self._own_several, "and")
            found.append(approximation(f"items at the own {told} of each holder count as at any"))
        return together(*found)

    def _mixes(self, visit: Visit) -> bool:
        """Return whether items of several kinds are served there as first comes first."""
        queueing = self._demands[visit.resource].queueing
        is_insensitive = queueing is None or queueing.traits.is_insensitive
        return visit.most is not None and not is_insensitive

    @property
    def _own_several(self) -> list[str]:
        """The stations of which each holder has its own, and several items there.

        Those of one holder never meet those of another: there are as many classes as machines.
        """
        return [
            station.resource
            for station in self.cycle.stations
            if station.copies is not ONE
            and any(
                visit.place.name == self._stream.flows_from
                for visit in self._result.visits.values()
                if visit.resource == station.resource
            )
        ]

    def _refuse_kinds(self) -> None:
        """Refuse kinds of users: each kind is a class of its own."""
        mixtures = self._expressions.mixtures
        seen = {
            symbol
            for _, held in (*self._result.spent, ((), self._source.think))
            for symbol in held.symbols
        }
        for mixed in (mixtures[symbol] for symbol in seen if symbol in mixtures):
            if mixed.of_users:
                raise _refused(
                    self._stream,
                    f"each kind of `{mixed.of}` waits by itself",
                    "make a stream of each kind, each with its own number of users",
                )

    def _refuse_others(self, name: str) -> None:
        """Refuse what several closed streams share where it has no queue or is a holder's own."""
        others = [symbol for symbol in self._parted[name].by if symbol is not self._source.symbol]
        if others:
            other = others[0].name.partition(" ")[0]
            raise _refused(
                self._stream,
                f"it shares {name} with `{other}`, whose users wait as well",
                f"say how it is waited for, such as `queueing {name} ps`",
            )

    def _is_alone(self, name: str) -> bool:
        """Return whether no two items of the stream ever meet at a resource: each has its own."""
        held = self._result.held.get(name)
        is_met = len(self._parted[name].by) > 1 and self._demands[name].count is ONE
        if held is None or is_met:
            return False
        most = self._expressions.put_in(held * self._source.amount)
        return most.is_constant and compare("<=", most, ONE)

    def _station(self, name: str) -> ClosedStation:
        """Return a resource as a station."""
        demand, part = self._demands[name], self._parted[name]
        queueing = demand.queueing
        if queueing is not None and (queueing.speeds or queueing.discipline not in _TAKEN):
            raise _refused(
                self._stream,
                f"`{queueing.written}` at {name} is told of open traffic alone",
                "let it wait as `ps`, `mm1` or `mmc`, or send a rate, as open traffic",
            )
        work = part.by.get(self._source.symbol, ZERO)
        each = work * demand.count / self._source.flows
        servers = demand.servers if self._is_several(demand) else ONE
        return ClosedStation(
            resource=name,
            demand=each * servers,
            servers=servers,
            open_load=part.open_load * servers,
            copies=demand.count,
        )

    def _is_several(self, demand: Demand) -> bool:
        """Return whether the cores of a resource are servers of their own."""
        if demand.queueing is None or not demand.queueing.counts_servers:
            return False
        known = self._expressions.put_in(demand.servers).exact
        return known is not None and known.denominator == 1

    def _own_wait(self, name: str) -> Formula:
        """Return what a cycle waits where nobody else of the stream is: for open traffic alone."""
        self._refuse_others(name)
        station = self._station(name)
        if station.open_load is ZERO:
            return ZERO
        alone = (station.demand, station.servers, station.open_load, ONE)
        return apply("closed_wait", ONE, ZERO, *alone)

    def _delay(
        self, stations: Sequence[ClosedStation], own: Mapping[str, Formula]
    ) -> tuple[Formula, list[str]]:
        """Return what a cycle takes besides its stations, and which of these overlap.

        Where one time is spent at several stations it counts at each of them: so often it is taken
        off again, at most as far as there is such a delay.
        """
        places = {one.resource: one for one in stations}
        whole = {name for name, one in places.items() if one.servers is self._demands[name].servers}
        mixed: set[str] = set(places) - whole
        overlapping: dict[str, None] = {}
        for on, _ in self._spent:
            here = [name for name in on if name in places]
            if len(here) > 1:
                mixed |= set(here)
                overlapping |= dict.fromkeys(here)
        spent = [
            time for on, time in self._spent if not any(n in places and n not in mixed for n in on)
        ]
        delay = total((self._source.think, *spent, *own.values(), self._playout))
        delay = delay - total(places[name].demand for name in places if name in mixed)
        return (maximum(ZERO, delay) if overlapping else delay), list(overlapping)

    @property
    def _playout(self) -> Formula:
        """How long a cycle is held in a playout buffer where it ends."""
        playout = self._stream.playout
        if playout is None:
            return ZERO
        held = self._expressions.symbol(f"{self._stream.name}.playout", playout.delay)
        return held * self._expressions.averaged(self._result.rate) / self._source.symbol

    def _limits(self) -> Iterator[Limit]:
        """Yield the resources that state no queueing and yet serve no more than they can."""
        for name in self._result.unbounded:
            part = self._parted[name]
            if self._source.symbol not in part.by:
                continue
            self._refuse_others(name)
            yield Limit(name, part.by[self._source.symbol], part.open_load)

    def _refuse_no_time(self, delay: Formula, stations: Sequence[ClosedStation]) -> None:
        """Refuse a cycle that takes no time at all: it would go round without end."""
        parts = (delay, *(station.demand for station in stations))
        if all(_is_nothing(part, self._expressions) for part in parts):
            raise QpsError.single(
                codes.NO_ANSWER,
                self._stream.span,
                f"a cycle of `{self._stream.name}` takes no time: nobody thinks, and nothing works",
                hint="give it a time to think, or a step that costs something",
            )

    def _visits(self, station: ClosedStation) -> Formula:
        """Return how often a cycle visits a station."""
        flows, symbol = self._source.flows, self._source.symbol
        rates = [
            self._expressions.averaged(visit.rate)
            for visit in self._result.visits.values()
            if visit.resource == station.resource
        ]
        in_a_cycle = Substitution({symbol: ONE})(total(rates))  # a sum would not be divided by it
        return in_a_cycle * station.copies / flows


def _classes_known(network: ClosedNetwork, expressions: ExpressionLowering) -> Certainty:
    """Return how a network of several classes is known: exactly, where that is not too much."""
    if network.is_of_one:
        return EXACT
    from qps.engine.class_networks import LINEARIZER_ERROR, is_exact  # noqa: PLC0415 - seldom needed

    there = Point({expressions.population: number(expressions.configuration.high)})

    def at_most(formula: Formula) -> int:
        return ceil(there.number(expressions.put_in(formula)))

    most = [at_most(jobs) for jobs in network.jobs]
    beside = sum(at_most(one.copies * (one.servers - 1)) for one in network.stations)
    if is_exact(most, len(network.stations), beside):
        return EXACT
    told = listed(list(network.names), "and")
    return approximation(
        f"{told} are so many that they meet by Linearizer: rates within "
        f"{LINEARIZER_ERROR:.0%}, response times within {2 * LINEARIZER_ERROR:.0%}"
    )


def _tightest(limits: list[Limit]) -> Iterator[Limit]:
    """Yield the limits but those that another one is sure to be within."""
    for at, limit in enumerate(limits):
        others = limits[:at] + [one for one in limits[at + 1 :] if one.work is not limit.work]
        if not any(_is_within(other, limit) for other in others):
            yield limit


def _is_within(one: Limit, other: Limit) -> bool:
    """Return whether one limit leaves no more than another, whatever the numbers."""
    ratio = one.work / other.work
    return ratio.is_constant and one.open_load is other.open_load and compare(">=", ratio, ONE)


def _is_nothing(part: Formula, expressions: ExpressionLowering) -> bool:
    if part is ZERO:
        return True
    known = expressions.put_in(part)
    return known.is_constant and compare("<=", known, ZERO)


def _filled(
    found: Iterable[ClosedStream],
    sources: Mapping[Formula, ir.Stream],
    parted: Mapping[str, _Loads],
) -> dict[str, Formula]:
    """Return the loads of resources that closed streams fill: full is 1, and never a bit more.

    The load grows with the rate, so that the minimum of the rates can go outside.
    """
    loads = {}
    by_name = {stream.name: symbol for symbol, stream in sources.items()}
    for stream in found:
        symbol = by_name[stream.name]
        for limit in stream.limits:
            others = [other.at_most for other in stream.limits if other is not limit]
            slowest = minimum(stream.free / stream.flows, *others)
            most = ONE if limit.open_load is ZERO else maximum(ONE, limit.open_load)
            loads[limit.resource] = minimum(
                most, limit.open_load + parted[limit.resource].by[symbol] * slowest
            )
    return loads
