"""What a request does by chance: alternatives, fan-outs, CPU limits; and measures of waits."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from simulated.drawn import NODES, Written, discipline_of, load_of, log_uniform

_DEEPEST = 2
_MOST_LOAD = 0.8
_RARE = (0.01, 0.02, 0.05)
_HAVE_LAWS = ("mm1", "mmc", "md1", "mg1", "mgc")
"""Of these disciplines quantiles of waits are told."""


class Place(Struct, kw_only=True):
    """A node with a queue."""

    name: str
    cores: int
    copies: int
    queueing: str
    load: float
    queried: float = 0.0
    """Work that comes in a second, in units of which services are so many as make the load."""

    @property
    def has_law(self) -> bool:
        """Whether quantiles of its waits are told."""
        return self.queueing.startswith(_HAVE_LAWS)


class Step(Struct, kw_only=True):
    """A component of a station: its service in units of it."""

    name: str
    place: Place
    size: float


class Way(Struct, kw_only=True):
    """Where an item of a stream has been, while its text is drawn."""

    rate: float
    is_closed: bool
    reached: list[Place] = []
    has_parallel: bool = False
    event: float | None = None
    """How probable its event is, where it has one."""
    is_within_event: bool = False
    """Whether what is drawn happens to items with the event, or without it, alone."""


class Requested:
    """Draws the stations, then streams whose items do by chance what they do."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.steps: list[Step] = []
        count = random.choice((1, 1, 2, 2, 3, 3, 4))
        self.is_closed = self._is(0.12)
        self.places = [self._place(name) for name in NODES[:count]]
        self.has_root = self._is(0.5)
        self.ways: list[Way] = []

    def written(self) -> Written:
        """Return it as text."""
        spec, random = Written(), self.random
        streams = random.choice((1, 1, 1, 1, 2, 3))
        for number in range(streams):
            spec.streams.append(self._stream(number))
        spec.machines.append("machine box { }")
        spec.components.append("component rest { delay 50 ms }")
        spec.components.append("component long_rest { delay 2 s }")
        spec.nodes.append("node root = box")
        for place in self.places:
            spec.machines.append(
                f"machine m{place.name} {{ cpu {place.cores} core, queueing {place.queueing} }}"
            )
            spec.nodes.append(f"node {place.name} = m{place.name} * {place.copies}")
        for step in self.steps:
            place = step.place
            scale = place.load * place.cores * place.copies / place.queried
            spec.components.append(
                f"component {step.name} {{ cpu {step.size * scale:.5g} s/request }}"
            )
        spec.joined(["root", *(place.name for place in self.places)])
        spec.streams += self._measures()
        return spec

    def _is(self, often: float) -> bool:
        return self.random.random() < often

    # -- stations --------------------------------------------------------------------------

    def _place(self, name: str) -> Place:
        random, cores = self.random, self.random.choice((1, 1, 1, 1, 2, 4))
        place = Place(
            name=name,
            cores=cores,
            copies=random.choice((1, 1, 1, 2, 3, 8)),
            queueing=discipline_of(random, cores),
            load=load_of(random, _MOST_LOAD),
        )
        if self.is_closed:
            place.queueing = random.choice(("mmc", "ps") if cores > 1 else ("mm1", "ps"))
        elif self._is(0.15):
            host = random.choice((1, 2, 8))
            place.cores = random.choice((0.5, 0.8) if host == 1 else (0.5, 1, 1.5))
            place.load = load_of(random, 0.7)
            period = log_uniform(random, 0.01, 20)
            place.queueing = f"quota per {period} s on {host} core"
        return place

    def _measures(self) -> list[str]:
        """Return waits and shares by name, where the language tells them."""
        found = []
        for number, way in enumerate(self.ways):
            stream, mean = f"s{number}", log_uniform(self.random, 0.2, 20)
            if way.is_closed:
                continue
            if self._is(0.25):
                found.append(f"share({stream}.latency > {mean:.3g} s)")
            if not way.has_parallel and all(place.has_law for place in way.reached):
                found += [f"{stream}.wait", f"{stream}.wait.p95", f"share({stream}.wait <= 1 s)"]
        for place in self.places:
            if place.queried and not self.is_closed:
                cpu = f"{place.name}.cpu"
                found += [f"{cpu}.wait", f"{cpu}.queue"]
                if place.has_law:
                    found += [f"{cpu}.wait.p95", f"share({cpu}.wait > 0 s)"]
        options = [one for one in found if self._is(0.5)]
        return [f"measure asked{number} = {one}" for number, one in enumerate(options)]

    # -- streams ---------------------------------------------------------------------------

    def _stream(self, number: int) -> str:
        random = self.random
        is_closed = self.is_closed and number == 0
        way = Way(rate=log_uniform(random, 0.2, 5), is_closed=is_closed)
        self.ways.append(way)
        source = f"traffic {way.rate} request/s, 1000 bit/request"
        if is_closed:
            users, think = random.choice((1, 3, 10, 20)), random.choice((0.5, 2, 10))
            source = f"traffic {users} request, 1000 bit/request, think {think} s"
        if not is_closed and self._is(0.3):
            way.event = random.choice((0.05, 0.2, 0.5, 0.85))
            source = f"{source}; event hit = {100 * way.event:.5g} %"
        visits = [f"at root {{ {self._body(way, None, 1.0, 0)} }}"] if self.has_root else []
        chosen = [place for place in self.places if self._is(0.6)] or self.places[:1]
        visits += [
            f"at {place.name} {{ {self._body(way, place, 1.0, 0)} }}"
            for place in chosen[: 1 if self.has_root else 3]
        ]
        return f"stream s{number} in all {{ {source}; {'; '.join(visits)} }}"

    def _body(self, way: Way, place: Place | None, often: float, depth: int) -> str:
        """Return some steps of a node, of which each may happen by chance."""
        steps = [
            self._item(way, place, often, depth) for _ in range(self.random.choice((1, 1, 2, 2, 3)))
        ]
        if place is not None and depth:  # who is called works for sure, so that it is a visit
            steps.insert(0, self._step(way, place, often))
        return "; ".join(steps)

    def _item(self, way: Way, place: Place | None, often: float, depth: int) -> str:
        """Return a step, or what is done by chance."""
        kinds = ["step", "step", "step", "chance", "one of"]
        if depth < _DEEPEST:
            kinds += ["call", "call", "by chance", "together", "fan-out", "block"]
        kind = self.random.choice(kinds)
        if kind == "step":
            return self._step(way, place, often)
        if kind == "one of":
            return self._one_of(way, place, often, depth)
        if kind == "chance":
            text, share = self._condition(way)
            return f"{text}: {self._step(way, place, often * share, is_long=share in _RARE)}"
        if kind == "block":
            was_within = way.is_within_event
            text, share = self._condition(way)
            way.is_within_event |= way.event is not None
            body = self._body(way, place, often * share, depth + 1)
            way.is_within_event = was_within
            return f"{text}: {{ {body} }}"
        target = self._target(way, place)
        if target is None:
            return self._step(way, place, often)
        if kind == "by chance":
            text, share = self._share()
            body = self._body(way, target, often * share, depth + 1)
            return f"call {target.name} * {text} {{ {body} }}"
        if kind == "together":
            return self._together(way, place, target, often, depth)
        if kind == "fan-out" and not self.is_closed:
            return self._fan_out(way, target, often, depth)
        return f"call {target.name} {{ {self._body(way, target, often, depth + 1)} }}"

    def _condition(self, way: Way) -> tuple[str, float]:
        """Return what stands before a colon, and how probable it is: perhaps an event."""
        if way.event is None or way.is_within_event or self._is(0.3):
            return self._share()
        return ("hit", way.event) if self._is(0.5) else ("not hit", 1 - way.event)

    def _share(self) -> tuple[str, float]:
        """Return how probable something is, as it is written, and as a number."""
        share = self.random.choice((*_RARE, 0.2, 0.3, 0.5, 0.85))
        written = f"{100 * share:.5g} %"
        return (written if self._is(0.7) else f"(1 - {100 * (1 - share):.5g} %)"), share

    def _step(self, way: Way, place: Place | None, often: float, *, is_long: bool = False) -> str:
        random = self.random
        if place is None or self._is(0.08):
            return random.choice(("rest", "long_rest" if is_long else "rest"))
        times = random.choice((1,) * 12 + (2, 2.5))
        alike = random.random() < 0.3
        size = 1.0 if alike else log_uniform(random, 0.3, 3)
        size *= log_uniform(random, 3, 20) if is_long else 1.0
        step = Step(name=f"c{len(self.steps)}", place=place, size=float(f"{size:.4g}"))
        self.steps.append(step)
        way.reached.append(place)
        place.queried += way.rate * often * step.size * times
        return step.name if times == 1 else f"{step.name} * {times:g}"

    def _one_of(self, way: Way, place: Place | None, often: float, depth: int) -> str:
        random = self.random
        parts = random.choice(((0.5, 0.5), (0.2, 0.8), (0.01, 0.99), (0.1, 0.3, 0.6), (0.2, 0.3)))
        is_whole = sum(parts) > 1 - 1e-9
        found = []
        for number, share in enumerate(parts):
            last = is_whole and number == len(parts) - 1
            word = "else" if last else f"{100 * share:.5g} %"
            target = self._target(way, place)
            if target is not None and depth < _DEEPEST and self._is(0.4):
                inside = self._body(way, target, often * share, depth + 1)
                done = f"call {target.name} {{ {inside} }}"
            else:
                done = self._step(way, place, often * share, is_long=share in _RARE)
            found.append(f"{word}: {done}")
        return f"one of {{ {'; '.join(found)} }}"

    def _target(self, way: Way, place: Place | None) -> Place | None:
        """Return whom to call: mostly who was not asked by this stream before."""
        others = [one for one in self.places if one is not place]
        new = [one for one in others if one not in way.reached]
        if new and self._is(0.9):
            return self.random.choice(new)
        return self.random.choice(others) if others and self._is(0.3) else None

    def _together(
        self, way: Way, place: Place | None, target: Place, often: float, depth: int
    ) -> str:
        way.has_parallel = True
        calls = [f"call {target.name} {{ {self._body(way, target, often, depth + 1)} }}"]
        other = self._target(way, place)
        if other is not None:
            calls.append(f"call {other.name} {{ {self._body(way, other, often, depth + 1)} }}")
        return f"together {{ {'; '.join(calls)} }}"

    def _fan_out(self, way: Way, target: Place, often: float, depth: int) -> str:
        random = self.random
        way.has_parallel = True
        most = target.copies if target.copies > 1 else 8
        many = random.randint(1, most)
        first = ""
        if target.copies >= many > 1 and self._is(0.3):
            first = f", first {random.randint(1, many)} answers"
        body = self._body(way, target, often * many, max(depth + 1, _DEEPEST))
        return f"together {many}{first} {{ call {target.name} {{ {body} }} }}"
