"""Plans that must hold a p99, of more configurations than can be tried, against another program.

Each tier is a number of M/M/1 queues. A request takes a time there that is exponential, with the
rate of the queue less its arrivals, and the times of a path are independent (Reich 1957), so the
latency is a sum of exponential times. The other program goes from tier to tier and keeps every
choice that may still end below a cost: with the fastest machines for all tiers that follow it
holds the limit (a slower machine never shortens the latency), and with the cheapest of those it
stays below the cost. It knows nothing of QPS.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.linalg import expm

import qps
from qps.compiler.configure.configuration import base_configuration
from qps.solver.cheapest.plan_answer import Planner

MONTH = 365.25 * 86_400 / 12
RATE = 0.1
"""Requests/s of each user."""
SHARE = 0.01
"""Of the requests, those that may take longer than the limit."""
Floats = NDArray[np.float64]


@dataclass
class Tiers:
    """A random system: work of each tier in kB, with prices in $/month, and a limit in ms."""

    seed: int
    tiers: int
    most: int

    def __post_init__(self) -> None:
        draw = random.Random(self.seed)
        self.speeds = (1, 2, 4)
        self.prices = [round(speed * draw.uniform(20, 30), 2) for speed in self.speeds]
        self.work = [round(draw.uniform(4, 20), 2) for _ in range(self.tiers)]
        self.limit = round(sum(self.work) * draw.uniform(1.2, 1.6), 2)
        self.users = draw.choice((2_000, 3_000, 4_000))

    def text(self) -> str:
        """Return the system as a spec, of disks that read so many kB in a ms."""
        each = range(self.tiers)
        options = ", ".join(f"m{at} * 1..{self.most}" for at in range(3))
        return "\n".join([
            "users N in 1..100_000", "machine phone { }",
            "network lan { switched; rate 100 Gbit/s; queueing none }",
            *(f"machine m{at} {{ disk {speed} MB/s, queueing mm1; price {price} $/month }}"
              for at, (speed, price) in enumerate(zip(self.speeds, self.prices, strict=True))),
            *(f"component work{at} {{ disk {self.work[at]} kB/request }}" for at in each),
            "topology {", *(f"  node tier{at} = m1 * 2" for at in each),
            "  node client = phone * N; link net = lan between all", "}",
            "stream page for each client {", "  traffic 0.1 request/s, 1 byte/request",
            "  at client { }", "  over net", *(f"  at tier{at} {{ work{at} }}" for at in each), "}",
            f"require {{ page.p99 <= {self.limit} ms }}",
            "choose {", *(f"  tier{at} in [{options}]" for at in each), "}",
        ])  # fmt: skip

    def option(self, tier: int, kind: int, count: int) -> tuple[float, float]:
        """Return the price of machines and the rate in 1/ms of the time of a request there."""
        rate = self.speeds[kind] / self.work[tier] - self.users * RATE / 1000 / count
        return count * self.prices[kind], rate

    def options(self, tier: int) -> list[tuple[float, float]]:
        """Return the options of a tier that keep up, without those that cost more for less."""
        every = [self.option(tier, kind, at + 1) for kind in range(3) for at in range(self.most)]
        found: list[tuple[float, float]] = []
        for price, rate in sorted(every, key=lambda one: (one[0], -one[1])):
            if rate > 0 and (not found or rate > found[-1][1]):
                found.append((price, rate))
        return found


def _tails(rates: Floats, time: float) -> Floats:
    """Return for each row of rates the probability that a sum of exponential times is longer.

    By uniformization: with the largest rate as that of a Poisson process, each event moves on from
    the tier at hand with a probability; nothing is subtracted, so that rates may be alike.
    """
    largest = rates.max(axis=1, keepdims=True)
    forward = rates / largest
    mean = largest[:, 0] * time
    here = np.zeros_like(rates)
    here[:, 0] = 1
    weight = np.exp(-mean)
    found = weight.copy()
    events = int(mean.max() + 12 * np.sqrt(mean.max()) + 30)
    for event in range(1, events):
        moved = here * forward
        here -= moved
        here[:, 1:] += moved[:, :-1]
        weight = weight * mean / event
        found += weight * here.sum(axis=1)
    return found


def _is_cheaper_left(system: Tiers, below: float) -> bool:
    """Return whether a configuration with a lower price holds the limit."""
    tiers = sorted((system.options(at) for at in range(system.tiers)), key=len)
    fastest = np.array([max(rate for _, rate in one) for one in tiers])
    tiers = [_needed(one, at, fastest, system.limit) for at, one in enumerate(tiers)]
    cheapest = np.array([min((price for price, _ in one), default=inf) for one in tiers])
    costs, rates = np.zeros(1), np.zeros((1, 0))
    for at, options in enumerate(tiers):
        prices, speeds = np.array(options).T.reshape(2, -1)
        costs = (costs[:, None] + prices).ravel()
        rates = np.column_stack([
            np.repeat(rates, len(options), axis=0), np.tile(speeds, len(rates)),
        ])  # fmt: skip
        near = costs + cheapest[at + 1 :].sum() < below * (1 - 1e-9)
        costs, rates = costs[near], rates[near]
        rest = np.broadcast_to(fastest[at + 1 :], (len(rates), len(tiers) - at - 1))
        holds = _in_parts(np.column_stack([rates, rest]), system.limit) <= SHARE
        costs, rates = costs[holds], rates[holds]
    return bool(len(costs))


def _needed(
    options: list[tuple[float, float]], at: int, fastest: Floats, limit: float
) -> list[tuple[float, float]]:
    """Return the options of a tier with which the limit holds if all others are the fastest."""
    every = np.tile(fastest, (len(options), 1))
    every[:, at] = [rate for _, rate in options]
    holds = _tails(every, limit) <= SHARE
    return [one for one, able in zip(options, holds, strict=True) if able]


def _in_parts(rates: Floats, time: float) -> Floats:
    parts = [rates[at : at + 100_000] for at in range(0, len(rates), 100_000)]
    return np.concatenate([_tails(one, time) for one in parts]) if parts else np.zeros(0)


SYSTEMS = [Tiers(seed, *size) for seed, size in enumerate([(5, 8), (5, 8), (6, 8), (6, 10)])]


def _price(system: Tiers, labels: list[str]) -> float:
    """Return the price of a plan in $/month, of which another program finds that it holds."""
    assert (3 * system.most) ** system.tiers > 1_000_000
    options = []
    for at, label in enumerate(labels):
        machine, count = label.split(" * ")
        options.append(system.option(at, int(machine[1:]), int(count)))
    rates = np.array([[rate for _, rate in options]])
    assert rates.min() > 0
    assert _tails(rates, system.limit)[0] <= SHARE
    return sum(price for price, _ in options)


def _is_cheapest(system: Tiers, price: float) -> bool:
    """Return whether nothing cheaper holds, while what costs as much is found."""
    assert _is_cheaper_left(system, price * (1 + 1e-6))
    return not _is_cheaper_left(system, price)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "system", SYSTEMS, ids=lambda one: f"{one.tiers} tiers, {3 * one.most} options"
)
def test_another_program_finds_nothing_cheaper_that_holds_a_p99(system: Tiers) -> None:
    """The price of the plan is that of its machines; they hold, and nothing cheaper does."""
    found = qps.loads(system.text()).plan(system.users)
    assert found.proven
    best = found.cheapest
    assert best is not None
    price = _price(system, [best.choices[f"tier{at}"] for at in range(system.tiers)])
    assert best.cost * MONTH == pytest.approx(price, rel=1e-9)
    assert _is_cheapest(system, price)


def test_another_program_finds_nothing_cheaper_than_what_a_search_finds() -> None:
    """The same of the search by itself, without the front and the prices of requirements."""
    system = SYSTEMS[1]
    model = qps.loads(system.text()).spec.model
    planner = Planner(model, base_configuration(model), model.choices[0])
    search = planner.search(system.users)
    assert search.is_complete
    assert search.found is not None
    axes = planner.space.axes
    labels = [axis.options[at].label for axis, at in zip(axes, search.found, strict=True)]
    assert [axis.name for axis in axes] == [f"tier{at}" for at in range(system.tiers)]
    assert _is_cheapest(system, _price(system, labels))


def test_tails_are_those_of_the_matrix_exponential() -> None:
    """Of unlike rates, of equal ones, and of a single one."""
    for rates in ([0.2, 0.5, 1.3, 0.21], [0.4, 0.4, 0.4], [0.7]):
        steps = np.diag([-rate for rate in rates]) + np.diag(rates[:-1], 1)
        exact = expm(steps * 9.0)[0].sum()
        assert _tails(np.array([rates]), 9.0)[0] == pytest.approx(exact, rel=1e-9)
