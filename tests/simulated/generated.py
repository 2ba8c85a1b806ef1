"""Specs by chance: one thing alone, with wide numbers, or all of them together (`combined`)."""

from __future__ import annotations

from random import Random

from simulated.combined import Combined
from simulated.drawn import NODES, Written, cores_of, discipline_of, load_of, log_uniform
from simulated.loaded import Loaded
from simulated.requested import Requested
from simulated.uncommon import UNCOMMON, Uncommon

KINDS = (
    *("rows", "periodic", "batches", "behind", "calls", "ports", "speeds", "stored"),
    *("closed", "classes", "mixed", "pools", "bursts", "uneven", "ranks"),
    *("combined",) * 25,
)
REQUESTED = "requested"
"""What a request does by chance: each third spec from `_FIRST_REQUESTED` on."""
_FIRST_REQUESTED = 1000
"""Specs before it are what they were before there were such: tests name some by their seeds."""


_CALLS_TOGETHER = 0.4
"""How many of all users who wait alone make calls together."""


def spec_of(seed: int, only: str = "") -> str:
    """Return a spec; the same seed, the same spec. Of one kind `only`, if that is given."""
    if only:
        return spec_of_kind(only, Random(f"{only}/{seed}"))
    random = Random(f"spec/{seed}")
    kind = random.choice(KINDS)
    return spec_of_kind(REQUESTED if is_requested(seed) else kind, random)


def is_requested(seed: int) -> bool:
    """Return whether the spec of a seed is one of what a request does by chance."""
    return seed >= _FIRST_REQUESTED and seed % 3 == 2


def spec_of_kind(kind: str, random: Random) -> str:
    """Return a spec of one kind."""
    if kind == REQUESTED:
        return Requested(random).written().text(kind)
    if kind in UNCOMMON:
        return Uncommon(random).written(kind).text(kind)
    if kind == "combined":
        return Loaded(Combined(random)).written().text(kind)
    generated = _Generated(random)
    getattr(generated, f"_{kind}")()
    return generated.spec.text(kind)


class _Generated:
    """One thing alone."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.spec = Written()

    def _load(self) -> float:
        return load_of(self.random)

    def _joined(self, names: list[str]) -> None:
        self.spec.joined(names)

    def _rows(self) -> None:
        """Stations one after the other, and streams with services of their own at each."""
        random = self.random
        count = random.choice((1, 1, 2, 3, 5, 8, 10))
        streams = random.choice((1, 1, 2, 3))
        names = list(NODES[:count])
        shares = [random.uniform(0.2, 1) for _ in range(streams)]
        rates = [round(random.uniform(0.5, 2), 3) for _ in range(streams)]
        is_alike = random.random() < 0.5
        services: dict[tuple[int, str], float] = {}
        for name in names:
            cores, load = cores_of(random), self._load()
            copies = random.choice((1, 1, 1, 2, 3))
            total = load * cores * copies
            sizes = [1.0 if is_alike else random.uniform(0.3, 3) for _ in range(streams)]
            scale = total / sum(r * s for r, s in zip(rates, sizes, strict=True))
            for number, size in enumerate(sizes):
                services[number, name] = round(size * scale, 6)
            self.spec.machines.append(
                f"machine m{name} {{ cpu {cores} core, queueing {discipline_of(random, cores)} }}"
            )
            self.spec.nodes.append(f"node {name} = m{name} * {copies}")
            for number in range(streams):
                self.spec.components.append(
                    f"component c{name}{number} {{ cpu {services[number, name]} s/request }}"
                )
        self._joined(names)
        if random.random() < 0.3:
            self.spec.components.append("component shed { drop 0.25 }")
        for number in range(streams):
            way = [name for name in names if random.random() < 0.8] or names
            steps = [f"c{name}{number}" for name in way]
            visits = [f"at {name} {{ {step} }}" for name, step in zip(way, steps, strict=True)]
            if (
                any("shed" in one for one in self.spec.components)
                and random.random() < shares[number]
            ):
                visits[0] = visits[0].replace(" }", "; shed }")
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {rates[number]} request/s, 1 bit/request; "
                f"{'; '.join(visits)} }}"
            )

    def _periodic(self) -> None:
        """Flows by a clock over one line."""
        random = self.random
        kinds = random.choice((1, 1, 2, 3))
        load = self._load()
        flows = [random.randint(1, 30) for _ in range(kinds)]
        sizes = [round(random.uniform(0.3, 3), 3) for _ in range(kinds)]
        period = 0.02
        work = sum(f * s for f, s in zip(flows, sizes, strict=True)) / period
        unit = load / work
        self.spec.machines.append("machine box { cpu 1 core, queueing none }")
        self.spec.machines.append("machine line { cpu 1 core, queueing periodic }")
        self.spec.nodes += ["node b = line"]
        joined = ["b"]
        for number in range(kinds):
            self.spec.components.append(
                f"component c{number} {{ cpu {sizes[number] * unit:.9f} s/packet }}"
            )
            self.spec.nodes.append(f"node p{number} = box * {flows[number]}")
            joined.append(f"p{number}")
            self.spec.streams.append(
                f"stream s{number} for each p{number} {{ traffic 50 packet/s, 1 bit/packet; "
                f"at p{number} {{ }}; at b {{ c{number} }} }}"
            )
        self._joined(joined)

    def _batches(self) -> None:
        """Copies that leave together, over one port, beside others."""
        random = self.random
        copies = random.choice((1, 2, 5, 10, 30, 100))
        load = self._load()
        bits = 1000
        rate = round(random.uniform(1, 10), 3)
        speed = copies * bits * rate / load
        discipline = random.choice(("md1", "mm1", "mg1 cv 2"))
        self.spec.machines += [
            "machine box { }",
            f"network lan {{ rate {speed:.6f} bit/s; queueing {discipline} }}",
        ]
        self.spec.components.append("component send { }")
        self.spec.nodes += [
            "node src = box",
            f"node rcv = box * {copies}",
            "link net = lan between src, rcv",
        ]
        self.spec.streams.append(
            f"stream s0 {{ traffic {rate} packet/s, {bits} bit/packet; "
            "at src { send to all rcv }; over net; at rcv { } }"
        )

    def _calls(self) -> None:
        """Calls of a database, some of them made by a share, or several times."""
        random = self.random
        rate = 1.0
        front, back = self._load(), self._load()
        times = random.choice(("0.3", "1", "2", "3", "1.5"))
        cores = cores_of(random)
        discipline = discipline_of(random, cores)
        self.spec.machines += [
            "machine mf { cpu 1 core, queueing mm1 }",
            f"machine mb {{ cpu {cores} core, queueing {discipline} }}",
        ]
        self.spec.components += [
            f"component work {{ cpu {front} s/request }}",
            f"component query {{ cpu {back * cores / float(times):.6f} s/request }}",
        ]
        self.spec.nodes += ["node f = mf", "node b = mb", "link l = wire between f, b"]
        call = "call b { query }" if times == "1" else f"call b * {times} {{ query }}"
        self.spec.streams.append(
            f"stream s0 {{ traffic {rate} request/s, 1 bit/request; at f {{ work; {call} }} }}"
        )

    def _ports(self) -> None:
        """A switch, whose ports are waited for, with losses on the way."""
        random = self.random
        clients = random.randint(1, 10)
        load = self._load()
        discipline, rate = random.choice(("md1", "mm1")), clients * 1000 / load
        self.spec.machines += [
            "machine box { }",
            f"network lan {{ switched; rate {rate:.6f} bit/s; queueing {discipline}; loss 2 % }}",
        ]
        self.spec.nodes += [
            f"node c = box * {clients}",
            "node s = box",
            "link net = lan between c, s",
        ]
        self.spec.streams.append(
            "stream s0 for each c { traffic 1 packet/s, 1000 bit/packet; at c { }; at s { } }"
        )

    def _closed(self) -> None:
        """Users who wait for their answers, at stations in a row or some of them at once."""
        if self.random.random() < _CALLS_TOGETHER:
            self._together()
        else:
            self._waiting(classes=1, is_mixed=False)

    def _classes(self) -> None:
        """Several kinds of users, each with a way of its own."""
        self._waiting(classes=self.random.choice((2, 2, 3)), is_mixed=self.random.random() < 0.3)

    def _mixed(self) -> None:
        """Users who wait, beside open streams at the same stations."""
        self._waiting(classes=1, is_mixed=True)

    def _together(self) -> None:
        """Users who wait for calls that are made together, each through some machines."""
        random = self.random
        branches = random.choice((2, 2, 3, 4, 6))
        lengths = [1, *(random.choice((1, 1, 1, 2)) for _ in range(branches))]
        names = list(NODES[: sum(lengths[:9])])
        is_alike, common = random.random() < 0.4, log_uniform(random, 0.03, 0.5)
        for name in names:
            cores = random.choice((1, 1, 1, 2, 4, 16))
            discipline = random.choice(("mmc", "ps") if cores > 1 else ("mm1", "mm1", "ps"))
            service = common if is_alike else log_uniform(random, 0.03, 0.5)
            self.spec.machines.append(
                f"machine m{name} {{ cpu {cores} core, queueing {discipline} }}"
            )
            self.spec.nodes.append(f"node {name} = m{name}")
            self.spec.components.append(f"component c{name} {{ cpu {service:.4g} s/request }}")
            if random.random() < 0.15:
                rate = self._load() * 0.6 * cores / service
                self.spec.streams.append(
                    f"stream o{name} in all {{ traffic {rate:.5g} request/s, 1 bit/request; "
                    f"at {name} {{ c{name} }} }}"
                )
        self._joined(names)
        first, *rest = names
        calls = []
        for length in lengths[1:]:
            way, rest = rest[:length], rest[length:]
            inside = ""
            for name in reversed(way):
                inside = f"call {name} {random.choice(('', '', '* 2 '))}{{ c{name}{inside} }}"
                inside = f"; {inside}"
            calls.append(inside.removeprefix("; "))
        users, think = random.choice((1, 2, 3, 5, 8, 20)), random.choice((0.3, 1, 5, 20))
        together = "; ".join(call for call in calls if call)
        self.spec.streams.append(
            f"stream s0 in all {{ traffic {users} request, 1 bit/request, think {think} s; "
            f"at {first} {{ c{first}; together {{ {together} }} }} }}"
        )

    def _waiting(self, *, classes: int, is_mixed: bool) -> None:
        random = self.random
        names = list(NODES[: random.choice((1, 2, 3, 5, 10))])
        for name in names:
            cores = random.choice((1, 1, 1, 2, 4, 16, 64))
            alike = ("mmc", "mmc", "ps") if cores > 1 else ("mm1", "mm1", "ps")
            odd = "mgc cv 2" if cores > 1 else random.choice(("md1", "mg1 cv 2"))
            discipline = odd if random.random() < 0.1 else random.choice(alike)
            copies = random.choice((1, 1, 1, 2))
            service = log_uniform(random, 0.03, 0.5)
            self.spec.machines.append(
                f"machine m{name} {{ cpu {cores} core, queueing {discipline} }}"
            )
            self.spec.nodes.append(f"node {name} = m{name} * {copies}")
            is_alike = discipline != "ps" and random.random() < 0.7
            for number in range(classes):
                own = service if is_alike else service * random.uniform(0.3, 3)
                self.spec.components.append(
                    f"component c{name}{number} {{ cpu {own:.4g} s/request }}"
                )
            if is_mixed:
                rate = self._load() * 0.7 * cores * copies / service
                self.spec.components.append(f"component open{name} {{ cpu {service} s/request }}")
                self.spec.streams.append(
                    f"stream o{name} in all {{ traffic {rate:.5g} request/s, 1 bit/request; "
                    f"at {name} {{ open{name} }} }}"
                )
        self._joined(names)
        for number in range(classes):
            users = random.choice((1, 2, 3, 5, 10, 20, 40))
            think = random.choice((0.1, 1, 5, 20))
            way = [name for name in names if random.random() < 0.8] or names
            visits = "; ".join(f"at {name} {{ c{name}{number} }}" for name in way)
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {users} request, 1 bit/request, "
                f"think {think} s; {visits} }}"
            )

    def _pools(self) -> None:
        """Pools that are held while other machines are asked, which may have pools themselves.

        Open traffic takes from them, or users who wait, of one stream or of several.
        """
        random = self.random
        depth = random.choice((1, 2, 2, 3, 4))
        names = list(NODES[:depth])
        cores = [random.choice((1, 1, 2, 4, 16)) for _ in names]
        services = [log_uniform(random, 0.02, 0.5) for _ in names]
        has_pool = [at == 0 or random.random() < 0.6 for at in range(depth)]
        places = [random.choice((1, 2, 4, 8, 16, 64)) for _ in names]
        most = min(c / s for c, s in zip(cores, services, strict=True))
        for at in range(depth):
            if has_pool[at]:
                most = min(most, places[at] / sum(services[at:]))
        rate = most * random.uniform(0.1, 0.85)
        served_at_once = set()
        for at in reversed(range(depth)):
            name = names[at]
            kind = "mmc" if cores[at] > 1 else random.choice(("mm1", "mm1", "ps", "md1"))
            if kind == "ps":
                served_at_once.add(name)
            pool = f"; threads {places[at]} thread" if has_pool[at] else ""
            self.spec.machines.append(
                f"machine m{name} {{ cpu {cores[at]} core, queueing {kind}{pool} }}"
            )
            self.spec.nodes.append(f"node {name} = m{name}")
            self.spec.components.append(f"component c{name} {{ cpu {services[at]} s/request }}")
        self._joined(names)
        inside = self._held(names, has_pool, [f"c{name}" for name in names], [""] * depth)
        if random.random() < 0.6:
            self.spec.streams.append(
                f"stream s0 in all {{ traffic {rate:.5g} request/s, 1 bit/request; "
                f"at {names[0]} {{ {inside} }} }}"
            )
            return
        for number in range(random.choice((1, 2, 2, 3))):
            users, think = random.choice((1, 3, 10, 30, 60)), random.choice((0.5, 2, 5, 20))
            last = random.randint(1, depth)
            steps = []
            for at, name in enumerate(names[:last]):
                own = services[at] * (random.uniform(0.3, 3) if name in served_at_once else 1)
                steps.append(f"c{name}{number}")
                self.spec.components.append(f"component {steps[-1]} {{ cpu {own:.4g} s/request }}")
            often = [random.choice(("", "", " * 2", " * 50 %")) for _ in steps]
            inside = self._held(names[:last], has_pool, steps, often)
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {users} request, 1 bit/request, "
                f"think {think} s; at {names[0]} {{ {inside} }} }}"
            )

    def _held(
        self, names: list[str], has_pool: list[bool], steps: list[str], often: list[str]
    ) -> str:
        """Return steps of which each calls the next one, while places of pools are held."""
        inside = ""
        for at in reversed(range(len(names))):
            called = f"; call {names[at + 1]}{often[at]} {{ {inside} }}" if inside else ""
            inside = steps[at] + called
            if has_pool[at]:
                inside = f"take threads; {inside}; give threads"
        return inside

    def _stored(self) -> None:
        """Lines without a queue, of which some calls find none free."""
        random = self.random
        lines, streams = random.choice((1, 2, 5, 30, 64)), random.choice((1, 2, 3))
        offered = lines * random.uniform(0.1, 1.3)
        self.spec.machines += [
            f"machine m {{ cpu {lines} core, queueing loss }}",
            "machine behind { cpu 2 core, queueing mmc }",
        ]
        self.spec.nodes += ["node a = m", "node b = behind"]
        self._joined(["a", "b"])
        shares = [random.uniform(0.2, 1) for _ in range(streams)]
        for number, share in enumerate(shares):
            service = log_uniform(random, 0.3, 3)
            rate = offered * share / sum(shares) / service
            after = 2 * self._load() / streams / rate
            self.spec.components += [
                f"component c{number} {{ cpu {service} s/request }}",
                f"component d{number} {{ cpu {after:.5g} s/request }}",
            ]
            behind = f"; at b {{ d{number} }}" if random.random() < 0.5 else ""
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {rate:.6g} request/s, 1 bit/request; "
                f"at a {{ c{number} }}{behind} }}"
            )

    def _speeds(self) -> None:
        """A server that is faster, or slower, by how many are there; others behind it."""
        random = self.random
        speeds = [1.0]
        for _ in range(random.choice((1, 2, 4, 8))):
            speeds.append(round(speeds[-1] * random.uniform(0.85, 1.9), 3))
        services = [1.0, round(random.uniform(0.2, 3), 3)][: random.choice((1, 1, 2))]
        load = self._load()
        self.spec.machines += [
            f"machine m {{ cpu 1 core, queueing ps speeds {speeds} }}",
            "machine behind { cpu 1 core, queueing mm1 }",
        ]
        self.spec.nodes += ["node a = m", "node b = behind"]
        self._joined(["a", "b"])
        after = self._load()
        for number, service in enumerate(services):
            rate = load * speeds[-1] / service / len(services)
            self.spec.components += [
                f"component c{number} {{ cpu {service} s/request }}",
                f"component d{number} {{ cpu {after / len(services) / rate:.5g} s/request }}",
            ]
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {rate:.6g} request/s, 1 bit/request; "
                f"at a {{ c{number} }}; at b {{ d{number} }} }}"
            )

    def _behind(self) -> None:
        """Copies that leave together, at a second port behind the first."""
        random = self.random
        copies, bits = random.choice((1, 2, 5, 20, 100)), 1000
        rate = log_uniform(random, 0.5, 10)
        first, second = (copies * bits * rate / self._load() for _ in range(2))
        disciplines = [random.choice(("md1", "mm1", "mg1 cv 0.5")) for _ in range(2)]
        self.spec.machines += [
            "machine box { }",
            f"network near {{ rate {first:.6g} bit/s; queueing {disciplines[0]} }}",
            f"network far {{ rate {second:.6g} bit/s; queueing {disciplines[1]} }}",
        ]
        self.spec.components.append("component send { }")
        self.spec.nodes += [
            "node src = box",
            f"node rcv = box * {copies}",
            "link first = near between src, second",
            "link second = far between rcv",
        ]
        self.spec.streams.append(
            f"stream s0 {{ traffic {rate} packet/s, {bits} bit/packet; "
            "at src { send to all rcv }; over first, second; at rcv { } }"
        )

    def _bursts(self) -> None:
        """Flows that are on and off, at one line."""
        random = self.random
        flows, share = random.choice((5, 10, 30)), random.choice(("1/2", "1/3"))
        lasting = random.choice(("0.2 s", "1 s"))
        numerator, denominator = map(int, share.split("/"))
        load = random.uniform(0.3, 0.8)
        service = load * denominator / numerator / (flows * 50)
        queueing = random.choice(("periodic", "md1"))
        self.spec.machines += [
            "machine box { }",
            f"machine line {{ cpu 1 core, queueing {queueing} }}",
        ]
        self.spec.components += [
            f"component vad {{ active {share} for {lasting} }}",
            f"component c {{ cpu {service:.9f} s/packet }}",
        ]
        self.spec.nodes += [
            f"node p = box * {flows}",
            "node b = line",
            "link l = wire between p, b",
        ]
        self.spec.streams.append(
            "stream s0 for each p { traffic 50 packet/s, 1 bit/packet; at p { vad }; at b { c } }"
        )

    def _uneven(self) -> None:
        """Uneven arrivals at stations in a row."""
        random = self.random
        variation = random.choice((0, 0.5, 0.8, 1.5, 2, 3))
        names = list(NODES[: random.choice((1, 1, 2, 3, 5))])
        for name in names:
            cores = random.choice((1, 1, 1, 4, 16))
            self.spec.machines.append(
                f"machine m{name} {{ cpu {cores} core, queueing {discipline_of(random, cores)} }}"
            )
            self.spec.components.append(
                f"component c{name} {{ cpu {self._load() * cores:.4g} s/request }}"
            )
            self.spec.nodes.append(f"node {name} = m{name}")
        self._joined(names)
        visits = "; ".join(f"at {name} {{ c{name} }}" for name in names)
        self.spec.streams.append(
            "stream s0 in all { traffic 1 request/s, 1 bit/request; "
            f"arrivals cv {variation}; {visits} }}"
        )

    def _ranks(self) -> None:
        """Streams that go before others at one machine."""
        random = self.random
        cores, streams = random.choice((1, 1, 1, 2, 4, 16, 64)), random.choice((2, 3, 5))
        load, is_alike = self._load(), random.random() < 0.5
        queueing = random.choice(("priority", "priority preemptive"))
        variation = random.choice(("", " cv 0", " cv 0.5", " cv 2")) if cores == 1 else ""
        shares = [random.uniform(0.2, 1) for _ in range(streams)]
        self.spec.machines.append(
            f"machine m {{ cpu {cores} core, queueing {queueing}{variation} }}"
        )
        self.spec.nodes.append("node a = m")
        for number, share in enumerate(shares):
            service = 1.0 if is_alike else round(random.uniform(0.3, 3), 3)
            rate = load * cores * share / sum(shares) / service
            self.spec.components.append(f"component c{number} {{ cpu {service} s/request }}")
            self.spec.streams.append(
                f"stream s{number} in all {{ traffic {rate:.6f} request/s, 1 bit/request; "
                f"priority {number + 1}; at a {{ c{number} }} }}"
            )
