"""The numbers of a combination and its text: services that load each station as it shall be."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil

from simulated.combined import Combined, Station, Stream, Visit
from simulated.drawn import Written, log_uniform

_BITS = 1000
_KINDS = {"x": 0.6, "y": 0.4}
"""Of users: so that of each five whole ones come."""
_PACE = {"x": 0.5, "y": 2.0}
_WORK = {"x": 0.6, "y": 1.6}
_SIZES = {"small": (3, 0.5), "big": (1, 2.5)}
_MOST_HELD = 0.8
_MOST_USERS = 40
"""Who wander from one full station to another do so for ever so long, where they are many."""
_SHED = 0.25


class Loaded:
    """Puts numbers to what was drawn."""

    def __init__(self, drawn: Combined) -> None:
        self.drawn, self.random = drawn, drawn.random
        self.services: dict[tuple[str, int], float] = {}
        for station in drawn.stations:
            self._serve(station)
        for stream in drawn.streams:
            if stream.is_closed:
                stream.users = self._users(stream)
        self.places = {one.name: self._places(one) for one in drawn.stations if one.takers}

    # -- numbers ---------------------------------------------------------------------------

    def _coming(self, station: Station) -> list[tuple[Stream, float]]:
        """Return who comes to a station, and how often each of its items does."""
        found = []
        for stream in self.drawn.streams:
            often = sum(one.often for one in stream.visits if one.at is station)
            if often:
                found.append((stream, often))
        return found

    def _rate(self, stream: Stream) -> float:
        """Return how many open items come, by the mean over kinds of users."""
        if stream.is_closed:
            return 0.0
        paced = stream.by_users in ("pace", "both")
        pace = sum(_KINDS[kind] * _PACE[kind] for kind in _KINDS) if paced else 1.0
        return stream.rate * pace

    def _size(self, stream: Stream) -> float:
        """Return the mean service of a stream's kinds, as parts of what is written."""
        users = 1.0
        if stream.by_users in ("work", "both"):
            paces = _PACE if stream.by_users == "both" else dict.fromkeys(_KINDS, 1.0)
            options = sum(_KINDS[kind] * paces[kind] for kind in _KINDS)
            users = sum(_KINDS[k] * paces[k] * _WORK[k] for k in _KINDS) / options
        weight = sum(number for number, _ in _SIZES.values())
        items = sum(number * size for number, size in _SIZES.values()) / weight
        return users * (items if stream.by_items else 1.0)

    def _serve(self, station: Station) -> None:
        random, coming = self.random, self._coming(station)
        fastest = station.cores * station.copies * (station.speeds[-1] if station.speeds else 1.0)
        is_alike = random.random() < 0.5
        sizes = {one.number: 1.0 if is_alike else random.uniform(0.3, 3) for one, _ in coming}
        options = sum(
            self._rate(one) * often * sizes[one.number] * self._size(one) for one, often in coming
        )
        scale = station.load * fastest / options if options else float("inf")
        if any(one.is_closed for one, _ in coming):
            scale = min(scale, log_uniform(random, 0.03, 0.5) * station.cores**0.7)
        for one, _ in coming:
            self.services[station.name, one.number] = float(f"{sizes[one.number] * scale:.5g}")

    def _service(self, station: Station, stream: Stream) -> float:
        return self.services[station.name, stream.number] * self._size(stream)

    def _open_load(self, station: Station) -> float:
        options = sum(
            self._rate(one) * often * self._service(station, one)
            for one, often in self._coming(station)
        )
        return min(0.95, options / self._servers(station))

    def _servers(self, station: Station) -> float:
        return station.cores * station.copies * (station.speeds[-1] if station.speeds else 1.0)

    def _users(self, stream: Stream) -> int:
        """Return how many wait: fewer and more than the knee of their way."""
        total, most = 0.0, 0.0
        for visit in stream.visits:
            service = visit.often * self._service(visit.at, stream)
            total += service
            left = self._servers(visit.at) * (1 - self._open_load(visit.at))
            most = max(most, service / left)
        knee = (stream.think + total) / most if most else 1.0
        wanted = knee * self.random.choice((0.2, 0.5, 0.8, 1, 1.3, 2)) / self.drawn.closed
        users = max(1, min(_MOST_USERS // self.drawn.closed, round(wanted)))
        return 5 * ceil(users / 5) if stream.by_users else users

    # -- pools -----------------------------------------------------------------------------

    def _places(self, station: Station) -> int:
        """Return how many places a pool has: few, but enough for the open streams that take."""
        random = self.random
        if station.takers == "closed":
            users = sum(one.users for one in self.drawn.streams if one.is_closed)
            often = random.choice((0.1, 0.2, 0.4, 0.8, 1.1))
            return max(1, ceil(users * often / station.copies))
        held, longest, rate = 0.0, 0.0, 0.0
        for stream, visit in self._held(station):
            own = self._rate(stream) * visit.often
            rate += own
            time, worst = self._within(stream, visit)
            held += own * time
            longest = max(longest, worst)
        if not rate:
            return random.randint(1, 5)
        each, rate = held / rate, rate / station.copies
        places = 1
        while places / (each + (places - 1) * longest) < rate / _MOST_HELD and places < 500:
            places += 1
        return ceil(places * random.choice((1, 1.2, 1.5, 2, 4)))

    def _held(self, station: Station) -> Iterator[tuple[Stream, Visit]]:
        for stream in self.drawn.streams:
            for visit in stream.visits:
                if visit.at is station and visit.holds:
                    yield stream, visit

    def _within(self, stream: Stream, visit: Visit) -> tuple[float, float]:
        """Return how long a place is held, and what holds others up most, both rather too long."""
        time, worst = 0.0, 0.0
        for one in visit.all():
            load = self._open_load(one.at)
            service = self._service(one.at, stream) * one.often / visit.often
            own = service / max(0.1, 1 - load)
            time += own
            worst = max(worst, own / one.at.cores)
        return time, worst

    # -- text ------------------------------------------------------------------------------

    def written(self) -> Written:
        """Return it as text."""
        spec = Written()
        self._declare(spec)
        for station in self.drawn.stations:
            self._machine(spec, station)
        spec.components.append(f"component shed {{ drop {_SHED} }}")
        spec.components.append("component rest { delay 50 ms }")
        names = [one.name for one in self.drawn.stations]
        for stream in self.drawn.streams:
            if stream.lasting:
                spec.components.append(
                    f"component talk{stream.number} "
                    f"{{ active {stream.share} for {stream.lasting} s }}"
                )
                names.append(f"p{stream.number}")
                spec.nodes.append(f"node p{stream.number} = box * {stream.flows}")
        if len(names) > 1:
            spec.nodes.append(f"link over_wire = wire between {', '.join(names)}")
            if self.drawn.net:
                spec.machines.append(
                    f"network net {{ rate {self._net_rate():.6g} bit/s; {self.drawn.net} }}"
                )
                spec.nodes.append(f"link over_net = net between {', '.join(names)}")
        spec.streams += [self._stream(one) for one in self.drawn.streams]
        return spec

    def _declare(self, spec: Written) -> None:
        def by(name: str, of: str, values: dict[str, float]) -> str:
            each = "; ".join(f"{kind} {value}" for kind, value in values.items())
            return f"param {name} by {of} {{ {each} }}"

        if any(one.by_users for one in self.drawn.streams):
            shares = "; ".join(f"{kind} {share:.0%}" for kind, share in _KINDS.items())
            spec.machines.append(f"kinds sort of users {{ {shares} }}".replace("%", " %"))
            spec.machines.append(by("pace", "sort", _PACE))
            spec.machines.append(by("work", "sort", _WORK))
        if any(one.by_items for one in self.drawn.streams):
            sizes = "; ".join(f"{kind} {number}" for kind, (number, _) in _SIZES.items())
            spec.machines.append(f"kinds size {{ {sizes} }}")
            spec.machines.append(by("long", "size", {k: v for k, (_, v) in _SIZES.items()}))
        if any(one.lasting for one in self.drawn.streams):
            spec.machines.append("machine box { }")

    def _machine(self, spec: Written, station: Station) -> None:
        queueing = station.queueing
        if station.speeds:
            queueing = f"ps speeds {list(station.speeds)}"
        if station.room is not None:
            queueing += f" room {station.room}"
        pool = f"; threads {self.places[station.name]} thread" if station.takers else ""
        spec.machines.append(
            f"machine m{station.name} {{ cpu {station.cores} core, queueing {queueing}{pool} }}"
        )
        spec.nodes.append(f"node {station.name} = m{station.name} * {station.copies}")
        for stream, _ in self._coming(station):
            factors = (" * work" if stream.by_users in ("work", "both") else "") + (
                " * long" if stream.by_items else ""
            )
            service = self.services[station.name, stream.number]
            name = f"c{station.name}{stream.number}"
            spec.components.append(f"component {name} {{ cpu {service:.5g} s/request{factors} }}")

    def _stream(self, stream: Stream) -> str:
        pace = stream.by_users in ("pace", "both")
        if stream.is_closed:
            think = f"{stream.think} s{' / pace' if pace else ''}"
            source = f"traffic {stream.users} request, {_BITS} bit/request, think {think}"
        else:
            each = stream.rate / stream.flows / stream.share
            times = " * pace" if pace else ""
            source = f"traffic {each:.5g} request/s{times}, {_BITS} bit/request"
        lines = [source]
        if stream.variation is not None:
            lines.append(f"arrivals cv {stream.variation}")
        if stream.rank is not None:
            lines.append(f"priority {stream.rank}")
        whose = "for each user" if stream.by_users else "in all"
        if stream.lasting:
            whose = f"for each p{stream.number}"
            lines.append(f"at p{stream.number} {{ talk{stream.number} }}")
        before = bool(stream.lasting)
        for visit in stream.way:
            if before:
                lines.append(f"over over_{visit.over}")
            lines.append(f"at {visit.at.name} {{ {self._inside(stream, visit)} }}")
            before = True
        return f"stream s{stream.number} {whose} {{ {'; '.join(lines)} }}"

    def _inside(self, stream: Stream, visit: Visit) -> str:
        steps = [f"c{visit.at.name}{stream.number}"]
        calls = [
            f"call {one.at.name} over over_{one.over}{one.times} {{ {self._inside(stream, one)} }}"
            for one in visit.calls
        ]
        steps += [f"together {{ {'; '.join(calls)} }}"] if visit.is_together else calls
        if visit.after:
            steps.append(visit.after)
        if visit.holds:
            steps = ["take threads", *steps, "give threads"]
        return "; ".join(steps)

    # -- the line that is waited for -------------------------------------------------------

    def _net_rate(self) -> float:
        """Return the bits a second that load the fullest port, or the line, as it shall be."""
        crossings: dict[str, float] = {}
        for stream in self.drawn.streams:
            rate = self._rate(stream) or min(
                stream.users / (stream.think + 0.1), 0.5 * stream.users / 0.1
            )
            at = f"p{stream.number}" if stream.lasting else ""
            for visit in stream.way:
                if at and visit.over == "net":
                    for end in (f"{at}.out", f"{visit.at.name}.in"):
                        crossings[end] = crossings.get(end, 0.0) + rate
                at = visit.at.name
                for one in visit.all():
                    for call in one.calls:
                        if call.over == "net":
                            for end in (f"{one.at.name}.out", f"{call.at.name}.in") * 2:
                                crossings[end] = crossings.get(end, 0.0) + rate * call.often
        is_switched = self.drawn.net.startswith("switched")
        busiest = (
            max(crossings.values(), default=1.0) * 2 if is_switched else sum(crossings.values())
        )
        return max(1.0, busiest) * _BITS / self.random.uniform(0.2, 0.7)
