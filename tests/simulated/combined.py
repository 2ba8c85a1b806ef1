"""A spec of everything together: who comes, and their ways, by chance (its numbers: `loaded`)."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from msgspec import Struct

from simulated.drawn import NODES, cores_of, discipline_of, load_of, log_uniform

_TIMES = (("", 1.0), ("", 1.0), (" * 2", 2.0), (" * 30 %", 0.3), (" * 80 %", 0.8), (" * 1.5", 1.5))
_ONCE = (("", 1.0), ("", 1.0), (" * 30 %", 0.3), (" * 60 %", 0.6))


class Station(Struct, kw_only=True):
    """A machine with a queue, and perhaps a pool."""

    name: str
    cores: int
    copies: int
    queueing: str
    load: float
    speeds: tuple[float, ...] = ()
    room: int | None = None
    is_for_closed: bool = False
    """Whether users who wait for their answers may come here."""
    takers: str = ""
    """Who takes from its pool: `open` streams, `closed` ones, or nobody where there is none."""
    is_always_taken: bool = True

    @property
    def may_lose(self) -> bool:
        """Whether who comes may find no room."""
        return self.room is not None or self.queueing == "loss"


class Visit(Struct, kw_only=True):
    """Steps at a station, and the calls that are made between them."""

    at: Station
    times: str = ""
    often: float = 1.0
    """How often an item of the stream is here, on average, where nothing is lost."""
    over: str = "wire"
    holds: bool = False
    calls: list[Visit] = []
    is_together: bool = False
    after: str = ""
    """Another step behind all of that."""

    def all(self) -> Iterator[Visit]:
        """Yield it, and what is called."""
        yield self
        for one in self.calls:
            yield from one.all()


class Stream(Struct, kw_only=True):
    """What comes, how often or how many, and its way."""

    number: int
    rate: float = 1.0
    users: int = 0
    think: float = 0.0
    flows: int = 1
    share: float = 1.0
    """Flows of bursts are on for this share of the time."""
    lasting: float = 0.0
    variation: float | None = None
    rank: int | None = None
    by_users: str = ""
    """A parameter by kinds of users that its rate or time to think goes by."""
    by_items: bool = False
    way: list[Visit] = []

    @property
    def is_closed(self) -> bool:
        """Whether users wait for their answers."""
        return self.users > 0

    @property
    def visits(self) -> list[Visit]:
        """All visits of the way, those of calls too."""
        return [one for visit in self.way for one in visit.all()]


class Combined:
    """Draws the stations, the streams and their ways."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.closed = random.choice((0, 0, 0, 0, 0, 1, 1, 1, 2, 3))
        self.open = random.choice((1, 1, 2, 3) if not self.closed else (0, 0, 1, 2))
        self.forks_closed = self.closed == 1 and self._is(0.25)
        """Users whose calls are made together: by themselves, as the language wants it."""
        self.has_ranks = not self.forks_closed and self._is(0.2)
        self.has_rooms = self.open > 0 and self._is(0.3)
        self.has_pools = not self.forks_closed and self._is(0.4)
        self.has_speeds = not self.forks_closed and self._is(0.15)
        if self.closed and self.has_ranks:
            self.has_pools = self.has_speeds = False
        self.has_kinds = self._is(0.2)
        self.has_items = self._is(0.2)
        self.net = "" if self._is(0.75) else self._net()
        count = random.choice((1, 2, 2, 3, 3, 4, 5, 7))
        self.known = list[Station]()
        for name in NODES[:count]:
            self.known.append(self._station(name))
        self.stations = self.known
        if self.closed and not any(one.is_for_closed for one in self.stations):
            self.stations[0] = self._station(self.stations[0].name, closed=True)
        self.streams = [self._stream(at) for at in range(self.closed + self.open)]

    def _is(self, often: float) -> bool:
        return self.random.random() < often

    def _net(self) -> str:
        return self.random.choice(
            ("queueing md1", "queueing mm1", "queueing mg1 cv 2", "switched; queueing md1")
        )

    # -- stations --------------------------------------------------------------------------

    def _station(self, name: str, *, closed: bool | None = None) -> Station:
        random, cores = self.random, cores_of(self.random)
        is_for_closed = bool(self.closed) and self._is(0.8) if closed is None else closed
        found = Station(
            name=name,
            cores=cores,
            copies=random.choice((1, 1, 1, 1, 2, 3, 5)),
            queueing=self._queueing(cores, is_for_closed),
            load=load_of(random, 0.6 if self.closed else 0.88),
            is_for_closed=is_for_closed,
        )
        if self.has_speeds and self._is(0.5):
            found.cores, found.queueing = 1, "ps"
            speeds = [1.0]
            for _ in range(random.choice((1, 2, 4))):
                speeds.append(round(speeds[-1] * random.uniform(0.9, 1.8), 3))
            found.speeds = tuple(speeds)
        elif self.has_rooms and not is_for_closed and self._is(0.5):
            self._bound(found)
        if self.has_pools and self._is(0.6):
            self._pool(found)
        return found

    def _pool(self, station: Station) -> None:
        """Let it have a pool, for those of whom the language tells what becomes of them."""
        if station.is_for_closed and self._is(0.85):
            # Several streams must take one pool within the other alike: then they have one.
            if self.closed == 1 or not any(one.takers == "closed" for one in self.known):
                station.takers = "closed"
        elif not self.has_speeds:
            station.takers = "open"
        station.is_always_taken = self._is(0.75)

    def _queueing(self, cores: int, is_for_closed: bool) -> str:
        random = self.random
        if self._is(0.04):
            return "none"
        if self.has_ranks and self._is(0.6):
            word = "priority preemptive" if is_for_closed else random.choice(_RANKS)
            return word + (random.choice(("", "", " cv 0", " cv 2")) if cores == 1 else "")
        if not is_for_closed:
            return discipline_of(random, cores)
        if self._is(0.12):
            return "mgc cv 2" if cores > 1 else random.choice(("md1", "mg1 cv 2", "mg1 cv 0.5"))
        return random.choice(("mmc", "mmc", "ps") if cores > 1 else ("mm1", "mm1", "ps"))

    def _bound(self, station: Station) -> None:
        """Let there be room for so many."""
        random, cores = self.random, station.cores
        station.load = round(random.uniform(0.2, 1.3), 3)
        if self._is(0.35):
            station.queueing = "loss"
            return
        station.room = cores + random.choice((0, 1, 2, 5, 20))
        if not station.queueing.startswith(("mm", "md1", "mg")):
            station.queueing = "mmc" if cores > 1 else "mm1"

    # -- streams ---------------------------------------------------------------------------

    def _stream(self, at: int) -> Stream:
        random = self.random
        stream = Stream(number=at)
        if at < self.closed:
            stream.users, stream.think = 1, random.choice((0.1, 0.5, 1, 2, 5, 20))
        else:
            stream.rate = log_uniform(random, 0.2, 5)
            if self._is(0.12):
                self._burst(stream)
            elif self._is(0.2):
                stream.variation = random.choice((0, 0.5, 0.8, 1.5, 2, 3))
        if any("priority" in one.queueing for one in self.stations):
            stream.rank = random.choice((at + 1, at + 1, 1))
        if self.has_kinds and self._is(0.6) and stream.flows == 1 and not self.forks_closed:
            stream.by_users = random.choice(("pace", "work", "both"))
        stream.by_items = self.has_items and self._is(0.6) and not self.forks_closed
        stream.way = self._way(stream)
        return stream

    def _burst(self, stream: Stream) -> None:
        random = self.random
        stream.flows = random.choice((3, 10, 30))
        stream.share = random.choice((0.5, 0.25, 0.2))
        stream.lasting = random.choice((0.2, 1.0))

    def _way(self, stream: Stream) -> list[Visit]:
        """Return a way over stations in their order, so that pools stand within each other alike.

        Whom users who wait come to may call others in its turn.
        """
        random = self.random
        reached = [one for one in self.stations if one.is_for_closed or not stream.is_closed]
        chosen = [one for one in reached if self._is(0.75)] or reached[:1]
        if stream.is_closed and self.forks_closed:
            return self._forked(reached)
        way: list[Visit] = []
        while chosen:
            several = min(len(chosen), random.choice((1, 1, 2, 2, 3, 4)))
            part, chosen = chosen[:several], chosen[several:]
            way.append(self._visit(stream, part, "", 1.0))
        if len(way) > 1 and self._is(0.06) and not way[0].at.may_lose:
            again = Visit(at=way[0].at, over=self._over())
            way.append(again)
        if not stream.is_closed and self._is(0.1):
            random.choice(way).after = "shed"
        return way

    def _visit(self, stream: Stream, part: list[Station], times: str, often: float) -> Visit:
        """Return a visit of the first, of which the others are called."""
        random, (first, *rest) = self.random, part
        found = Visit(at=first, times=times, often=often, over=self._over(), calls=[])
        found.holds = self._takes(stream, first)
        if self._is(0.05):
            found.after = "rest"
        if not rest:
            return found
        loses = any(one.may_lose for one in rest)
        if len(rest) > 1 and not stream.is_closed and self._is(0.5):
            found.is_together = True
            # Of calls made together each is made once; some have others in their turn.
            cut = random.randint(1, len(rest) - 1)
            for one in (rest[:cut], rest[cut:]):
                found.calls.append(self._visit(stream, one, "", often))
        elif len(rest) > 1 and self._is(0.5):
            for station in rest:
                found.calls.append(self._called(stream, [station], often, station.may_lose))
        else:
            found.calls.append(self._called(stream, rest, often, loses))
        if self._is(0.04) and not stream.is_closed and found.calls[-1].often <= often:
            found.calls[-1].after = "shed"
        return found

    def _called(self, stream: Stream, part: list[Station], often: float, once: bool) -> Visit:
        times, more = self.random.choice(_ONCE if once else _TIMES)
        return self._visit(stream, part, times, often * more)

    def _takes(self, stream: Stream, station: Station) -> bool:
        if station.takers != ("closed" if stream.is_closed else "open"):
            return False
        return station.is_always_taken or self._is(0.6)

    def _forked(self, reached: list[Station]) -> list[Visit]:
        """Return calls made together, by who waits for all of them."""
        first, *rest = reached
        found = Visit(at=first, over=self._over(), calls=[], is_together=True)
        while rest:
            length = min(len(rest), self.random.choice((1, 1, 2)))
            part, rest = rest[:length], rest[length:]
            inner: Visit | None = None
            for station in reversed(part):
                outer = Visit(at=station, over="wire", calls=[])
                if inner is not None:
                    outer.calls.append(inner)
                inner = outer
            assert inner is not None
            found.calls.append(inner)
        found.is_together = len(found.calls) > 1
        return [found]

    def _over(self) -> str:
        return "net" if self.net and self._is(0.5) else "wire"


_RANKS = ("priority", "priority preemptive")
