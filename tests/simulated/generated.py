"""Specs by chance: queues in rows, with several streams, servers, batches, calls and losses."""

from __future__ import annotations

from random import Random

_NODES = "abcdefghij"
_KINDS = (
    *("rows", "rows", "rows", "periodic", "batches", "calls", "ports"),
    *("closed", "closed", "mixed", "pools", "bursts", "uneven", "ranks"),
)


def spec_of(seed: int) -> str:
    """Return a spec; the same seed, the same spec."""
    return _Generated(Random(f"spec/{seed}")).text()


class _Generated:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.machines: list[str] = []
        self.components: list[str] = []
        self.nodes: list[str] = []
        self.streams: list[str] = []

    def text(self) -> str:
        random = self.random
        kind = random.choice(_KINDS)
        getattr(self, f"_{kind}")()
        return "\n".join(
            [
                f'"""{kind}"""',
                "users N in 1..2",
                "network wire { propagation 1 us }",
                *self.machines,
                *self.components,
                "topology {",
                *(f"  {node}" for node in self.nodes),
                "}",
                *self.streams,
                "",
            ]
        )

    def _load(self) -> float:
        return round(self.random.uniform(0.1, 0.9), 3)

    def _discipline(self, cores: int) -> str:
        random = self.random
        if cores > 1:
            return random.choice(("mmc", "mmc", "ps", "mgc cv 0.5", "mgc cv 2"))
        return random.choice(("mm1", "md1", "mg1 cv 0.5", "mg1 cv 2", "mm1", "ps"))

    def _cores(self) -> int:
        return self.random.choice((1, 1, 1, 2, 4, 8, 16, 64))

    def _rows(self) -> None:
        """Stations one after the other, and streams with services of their own at each."""
        random = self.random
        count = random.choice((1, 1, 2, 3, 5, 8, 10))
        streams = random.choice((1, 1, 2, 3))
        names = list(_NODES[:count])
        shares = [random.uniform(0.2, 1) for _ in range(streams)]
        rates = [round(random.uniform(0.5, 2), 3) for _ in range(streams)]
        is_alike = random.random() < 0.5
        services: dict[tuple[int, str], float] = {}
        for name in names:
            cores, load = self._cores(), self._load()
            copies = random.choice((1, 1, 1, 2, 3))
            total = load * cores * copies
            sizes = [1.0 if is_alike else random.uniform(0.3, 3) for _ in range(streams)]
            scale = total / sum(r * s for r, s in zip(rates, sizes, strict=True))
            for number, size in enumerate(sizes):
                services[number, name] = round(size * scale, 6)
            self.machines.append(
                f"machine m{name} {{ cpu {cores} core, queueing {self._discipline(cores)} }}"
            )
            self.nodes.append(f"node {name} = m{name} * {copies}")
            for number in range(streams):
                self.components.append(
                    f"component c{name}{number} {{ cpu {services[number, name]} s/request }}"
                )
        self._joined(names)
        if random.random() < 0.3:
            self.components.append("component shed { drop 0.25 }")
        for number in range(streams):
            way = [name for name in names if random.random() < 0.8] or names
            steps = [f"c{name}{number}" for name in way]
            visits = [f"at {name} {{ {step} }}" for name, step in zip(way, steps, strict=True)]
            if any("shed" in one for one in self.components) and random.random() < shares[number]:
                visits[0] = visits[0].replace(" }", "; shed }")
            self.streams.append(
                f"stream s{number} in all {{ traffic {rates[number]} request/s, 1 bit/request; "
                f"{'; '.join(visits)} }}"
            )

    def _joined(self, names: list[str]) -> None:
        if len(names) > 1:
            self.nodes.append(f"link l = wire between {', '.join(names)}")

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
        self.machines.append("machine box { cpu 1 core, queueing none }")
        self.machines.append("machine line { cpu 1 core, queueing periodic }")
        self.nodes += ["node b = line"]
        joined = ["b"]
        for number in range(kinds):
            self.components.append(
                f"component c{number} {{ cpu {sizes[number] * unit:.9f} s/packet }}"
            )
            self.nodes.append(f"node p{number} = box * {flows[number]}")
            joined.append(f"p{number}")
            self.streams.append(
                f"stream s{number} for each p{number} {{ traffic 50 packet/s, 1 bit/packet; "
                f"at p{number} {{ }}; at b {{ c{number} }} }}"
            )
        self._joined(joined)

    def _batches(self) -> None:
        """Copies that leave together, over one port, beside others."""
        random = self.random
        copies = random.choice((2, 5, 10, 30, 100))
        load = self._load()
        bits = 1000
        rate = round(random.uniform(1, 10), 3)
        speed = copies * bits * rate / load
        discipline = random.choice(("md1", "mm1", "mg1 cv 2"))
        self.machines += [
            "machine box { }",
            f"network lan {{ rate {speed:.6f} bit/s; queueing {discipline} }}",
        ]
        self.components.append("component send { }")
        self.nodes += [
            "node src = box",
            f"node rcv = box * {copies}",
            "link net = lan between src, rcv",
        ]
        self.streams.append(
            f"stream s0 {{ traffic {rate} packet/s, {bits} bit/packet; "
            "at src { send to all rcv }; over net; at rcv { } }"
        )

    def _calls(self) -> None:
        """Calls of a database, some of them made by a share, or several times."""
        random = self.random
        rate = 1.0
        front, back = self._load(), self._load()
        times = random.choice(("0.3", "1", "2", "3", "1.5"))
        cores = self._cores()
        discipline = self._discipline(cores)
        self.machines += [
            "machine mf { cpu 1 core, queueing mm1 }",
            f"machine mb {{ cpu {cores} core, queueing {discipline} }}",
        ]
        self.components += [
            f"component work {{ cpu {front} s/request }}",
            f"component query {{ cpu {back * cores / float(times):.6f} s/request }}",
        ]
        self.nodes += ["node f = mf", "node b = mb", "link l = wire between f, b"]
        call = "call b { query }" if times == "1" else f"call b * {times} {{ query }}"
        self.streams.append(
            f"stream s0 {{ traffic {rate} request/s, 1 bit/request; at f {{ work; {call} }} }}"
        )

    def _ports(self) -> None:
        """A switch, whose ports are waited for, with losses on the way."""
        random = self.random
        clients = random.randint(1, 10)
        load = self._load()
        discipline, rate = random.choice(("md1", "mm1")), clients * 1000 / load
        self.machines += [
            "machine box { }",
            f"network lan {{ switched; rate {rate:.6f} bit/s; queueing {discipline}; loss 2 % }}",
        ]
        self.nodes += [f"node c = box * {clients}", "node s = box", "link net = lan between c, s"]
        self.streams.append(
            "stream s0 for each c { traffic 1 packet/s, 1000 bit/packet; at c { }; at s { } }"
        )

    def _closed(self) -> None:
        """Users who wait for their answers, at stations in a row."""
        self._waiting(is_mixed=False)

    def _mixed(self) -> None:
        """The same, beside open streams at the same stations."""
        self._waiting(is_mixed=True)

    def _waiting(self, *, is_mixed: bool) -> None:
        random = self.random
        names = list(_NODES[: random.choice((1, 2, 3, 5))])
        users = random.choice((1, 2, 5, 20, 60))
        think = random.choice((0.1, 1, 5, 20))
        for name in names:
            cores = random.choice((1, 1, 1, 2, 4))
            discipline = "mmc" if cores > 1 else random.choice(("mm1", "mm1", "ps"))
            service = round(random.uniform(0.05, 0.5), 3)
            self.machines.append(f"machine m{name} {{ cpu {cores} core, queueing {discipline} }}")
            self.nodes.append(f"node {name} = m{name}")
            self.components.append(f"component c{name} {{ cpu {service} s/request }}")
            if is_mixed:
                rate = round(self._load() * 0.7 * cores / service, 4)
                self.streams.append(
                    f"stream o{name} in all {{ traffic {rate} request/s, 1 bit/request; "
                    f"at {name} {{ c{name} }} }}"
                )
        self._joined(names)
        visits = "; ".join(f"at {name} {{ c{name} }}" for name in names)
        self.streams.append(
            f"stream s0 in all {{ traffic {users} request, 1 bit/request, think {think} s; "
            f"{visits} }}"
        )

    def _pools(self) -> None:
        """A pool that is held while another machine is asked."""
        random = self.random
        places = random.choice((1, 2, 4, 16))
        front, back = round(random.uniform(0.1, 0.5), 3), round(random.uniform(0.1, 0.5), 3)
        share = round(random.uniform(0.1, 0.7), 3)
        rate = round(share * min(places / (front + back), 1 / front, 1 / back), 4)
        self.machines += [
            "unit thread",
            f"machine mf {{ cpu 1 core, queueing mm1; threads {places} thread }}",
            "machine mb { cpu 1 core, queueing mm1 }",
        ]
        self.components += [
            f"component work {{ cpu {front} s/request }}",
            f"component query {{ cpu {back} s/request }}",
        ]
        self.nodes += ["node f = mf", "node b = mb", "link l = wire between f, b"]
        self.streams.append(
            f"stream s0 in all {{ traffic {rate} request/s, 1 bit/request; "
            "at f { take threads; work; call b { query }; give threads } }"
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
        self.machines += [
            "machine box { }",
            f"machine line {{ cpu 1 core, queueing {queueing} }}",
        ]
        self.components += [
            f"component vad {{ active {share} for {lasting} }}",
            f"component c {{ cpu {service:.9f} s/packet }}",
        ]
        self.nodes += [f"node p = box * {flows}", "node b = line", "link l = wire between p, b"]
        self.streams.append(
            "stream s0 for each p { traffic 50 packet/s, 1 bit/packet; at p { vad }; at b { c } }"
        )

    def _uneven(self) -> None:
        """Uneven arrivals at two stations in a row."""
        random = self.random
        variation = random.choice((0, 0.5, 2, 3))
        for name in "ab":
            queueing = random.choice(("mm1", "md1", "mg1 cv 2"))
            self.machines.append(f"machine m{name} {{ cpu 1 core, queueing {queueing} }}")
            self.components.append(f"component c{name} {{ cpu {self._load()} s/request }}")
            self.nodes.append(f"node {name} = m{name}")
        self._joined(["a", "b"])
        self.streams.append(
            f"stream s0 in all {{ traffic 1 request/s, 1 bit/request; arrivals cv {variation}; "
            "at a { ca }; at b { cb } }"
        )

    def _ranks(self) -> None:
        """Streams that go before others at one machine."""
        random = self.random
        cores, streams = random.choice((1, 1, 1, 2, 4)), random.choice((2, 3))
        load, is_alike = self._load(), random.random() < 0.5
        queueing = random.choice(("priority", "priority preemptive"))
        variation = random.choice(("", " cv 0", " cv 2")) if cores == 1 else ""
        shares = [random.uniform(0.2, 1) for _ in range(streams)]
        self.machines.append(f"machine m {{ cpu {cores} core, queueing {queueing}{variation} }}")
        self.nodes.append("node a = m")
        for number, share in enumerate(shares):
            service = 1.0 if is_alike else round(random.uniform(0.3, 3), 3)
            rate = load * cores * share / sum(shares) / service
            self.components.append(f"component c{number} {{ cpu {service} s/request }}")
            self.streams.append(
                f"stream s{number} in all {{ traffic {rate:.6f} request/s, 1 bit/request; "
                f"priority {number + 1}; at a {{ c{number} }} }}"
            )
