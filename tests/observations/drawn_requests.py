"""Requests of users that are drawn, and what they come to: what readers of results must report."""

from __future__ import annotations

from math import ceil
from random import Random

from msgspec import Struct

START = 1_795_419_820_000
"""In ms since 1970."""


class Request(Struct, frozen=True):
    """One of a user: when it began in ms since the start, how long it took, its bytes."""

    user: int
    begin: int
    took: int
    octets: int
    failed: bool = False


class Drawn(Struct, frozen=True):
    """What a test did: requests of `users`, of which each has one open at a time."""

    users: int
    requests: tuple[Request, ...]

    @property
    def seconds(self) -> float:
        first = min(one.begin for one in self.requests)
        return (max(one.begin + one.took for one in self.requests) - first) / 1000

    @property
    def times(self) -> list[int]:
        return sorted(one.took for one in self.requests)

    @property
    def total(self) -> int:
        return sum(self.times)

    @property
    def octets(self) -> int:
        return sum(one.octets for one in self.requests)

    @property
    def failed(self) -> int:
        return sum(one.failed for one in self.requests)

    @property
    def rate(self) -> float:
        return len(self.requests) / self.seconds

    def percentile(self, share: int) -> int:
        return self.times[ceil(len(self.times) * share / 100) - 1]

    @property
    def columns(self) -> dict[str, float]:
        """What a reader is to say."""
        return {
            "users": self.users,
            "request/s": self.rate,
            "byte/s": self.octets / self.seconds,
            "share failed": self.failed / len(self.requests),
            "latency mean, ms": self.total / len(self.times),
            "latency p50, ms": self.percentile(50),
            "latency p90, ms": self.percentile(90),
            "latency p95, ms": self.percentile(95),
            "latency longest, ms": self.times[-1],
            "latency least, ms": self.times[0],
        }


def drawn(seed: int) -> Drawn:
    random = Random(seed)
    users = random.randint(1, 12)
    found = []
    for user in range(users):
        at = random.randint(0, 50)
        while at < 4000:
            took = max(1, round(random.expovariate(1 / random.choice([8, 40, 160]))))
            found.append(
                Request(user, at, took, random.randint(200, 90_000), random.random() < 0.05)
            )
            at += took + random.randint(0, 90)
    return Drawn(users, tuple(sorted(found, key=lambda one: one.begin + one.took)))
