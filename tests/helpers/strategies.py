"""Generated specs: small, varied, and without mistakes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hypothesis import strategies as st


@dataclass(frozen=True)
class Drawn:
    """The pieces of a spec; `text` puts them together."""

    costs_packet: tuple[int, ...]  # us per packet
    costs_byte: tuple[int, ...]  # ns per byte
    effects: tuple[str, ...]
    rating: int
    network: str
    rate: int  # Mbit/s
    steps: tuple[str, ...]
    spread: str
    after: tuple[str, ...]
    source: int  # byte/s
    size: int  # byte/packet
    second: bool
    high: int
    latency: int  # ms
    extra: str = ""
    room: int = 7

    @property
    def text(self) -> str:
        """The spec."""
        parts = [
            f"users N in 2..{self.high}",
            f"group room of {self.room} users",
            "unit score of rating",
            "machine slow { cpu 10 score }",
            f"machine fast {{ cpu 2 core * {self.rating} score }}",
            f"network net {{ {self.network}; rate {self.rate} Mbit/s }}",
            "option cast = multicast",
            f"param size = {self.size} byte/packet",
            "costs measured on slow",
        ]
        for index, effect in enumerate(self.effects):
            packet, byte = self.costs_packet[index], self.costs_byte[index]
            parts.append(
                f"component c{index} {{ cpu {packet} us/packet + {byte} ns/byte; {effect} }}"
            )
        parts += [
            "topology {",
            "  node host = fast * N",
            "  link lan = net between host",
            "}",
            "stream flow for each host {",
            f"  traffic {self.source} byte/s, size",
            f"  at host {{ {'; '.join([*self.steps, f'c0 to others {self.spread}'])} }}",
            "  over lan",
            f"  at host {{ {'; '.join(self.after)} }}",
            "}",
        ]
        if self.second:
            parts.append(
                "stream more for each host { traffic 3 packet/s, 500 byte/packet; at host { c1 } }"
            )
        parts.append(f"require {{ flow.latency <= {self.latency} ms; flow.loss <= 5 % }}")
        return "\n".join([*parts, self.extra, ""])

    def with_costs(self, factor: int) -> Drawn:
        """Return the spec with all costs multiplied."""
        return replace(
            self,
            costs_packet=tuple(c * factor for c in self.costs_packet),
            costs_byte=tuple(c * factor for c in self.costs_byte),
        )


_EFFECTS = st.sampled_from(
    ["keep 85 %", "active 1/N", "active 60 %", "emit 40 %", "merge", "delay 2 ms", "drop 3 %"]
)
_COMPONENTS = 4
_SPREADS = [
    "",
    "by unicast",
    "by multicast",
    "by cast",
    "in room",
    "in room by cast",
    "in room at most 1",
    "in room at most 5 by multicast",
]


@st.composite
def drawn_specs(draw: st.DrawFn) -> Drawn:
    """Draw a spec of one kind of node, with a spread to all others over one link."""
    names = st.sampled_from([f"c{i}" for i in range(_COMPONENTS)])
    steps = st.lists(names.map(lambda n: n), max_size=3)
    repeated = st.lists(
        st.tuples(names, st.sampled_from(["", " * 2", " * (N - 1)"])).map("".join),
        min_size=1,
        max_size=4,
    )
    return Drawn(
        tuple(draw(st.lists(st.integers(0, 3000), min_size=4, max_size=4))),
        tuple(draw(st.lists(st.integers(0, 3000), min_size=4, max_size=4))),
        # The one that sends and the one that is alone change no flow: they keep the rest simple.
        ("keep 100 %", *draw(st.lists(_EFFECTS, min_size=3, max_size=3))),
        draw(st.integers(1, 100)),
        draw(st.sampled_from(["shared", "switched", "duplex"])),
        draw(st.integers(1, 1000)),
        tuple(draw(steps)),
        draw(st.sampled_from(_SPREADS)),
        tuple(draw(repeated)),
        draw(st.integers(100, 100_000)),
        draw(st.integers(50, 2000)),
        draw(st.booleans()),
        draw(st.integers(3, 400)),
        draw(st.integers(5, 1000)),
        room=draw(st.integers(1, 40)),
    )
