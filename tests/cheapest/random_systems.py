"""Random systems with a choice, and the same as a matrix, of which every row is solved."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

KINDS = (
    "plain", "shared", "pool", "p99", "modes", "survive", "closed", "options", "networks",
    "excluded", "cores", "classes",
)  # fmt: skip
CERTAIN = ("certain", "certain_p99", "certain_modes")
"""Kinds of which a requirement must hold with a certainty: of these no matrix has all rows."""


@dataclass
class System:
    """A system of a kind: tiers that each may stand on machines of three types."""

    seed: int
    kind: str = "plain"
    tiers: int = 3
    most: int = 3
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)

    @property
    def certainty(self) -> str:
        """The certainty of the limit, if there is one."""
        return (" with 95 % certainty", " with 60 % certainty")[self.seed % 2]

    def _cost(self, cost: float) -> str:
        """Return a service demand; of odd seeds most samples demand less than the nominal value."""
        if self.kind not in CERTAIN:
            return f"{cost} ms/request"
        if self.seed % 2:
            ends = (f"{part * cost:.3f} ms/request" for part in (0.2, 1, 1.01))
            return f"triangular({', '.join(ends)})"
        return f"{cost} ms/request +- 25 %"

    def text(self) -> str:
        """Return the system as a spec, with `choose` and the same axes as a matrix."""
        draw = self.random
        costs = [round(draw.uniform(1, 20), 2) for _ in range(self.tiers)]
        prices = [round(cores * draw.uniform(20, 30), 2) for cores in (2, 4, 16)]
        axes = [*self._axes(), *self._excluded()]
        slots = "slots places; " if self.kind == "pool" else ""
        return "\n".join([
            "users N in 1..1_000_000",
            "option zip = on",
            *(
                f"machine m{i} {{ cpu {cores} core, queueing mmc; {slots}price {price} $/month }}"
                for i, (cores, price) in enumerate(zip((2, 4, 16), prices, strict=True))
            ),
            "machine phone { }",
            "network thin { switched; rate 1 Gbit/s; price 40 $/month }",
            "network thick { switched; rate 10 Gbit/s; price 300 $/month }",
            *(f"component work{i} {{ cpu {self._cost(cost)} }}" for i, cost in enumerate(costs)),
            "component pack { cpu 3 ms/request; emit 50 % }",
            "unit slot",
            "param places = 20 slot in 1..1000 slot",
            *self._topology(),
            *self._streams(),
            *self._requirements(sum(costs) + (costs[1] if self.kind == "shared" else 0)),
            *(["mode busy { pace = 0.12 request/s }", "mode calm { pace = 0.05 request/s }"]
              if self.kind.endswith("modes") else []),
            "choose { " + "; ".join(axes) + " }",
            *([] if self.kind in CERTAIN else ["matrix rows { " + "; ".join(axes) + " }"]),
        ])  # fmt: skip

    def _axes(self) -> list[str]:
        machines = [f"m0 * 1..{self.most}", f"m1 * 1..{self.most}", "m2 * 1..2"]
        if self.kind in CERTAIN:
            machines = [f"m1 * 1..{self.most}", "m2 * 1..2"]
        axes = [f"tier{i} in [{', '.join(machines)}]" for i in range(self.tiers)]
        if self.kind == "options":
            axes[-1] = "zip in [on, off]"
        if self.kind == "networks":
            axes[-1] = "net in [thin, thick, thin * 2]"
        if self.kind == "cores":
            axes[-1] = f"tier{self.tiers - 1}.cpu.cores in [2, 3, 4, 8 core]"
        if self.kind == "pool":
            axes[-1] = "places in [5, 10, 20, 40, 80 slot]"
        return axes

    def _excluded(self) -> list[str]:
        if self.kind != "excluded":
            return []
        return ["exclude tier0 == m1", f"exclude tier1 == m0 and tier{self.tiers - 1} == m0"]

    def _topology(self) -> list[str]:
        nodes = [f"  node tier{i} = m1 * 2" for i in range(self.tiers)]
        client = ["  node client = phone * N", "  link net = thin between all"]
        return ["topology {", *nodes, *client, "}"]

    def _streams(self) -> list[str]:
        visits = [f"  at tier{i} {{ work{i} }}" for i in range(self.tiers)]
        if self.kind == "shared":
            visits.append("  at tier0 { work1 }")
        if self.kind == "options":
            visits[0] = "  at tier0 { work0; pack if zip }"
        if self.kind == "pool":
            visits[0] = "  at tier0 { take tier0.slots; work0; give tier0.slots }"
        closed = self.kind == "closed"
        traffic = (
            "traffic 1 request, 20 kB/request, think 8 s"
            if closed
            else "traffic pace, 20 kB/request"
        )
        lines = ["param pace = 0.1 request/s", "stream page for each client {", f"  {traffic}",
                 "  at client { }", "  over net", *visits, "}"]  # fmt: skip
        if self.kind == "classes":
            lines += ["stream batch for each client {", "  traffic 0.01 request/s, 1 kB/request",
                      "  at tier0 { work1 }", "  at tier1 { work0 }", "}"]  # fmt: skip
        return lines

    def _requirements(self, work: float) -> list[str]:
        limit = work * self.random.uniform(1.1, 1.6)
        is_p99 = self.kind.endswith("p99")
        measure = "page.p99" if is_p99 else "page.latency"
        limit *= 3 if is_p99 else 1
        certainty = self.certainty if self.kind in CERTAIN else ""
        found = ["require {", f"  {measure} <= {limit:.2f} ms{certainty}"]
        found += ["  tier0.cpu.utilization <= 70 %", "  net.utilization <= 60 %", "}"]
        if self.kind == "survive":
            found.append("survive any one of tier0, tier1")
        return found
