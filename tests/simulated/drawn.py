"""What generated specs are written of, and the numbers that are drawn for them."""

from __future__ import annotations

from math import exp, log
from random import Random

NODES = "abcdefghij"


def log_uniform(random: Random, low: float, high: float) -> float:
    """Return a number between two, of which each size is as probable."""
    return float(f"{exp(random.uniform(log(low), log(high))):.4g}")


def load_of(random: Random, most: float = 0.95) -> float:
    """Return a load: some of all are nearly nothing, some nearly full."""
    return round(random.uniform(0.1, most), 3)


def cores_of(random: Random) -> int:
    """Return how many servers there are: mostly few."""
    return random.choice((1, 1, 1, 1, 2, 3, 4, 8, 16, 32, 64))


def discipline_of(random: Random, cores: int) -> str:
    """Return a discipline that may be with so many servers."""
    variation = random.choice((0, 0.3, 0.5, 0.8, 1.5, 2, 3))
    if cores > 1:
        return random.choice(("mmc", "mmc", "ps", f"mgc cv {variation}"))
    return random.choice(("mm1", "mm1", "md1", "ps", f"mg1 cv {variation}"))


class Written:
    """A spec while it is written, line by line."""

    def __init__(self) -> None:
        self.machines: list[str] = []
        self.components: list[str] = []
        self.nodes: list[str] = []
        self.streams: list[str] = []

    def joined(self, names: list[str]) -> None:
        """Add a link without load between nodes."""
        if len(names) > 1:
            self.nodes.append(f"link l = wire between {', '.join(names)}")

    def text(self, title: str) -> str:
        """Return the spec."""
        lines = [
            f'"""{title}"""',
            "users N in 1..2",
            "unit thread",
            "network wire { propagation 1 us }",
            *self.machines,
            *self.components,
            "topology {",
            *(f"  {node}" for node in self.nodes),
            "}",
            *self.streams,
        ]
        return "\n".join([*lines, ""])
