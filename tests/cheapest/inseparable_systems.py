"""Random systems of which no tier can be chosen by itself: features, alone and combined.

The cost is computed here from prices and numbers of machines, so that a wrong cost shows.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from itertools import product

MONTH = 365.25 * 86_400 / 12
"""Seconds: prices are per month, and costs per second."""
FEATURES = ("shared", "pool", "p99", "modes", "survive", "certain")
COMBINED = {6: ("shared", "p99", "modes"), 10: ("shared", "survive", "modes")}
"""By the seeds of the systems."""


@dataclass
class System:
    """A random system of two to four choices, with some of the features."""

    seed: int
    features: tuple[str, ...]
    axes: dict[str, dict[str, float]] = field(init=False)
    """For each choice, its options and what each costs in $/month."""

    def __post_init__(self) -> None:
        draw = self._random = random.Random(self.seed)
        self.tiers = draw.choice((2, 3))
        self._cores = (1, 2, 4)
        self._prices = [round(cores * draw.uniform(20, 32), 2) for cores in self._cores]
        self._work = [round(draw.uniform(2, 12), 2) for _ in range(self.tiers)]
        self._slack = draw.uniform(1.6, 3)
        self._paces = sorted((round(draw.uniform(0.04, 0.15), 3) for _ in range(2)), reverse=True)
        self._busy_work = round(self._work[-1] * draw.uniform(1.05, 1.4), 2)
        self.axes = {f"tier{at}": self._options() for at in range(self.tiers)}
        if "pool" in self.features:
            self.axes["places"] = dict.fromkeys(("1 slot", "2 slot", "4 slot"), 0.0)

    def _options(self) -> dict[str, float]:
        """Return 4 to 12 options of a tier, by how many choices there are besides."""
        is_few = "pool" in self.features or "certain" in self.features
        counts = self._random.sample(range(1, 6), 4 if self.tiers == 2 else 2)
        types = self._random.sample(range(3), 3 if self.tiers == 2 and not is_few else 2)
        return {
            f"m{kind} * {count}": round(count * self._prices[kind], 2)
            for kind in sorted(types)
            for count in sorted(counts)
        }

    @property
    def failing(self) -> tuple[str, ...]:
        """The nodes of which any one machine may fail."""
        return ("tier0", f"tier{self.tiers - 1}") if "survive" in self.features else ()

    def configurations(self) -> dict[tuple[str, ...], float]:
        """Return every combination with its cost in $/month."""
        return {
            chosen: sum(self.axes[name][one] for name, one in zip(self.axes, chosen, strict=True))
            for chosen in product(*self.axes.values())
        }

    def _demand(self, cost: float) -> str:
        return f"{cost} ms/request" + (" +- 20 %" if "certain" in self.features else "")

    def text(self) -> str:
        """Return the system as a spec."""
        each = range(self.tiers)
        slots = "; slots places" if "pool" in self.features else ""
        work = zip(each, self._work, strict=True)
        machines = zip(range(3), self._cores, self._prices, strict=True)
        return "\n".join([
            "users N in 1..1_000_000", "machine phone { }", "unit slot",
            "param places = 4 slot in 1..100 slot", f"param pace = {self._paces[0]} request/s",
            *(f"machine m{at} {{ cpu {cores} core, queueing mmc{slots}; price {price} $/month }}"
              for at, cores, price in machines),
            "network lan { switched; rate 100 Gbit/s; queueing none }",
            *(f"component work{at} {{ cpu {self._demand(cost)} }}" for at, cost in work),
            "topology {", *(f"  node tier{at} = m1 * 2" for at in each),
            "  node client = phone * N", "  link net = lan between all", "}",
            *self._streams(), *self._requirements(), *self._modes(),
            "choose {",
            *(f"  {name} in [{', '.join(options)}]" for name, options in self.axes.items()), "}",
        ])  # fmt: skip

    def _streams(self) -> list[str]:
        visits = [f"  at tier{at} {{ work{at} }}" for at in range(self.tiers)]
        if "pool" in self.features:
            visits[0] = "  at tier0 { take tier0.slots; work0; give tier0.slots }"
        if "shared" in self.features:
            visits.append("  at tier0 { work1 }")
        lines = ["stream page for each client {", "  traffic pace, 1 kB/request",
                 "  at client { }", "  over net", *visits, "}"]  # fmt: skip
        if "shared" in self.features:
            last = f"  at tier{self.tiers - 1} {{ work0 }}"
            lines += ["stream batch for each client {", "  traffic 0.02 request/s, 1 kB/request",
                      last, "  at tier0 { work0 }", "}"]  # fmt: skip
        return lines

    def _requirements(self) -> list[str]:
        certainty = " with 95 % certainty" if "certain" in self.features else ""
        shared = "shared" in self.features
        work = sum(self._work) + (self._work[1] if shared else 0)
        measure, factor = ("p99", 2.5) if "p99" in self.features else ("latency", 1)
        limit = work * self._slack * factor
        found = ["require {", f"  page.{measure} <= {limit:.2f} ms{certainty}"]
        if shared:
            found.append(f"  batch.latency <= {2 * self._work[0] * self._slack:.2f} ms")
        found += ["  tier1.cpu.utilization <= 80 %", "}"]
        if "survive" in self.features:
            found.append(f"survive any one of {', '.join(self.failing)}")
        return found

    def _modes(self) -> list[str]:
        if "modes" not in self.features:
            return []
        day, night = (f"pace = {pace} request/s" for pace in self._paces)
        number = "cpu" if "certain" in self.features else "cpu.request"  # of which it is made
        longer = f"work{self.tiers - 1}.{number} = {self._busy_work} ms/request"
        return [f"mode day {{ {day} }}", f"mode night {{ {night}; {longer} }}"]


ALONE_AND_COMBINED = [
    *(System(seed, (feature,)) for seed, feature in enumerate(FEATURES)),
    *(System(seed, features) for seed, features in COMBINED.items()),
]
