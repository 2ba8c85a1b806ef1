"""Several servers, first come first served, with exponential services of some kinds: a chain."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


class Waits:
    """The waits where so many come a second, each of a kind by its share, of mean services.

    The state is how many are there and of which kinds those are who are served. Above all servers
    the numbers are matrix-geometric (Neuts 1981); below, each level follows from the one above. Of
    those who wait the time is of phase type, with a phase for each state of the servers.
    """

    def __init__(
        self, rate: float, servers: int, shares: Sequence[float], services: Sequence[float]
    ) -> None:
        self._rate, self._shares, self._speeds = rate, shares, [1 / one for one in services]
        down, same = self._leaving(servers, stays=True), self._alone(servers)
        one = np.eye(len(same))
        more = rate * np.linalg.inv(-(same + rate * _first_passage(rate, same, down)))
        above, steps = -(same + more @ down), []
        for there in range(servers, 0, -1):
            steps.append(self._coming(there - 1) @ np.linalg.inv(above))
            leaving = self._leaving(there, stays=False)
            above = -(self._alone(there - 1) + steps[-1] @ leaving)
        full, free = np.ones(1), 1.0
        for there, step in enumerate(reversed(steps), 1):
            full = full @ step
            free += full.sum() if there < servers else 0.0
        waiting = full @ np.linalg.inv(one - more)
        self._begins: Matrix = waiting / (free + waiting.sum())
        self._goes_on: Matrix = same + rate * one + more @ down

    @property
    def share(self) -> float:
        """Which share waits."""
        return float(self._begins.sum())

    @property
    def mean(self) -> float:
        """The mean wait of all."""
        return float(np.linalg.solve(-self._goes_on.T, self._begins).sum())

    def later(self, time: float, service: float) -> float:
        """Return which share waits and is served, for an exponential time, longer than a time."""
        parts, decays = self._parts
        speed = 1 / service
        alone = np.exp(-speed * time)
        apart = np.where(np.abs(speed - decays) < 1e-9 * speed, 1e-9 * speed, speed - decays)
        both = np.exp(-decays * time) + decays * (np.exp(-decays * time) - alone) / apart
        return float((1 - self.share) * alone + (parts * both).sum().real)

    def quantile(self, level: float, service: float) -> float:
        """Return the quantile of wait and service."""
        low, high = 0.0, service
        while self.later(high, service) > 1 - level:
            high *= 2
        for _ in range(60):
            middle = (low + high) / 2
            is_later = self.later(middle, service) > 1 - level
            low, high = (middle, high) if is_later else (low, middle)
        return high

    @cached_property
    def _parts(self) -> tuple[NDArray[np.complex128], NDArray[np.complex128]]:
        values, vectors = np.linalg.eig(self._goes_on)
        return (self._begins @ vectors) * np.linalg.solve(vectors, np.ones(len(values))), -values

    # -- the chain ------------------------------------------------------------------------

    def _states(self, there: int) -> dict[tuple[int, ...], int]:
        kinds = range(len(self._shares))
        each = combinations_with_replacement(kinds, there)
        return {tuple(map(one.count, kinds)): at for at, one in enumerate(each)}

    def _alone(self, there: int) -> Matrix:
        states = self._states(there)
        ends = [sum(map(float.__mul__, self._speeds, map(float, one))) for one in states]
        return -np.diag(self._rate + np.array(ends))

    def _coming(self, there: int) -> Matrix:
        states, after = self._states(there), self._states(there + 1)
        found = np.zeros((len(states), len(after)))
        for state, at in states.items():
            for kind, share in enumerate(self._shares):
                found[at, after[_moved(state, kind, 1)]] += self._rate * share
        return found

    def _leaving(self, there: int, *, stays: bool) -> Matrix:
        """Return the rates of ends of services; where it `stays`, another one begins at once."""
        states = self._states(there)
        after = states if stays else self._states(there - 1)
        found = np.zeros((len(states), len(after)))
        for state, at in states.items():
            for kind, speed in enumerate(self._speeds):
                if not state[kind]:
                    continue
                left = _moved(state, kind, -1)
                if not stays:
                    found[at, after[left]] += state[kind] * speed
                    continue
                for other, share in enumerate(self._shares):
                    found[at, after[_moved(left, other, 1)]] += state[kind] * speed * share
        return found


def _moved(state: tuple[int, ...], kind: int, by: int) -> tuple[int, ...]:
    return tuple(count + by * (at == kind) for at, count in enumerate(state))


def _first_passage(rate: float, same: Matrix, down: Matrix) -> Matrix:
    """Return where a level is first left downwards (Latouche and Ramaswami 1993)."""
    one, alone = np.eye(len(same)), np.linalg.inv(-same)
    up, low = rate * alone, alone @ down
    found, weight = low.copy(), up.copy()
    for _ in range(60):
        both = np.linalg.inv(one - up @ low - low @ up)
        up, low = both @ up @ up, both @ low @ low
        change: Matrix = weight @ low
        found, weight = found + change, weight @ up
        if np.abs(change).max() < 1e-15:
            break
    return found
