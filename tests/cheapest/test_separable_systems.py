"""Tiers in a row with a limit on the mean response time: the optimum by a program of its own.

The other program shares nothing with QPS: Erlang's formula for each option of each tier, and all
combinations; where there are too many, Pareto fronts of price and time, one tier after another.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import product
from math import inf, prod

import pytest

import qps

CORES = (2, 4, 16)
RATE = 0.1
"""Requests/s of each user."""
MONTH = 365.25 * 86_400 / 12
_FEW = 1_000_000


@dataclass
class Tiers:
    """A random system: work in ms of each tier, prices of three types, and the most of each."""

    seed: int
    tiers: int
    most: tuple[int, int, int]

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        self.work = [round(draw.uniform(1, 20), 2) for _ in range(self.tiers)]
        self.prices = [round(cores * draw.uniform(20, 30), 2) for cores in CORES]
        self.limit = round(sum(self.work) * draw.uniform(1.05, 1.5), 2)
        self.users = draw.choice((3_000, 8_000, 20_000))

    def text(self) -> str:
        """Return the system as a spec."""
        machines = (
            f"machine m{at} {{ cpu {cores} core, queueing mmc; price {price} $/month }}"
            for at, (cores, price) in enumerate(zip(CORES, self.prices, strict=True))
        )
        each = range(self.tiers)
        options = ", ".join(f"m{at} * 1..{most}" for at, most in enumerate(self.most))
        return "\n".join([
            "users N in 1..1_000_000", "machine phone { }",
            "network lan { switched; rate 100 Gbit/s; queueing none }",
            *machines,
            *(f"component work{at} {{ cpu {self.work[at]} ms/request }}" for at in each),
            "topology {", *(f"  node tier{at} = m1 * 2" for at in each),
            "  node client = phone * N; link net = lan between all", "}",
            "stream page for each client {", "  traffic 0.1 request/s, 1 byte/request",
            "  at client { }", "  over net",
            *(f"  at tier{at} {{ work{at} }}" for at in each), "}",
            f"require {{ page.latency <= {self.limit} ms }}",
            "choose {", *(f"  tier{at} in [{options}]" for at in each), "}",
        ])  # fmt: skip

    def options(self, tier: int) -> list[tuple[float, float]]:
        """Return the price and the mean time in ms of each option of a tier that keeps up."""
        found = []
        for cores, price, most in zip(CORES, self.prices, self.most, strict=True):
            for count in range(1, most + 1):
                # Machines that share the requests evenly, each with a queue of its own.
                load = self.users * RATE / count * self.work[tier] / 1000
                if load < cores:
                    wait = _erlang_c(cores, load) * self.work[tier] / (cores - load)
                    found.append((count * price, self.work[tier] + wait))
        return found


def _erlang_c(servers: int, load: float) -> float:
    """Return the probability of a wait (Erlang 1917), by his recursion for B."""
    blocked = 1.0
    for at in range(1, servers + 1):
        blocked = load * blocked / (at + load * blocked)
    return blocked / (1 - load / servers * (1 - blocked))


def _of_all(tiers: list[list[tuple[float, float]]], limit: float) -> float:
    """Return the least price of all combinations that meet the limit."""
    return min(
        (
            sum(price for price, _ in chosen)
            for chosen in product(*tiers)
            if sum(time for _, time in chosen) <= limit
        ),
        default=inf,
    )


def _of_fronts(tiers: list[list[tuple[float, float]]], limit: float) -> float:
    """Return the same by Pareto fronts."""
    front = [(0.0, 0.0)]
    for options in tiers:
        every = sorted((p + q, t + u) for p, t in front for q, u in options if t + u <= limit)
        front, least = [], inf
        for price, time in every:
            if time < least:
                front.append((price, time))
                least = time
    return min((price for price, _ in front), default=inf)


def _least(system: Tiers) -> float:
    tiers = [system.options(at) for at in range(system.tiers)]
    by_fronts = _of_fronts(tiers, system.limit)
    if prod(map(len, tiers)) < _FEW:
        assert _of_all(tiers, system.limit) == pytest.approx(by_fronts)
    return by_fronts


SYSTEMS = [
    Tiers(seed, tiers, most)
    for seed, (tiers, most) in enumerate(
        [(4, (9, 6, 3)), (4, (30, 20, 6)), (5, (8, 4, 2)), (5, (40, 20, 5)), (6, (5, 3, 2)),
         (6, (25, 15, 5)), (7, (20, 20, 8)), (7, (45, 45, 3)), (8, (30, 12, 4)), (8, (45, 45, 9))]
    )
]  # fmt: skip
DAILY = (0, 4, 9)


@pytest.mark.parametrize(
    "system",
    [
        pytest.param(one, marks=[] if one.seed in DAILY else [pytest.mark.nightly])
        for one in SYSTEMS
    ],
    ids=lambda one: f"{one.tiers} tiers, {sum(one.most)} options",
)
def test_the_cheapest_is_that_of_another_program(system: Tiers) -> None:
    """Of four to eight tiers and three types, with up to 10^15 combinations: the price, proven."""
    least = _least(system)
    found = qps.loads(system.text()).plan(system.users)
    assert found.proven
    if found.cheapest is None:
        assert least == inf
    else:
        assert found.cheapest.cost * MONTH == pytest.approx(least, rel=1e-9)


def test_most_systems_have_a_cheapest_configuration() -> None:
    """So that the comparison says something."""
    assert sum(_least(one) < inf for one in SYSTEMS) >= 8
