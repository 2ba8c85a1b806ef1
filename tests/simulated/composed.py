"""A spec of everything together: ways through stations with calls, pools, ranks and losses."""

from __future__ import annotations

from math import prod
from random import Random

from msgspec import Struct

from simulated.drawn import NODES, Written, cores_of, discipline_of, load_of, log_uniform


class _Station(Struct, kw_only=True):
    """A machine with a queue. `asked` is what it would be asked for with services of 1 s."""

    name: str
    cores: int
    discipline: str
    load: float
    copies: int = 1
    asked: float = 0.0

    @property
    def is_open_only(self) -> bool:
        """Whether users who wait for their answers may not come here."""
        return self.discipline.startswith(("priority", "loss"))


class _Stream(Struct, kw_only=True):
    """What comes, how often, and the parts of its way with how often each is passed."""

    number: int
    rate: float = 0.0
    source: str
    rank: str = ""
    is_closed: bool = False
    visits: list[str] = []
    passed: dict[str, float] = {}


class Composed:
    """Draws such a spec."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.has_closed = random.random() < 0.2
        self.has_pool = not self.has_closed and random.random() < 0.3
        self.stations = [self._station(name) for name in NODES[: self._count()]]
        self.streams = [self._stream(at) for at in range(random.choice((1, 1, 2, 3, 4)))]

    def _count(self) -> int:
        return self.random.choice((1, 2, 2, 3, 3, 4, 5, 7, 10))

    def _station(self, name: str) -> _Station:
        random = self.random
        cores = cores_of(random)
        chance = random.random()
        if self.has_closed:
            discipline = "mmc" if cores > 1 else random.choice(("mm1", "ps", "mm1", "md1"))
        elif chance < 0.1:
            discipline = random.choice(("priority", "priority preemptive"))
            discipline += random.choice(("", " cv 0", " cv 2")) if cores == 1 else ""
        elif chance < 0.15:
            discipline = "loss"
        else:
            discipline = discipline_of(random, cores)
        return _Station(
            name=name,
            cores=cores,
            discipline=discipline,
            load=load_of(random, 0.7 if self.has_closed else 0.95),
            copies=random.choice((1, 1, 1, 2, 4)),
        )

    def _stream(self, at: int) -> _Stream:
        random = self.random
        if self.has_closed and (at == 0 or random.random() < 0.3):
            think = random.choice((0.5, 2, 10))
            users = random.choice((1, 2, 3, 5, 10, 20, 50))
            source = f"traffic {users} request, 1 bit/request, think {think} s"
            found = _Stream(number=at, source=source, rate=1.0, is_closed=True)
        else:
            rate = log_uniform(random, 0.2, 5)
            uneven = random.choice((*[""] * 5, "; arrivals cv 0.5", "; arrivals cv 2"))
            source = f"traffic {rate} request/s, 1 bit/request{uneven}"
            found = _Stream(number=at, source=source, rate=rate)
        if any("priority" in one.discipline for one in self.stations):
            found.rank = f"priority {at + 1}; "
        found.visits, found.passed = [], {}
        self._way(found)
        return found

    # -- ways ------------------------------------------------------------------------------

    def _way(self, stream: _Stream) -> None:
        random = self.random
        names = [one.name for one in self.stations]
        top = [name for name in names if random.random() < 0.7] or names[:1]
        rest = [name for name in names if name not in top]
        for name in top:
            called = [rest.pop() for _ in range(2) if rest and random.random() < 0.8]
            stream.visits.append(f"at {name} {{ {self._inside(stream, name, called)} }}")

    def _inside(self, stream: _Stream, name: str, called: list[str]) -> str:
        """Return what happens in a visit, with the calls of it."""
        random = self.random
        steps = [self._work(stream, name, 1.0)]
        if len(called) > 1 and not stream.is_closed and random.random() < 0.4:
            calls = "; ".join(self._call(stream, one, "", 1.0) for one in called)
            steps.append(f"together {{ {calls} }}")
        elif called:
            for one in called:
                times, often = random.choice(
                    (("", 1.0), ("* 2", 2.0), ("* 30 %", 0.3), ("* 5", 5.0), ("* 1.5", 1.5))
                )
                steps.append(self._call(stream, one, times, often))
        if self.has_pool and random.random() < 0.6:
            steps = [f"take {name}.threads", *steps, f"give {name}.threads"]
        if random.random() < 0.05:
            steps.append("shed")
        return "; ".join(steps)

    def _call(self, stream: _Stream, name: str, times: str, often: float) -> str:
        inside = self._work(stream, name, often)
        if self.has_pool and self.random.random() < 0.4:
            inside = f"take {name}.threads; {inside}; give {name}.threads"
        return f"call {name} {times} {{ {inside} }}"

    def _work(self, stream: _Stream, name: str, often: float) -> str:
        stream.passed[name] = often
        return f"c{name}{stream.number}"

    # -- numbers ---------------------------------------------------------------------------

    def written(self) -> Written:
        """Return it as text, with services that load each station as it shall be."""
        random, spec = self.random, Written()
        for station in self.stations:
            coming = [one for one in self.streams if station.name in one.passed]
            is_alike = random.random() < 0.5
            sizes = {one.number: 1.0 if is_alike else random.uniform(0.3, 3) for one in coming}
            asked = sum(
                prod((one.rate, one.passed[station.name], sizes[one.number])) for one in coming
            )
            servers = station.cores * station.copies
            scale = station.load * servers / asked if asked else 0.0
            held = 0.0
            for one in coming:
                service = sizes[one.number] * scale
                held += one.rate * one.passed[station.name] * service * 3
                spec.components.append(
                    f"component c{station.name}{one.number} {{ cpu {service:.6g} s/request }}"
                )
            pool = ""
            if self.has_pool:
                places = 1 + round(random.uniform(1, 4) * held / station.copies)
                pool = f"; threads {places} thread"
            spec.machines.append(
                f"machine m{station.name} {{ cpu {station.cores} core, "
                f"queueing {station.discipline}{pool} }}"
            )
            spec.nodes.append(f"node {station.name} = m{station.name} * {station.copies}")
        spec.components.append("component shed { drop 0.25 }")
        spec.joined([one.name for one in self.stations])
        for one in self.streams:
            spec.streams.append(
                f"stream s{one.number} in all {{ {one.source}; {one.rank}{'; '.join(one.visits)} }}"
            )
        return spec
