"""What networks by chance rarely have: finite queues, CPU limits, saturation, calls that meet.

Each kind is a small network, so that many are simulated where a combination of all things would
have one of them once in dozens. Each draws its numbers as widely as combinations do.
"""

from __future__ import annotations

from random import Random

from simulated.drawn import NODES, Written, discipline_of, load_of, log_uniform

UNCOMMON = ("rooms", "quotas", "saturated", "rare", "held", "meeting")


class Uncommon:
    """Draws a network of one kind."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.spec = Written()
        self.spec.components.append("component rest { delay 50 ms }")

    def written(self, kind: str) -> Written:
        """Return one as text."""
        {
            "rooms": self._rooms,
            "quotas": self._quotas,
            "saturated": self._saturated,
            "rare": self._rare,
            "held": self._held,
            "meeting": self._meeting,
        }[kind]()
        return self.spec

    def _is(self, often: float) -> bool:
        return self.random.random() < often

    def _node(self, name: str, cores: float, queueing: str, more: str = "") -> None:
        copies = self.random.choice((1, 1, 1, 2, 3))
        self.spec.machines.append(
            f"machine m{name} {{ cpu {cores} core, queueing {queueing}{more} }}"
        )
        self.spec.nodes.append(f"node {name} = m{name} * {copies}")

    def _copies(self, name: str) -> int:
        node = next(one for one in self.spec.nodes if one.startswith(f"node {name} "))
        return int(node.rsplit(" ", 1)[1])

    def _step(self, name: str, work: float) -> str:
        """Declare a component that needs so many seconds, and return its name."""
        step = f"c{len(self.spec.components)}{name}"
        self.spec.components.append(f"component {step} {{ cpu {work:.5g} s/request }}")
        return step

    def _loading(self, name: str, cores: float, rate: float, load: float) -> str:
        return self._step(name, load * cores * self._copies(name) / rate)

    def _stream(self, number: int, rate: float, steps: str, more: str = "") -> None:
        self.spec.streams.append(
            f"stream s{number} in all {{ traffic {rate:.5g} request/s, 1000 bit/request; "
            f"{more}{steps} }}"
        )

    # -- kinds ---------------------------------------------------------------------------------

    def _rooms(self) -> None:
        """Finite queues: of uneven arrivals, behind a station, before one, or in a pool."""
        random = self.random
        names = list(NODES[: random.choice((1, 1, 2, 2, 3))])
        has_pool = self._is(0.3)
        cores = {name: random.choice((1, 1, 1, 2, 4, 16)) for name in names}
        full = random.choice(names)
        for name in names:
            queueing = discipline_of(random, cores[name])
            if name == full and (queueing == "ps" or self._is(0.4)):
                queueing = "mm1" if cores[name] == 1 else "mmc"
            room = f" room {random.choice((1, 2, 5, 10, 25))}" if name == full else ""
            pool = random.choice((4, 16, 64, 500))
            more = f"; threads {pool} thread" if has_pool and name == names[0] else ""
            self._node(name, cores[name], queueing + room, more)
        self.spec.joined(names)
        streams = random.choice((1, 1, 2))
        for number in range(streams):
            rate = log_uniform(random, 0.5, 3)
            way = [name for name in names if name == full or self._is(0.8)]
            steps = {
                name: self._loading(
                    name, cores[name], rate, load_of(random, 0.9 if name == full else 0.7) / streams
                )
                for name in way
            }
            uneven = f"arrivals cv {random.choice((0, 0.5, 0.8, 1.5, 2, 3))}; "
            if has_pool and way[0] == names[0] and len(way) > 1:
                inside = "; ".join(f"call {name} {{ {steps[name]} }}" for name in way[1:])
                body = f"at {way[0]} {{ take threads; {steps[way[0]]}; {inside}; give threads }}"
            else:
                body = "; ".join(f"at {name} {{ {steps[name]} }}" for name in way)
            self._stream(number, rate, body, uneven if self._is(0.6) else "")

    def _quotas(self) -> None:
        """CPU limits, beside other stations, with calls by chance and fan-outs."""
        random = self.random
        names = list(NODES[: random.choice((1, 2, 2, 3))])
        cores: dict[str, float] = {}
        for at, name in enumerate(names):
            if at == 0 or self._is(0.4):
                host = random.choice((1, 2, 8))
                cores[name] = random.choice((0.5, 0.8) if host == 1 else (0.5, 1, 1.5))
                period = log_uniform(random, 0.01, 20)
                self._node(name, cores[name], f"quota per {period} s on {host} core")
            else:
                cores[name] = random.choice((1, 1, 2, 4))
                self._node(name, cores[name], discipline_of(random, int(cores[name])))
        self.spec.joined(names)
        random.shuffle(names)
        streams = random.choice((1, 1, 2))
        for number in range(streams):
            rate = log_uniform(random, 0.3, 5)
            loads = {name: load_of(random, 0.75) / streams for name in names}
            first, *rest = names
            steps = [self._loading(first, cores[first], rate, loads[first])]
            if self._is(0.4):
                steps = [
                    self._loading(first, cores[first], rate, loads[first] / 2) for _ in range(2)
                ]
            for name in rest:
                times = random.choice(("", "", " * 30 %", " * 2", "fan"))
                often = {" * 30 %": 0.3, " * 2": 2.0, "fan": 3.0}.get(times, 1.0)
                step = self._loading(name, cores[name], rate * often, loads[name])
                steps.append(
                    f"together 3 {{ call {name} {{ {step} }} }}"
                    if times == "fan"
                    else f"call {name}{times} {{ {step} }}"
                )
            self._stream(number, rate, f"at {first} {{ {'; '.join(steps)} }}")

    def _saturated(self) -> None:
        """Users who wait, and share what states no queueing and may be full."""
        random = self.random
        names = list(NODES[: random.choice((2, 2, 3))])
        limit = names[-1]
        cores = {name: random.choice((1, 2, 4, 16)) for name in names}
        kinds = random.choice((1, 2, 2, 3))
        users = [random.choice((3, 5, 10, 20)) for _ in range(kinds)]
        thinks = [random.choice((0.5, 1, 5)) for _ in range(kinds)]
        service = {name: log_uniform(random, 0.05, 0.5) for name in names}
        coming = sum(u / (t + sum(service.values())) for u, t in zip(users, thinks, strict=True))
        service[limit] = random.uniform(0.6, 2.5) * cores[limit] / coming
        for name in names:
            cpus = cores[name]
            queueing = (
                "none"
                if name == limit
                else random.choice(("mmc", "ps") if cpus > 1 else ("mm1", "ps"))
            )
            self.spec.machines.append(f"machine m{name} {{ cpu {cpus} core, queueing {queueing} }}")
            self.spec.nodes.append(f"node {name} = m{name}")
        self.spec.joined(names)
        for number in range(kinds):
            way = [name for name in names if name == limit or self._is(0.8)]
            steps = []
            for name in way:
                work = service[name] * (
                    1 if name != limit and self._is(0.5) else random.uniform(0.5, 1.5)
                )
                steps.append(f"at {name} {{ {self._step(name, work)} }}")
            random.shuffle(steps)
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {users[number]} request, 1000 bit/request, "
                f"think {thinks[number]} s; {'; '.join(steps)} }}"
            )

    def _rare(self) -> None:
        """Streams of which fewer than one item in a hundred makes a call, or a fork."""
        random = self.random
        names = list(NODES[: random.choice((2, 3, 3))])
        cores = {name: random.choice((1, 1, 2, 4)) for name in names}
        for name in names:
            self._node(name, cores[name], discipline_of(random, cores[name]))
        self.spec.joined(names)
        first, *rest = names
        rate, share = log_uniform(random, 1, 5), random.choice((0.2, 0.5, 0.9))
        steps = [self._loading(first, cores[first], rate, load_of(random, 0.8))]
        own = {
            name: self._step(name, random.uniform(0.3, 10) * load_of(random) / rate)
            for name in rest
        }
        if len(rest) > 1 and self._is(0.6):
            calls = "; ".join(f"call {name} {{ {own[name]} }}" for name in rest)
            steps.append(f"{share} %: {{ together {{ {calls} }} }}")
        else:
            steps += [f"call {name} * {share} % {{ {own[name]} }}" for name in rest]
        self._stream(0, rate, f"at {first} {{ {'; '.join(steps)} }}")
        for number, name in enumerate(rest, 1):
            other = log_uniform(random, 0.5, 3)
            step = self._loading(name, cores[name], other, load_of(random, 0.7))
            self._stream(number, other, f"at {name} {{ {step} }}")

    def _held(self) -> None:
        """Pools whose items do not queue while they hold a place, or are lost meanwhile."""
        random = self.random
        kind = random.choice(("delay", "enough", "drop", "loss"))
        cores = random.choice((1, 2, 4))
        places = random.choice((1, 2, 4, 8, 16))
        uneven = f"arrivals cv {random.choice((0.5, 1.5, 2))}; " if self._is(0.3) else ""
        rate, load = log_uniform(random, 0.5, 3), load_of(random, 0.9)
        held = load * places / rate
        self._node(
            "a",
            max(cores, places) if kind == "enough" else cores,
            "none" if kind == "delay" else random.choice(("mmc", "mgc cv 2")),
            f"; threads {places} thread",
        )
        copies = self._copies("a")
        rate *= copies
        self._node(
            "b",
            places * 4 * copies if kind != "loss" else max(1, round(places * copies * 0.8)),
            "loss" if kind == "loss" else "mmc",
        )
        self.spec.joined(["a", "b"])
        if kind == "delay":
            part = held * random.uniform(0.2, 0.8)
            self.spec.components.append(f"component nap {{ delay {part:.5g} s }}")
            work = min(held - part, 0.9 * cores / rate * copies)
            steps = [self._step("a", work), "nap"]
        elif kind == "enough":
            steps = [self._step("a", held)]
        else:
            work = min(held * 0.5, 0.6 * cores * copies / rate)
            steps = [self._step("a", work), f"call b {{ {self._step('b', held - work)} }}"]
        if kind == "drop":
            self.spec.components.append("component shed { drop 0.25 }")
            steps.append("shed")
        body = "; ".join(["take threads", *steps, "give threads"])
        self._stream(0, rate, f"at a {{ {body} }}", uneven)

    def _meeting(self) -> None:
        """Calls made together that come to the same queues: copies of one item meet there."""
        random = self.random
        names = list(NODES[: random.choice((1, 2, 2, 3))])
        cores = {name: random.choice((1, 1, 1, 2, 4)) for name in names}
        for name in names:
            queueing = discipline_of(random, cores[name])
            if queueing == "ps":
                queueing = "mm1" if cores[name] == 1 else "mmc"
            self._node(name, cores[name], queueing)
        self.spec.machines.append("machine box { }")
        self.spec.nodes.append("node root = box")
        self.spec.joined(["root", *names])
        rate = log_uniform(random, 0.5, 3)
        size = {name: self._size(cores[name], name, rate) for name in names}
        first = self._branches(size, random.choice((2, 2, 3, 4)), random.choice((0, 1, 1)))
        self._stream(0, rate, f"at root {{ {first} }}")
        if self._is(0.3):
            name = random.choice(names)
            step = self._loading(name, cores[name], rate, load_of(random, 0.3))
            self._stream(1, rate, f"at {name} {{ {step} }}")
        for number, name in enumerate(one for one in names if f"call {one} " in first):
            # Half of them from zero on, half beyond a part of the service.
            beyond = random.choice((0, random.uniform(0.1, 5) * size[name]))
            cpu = f"{name}.cpu"
            self.spec.streams += [
                f"measure asked{number}{at} = {one}"
                for at, one in enumerate(
                    (f"share({cpu}.wait > {beyond:.4g} s)", f"{cpu}.queue", f"{cpu}.wait.p95")
                )
            ]

    def _size(self, cores: int, name: str, rate: float) -> float:
        """Return the mean service of about five visits for each item."""
        return load_of(self.random, 0.8) * cores * self._copies(name) / rate / 5

    def _branches(self, size: dict[str, float], count: int, deeper: int) -> str:
        """Return calls made together, of which some make such calls in their turn."""
        random, found, names = self.random, [], list(size)
        for _ in range(count):
            name = random.choice(names)
            steps = [self._step(name, size[name] * random.choice((1, 1, 0.5, 2)))]
            others = {one: mean for one, mean in size.items() if one != name}
            if deeper and others and self._is(0.4):
                steps.append(self._branches(others, 2, deeper - 1))
            elif others and self._is(0.3):
                other = random.choice(list(others))
                steps.append(f"call {other} {{ {self._step(other, size[other])} }}")
            found.append(f"call {name} {{ {'; '.join(steps)} }}")
        return f"together {{ {'; '.join(found)} }}"
