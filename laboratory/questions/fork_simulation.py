"""The simulation that forks are held against: calls made together, and what is passed besides.

It shares nothing with QPS. Run `python laboratory/questions/fork_simulation.py` to print the mean
and percentiles of each fork, and by how much independent branches are longer than that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
Fork = Callable[[np.random.Generator], tuple[Times, Times]]

REQUESTS = 4_000_000
LEVELS = (50.0, 90.0, 95.0, 99.0)


def time_at_a_server(arrivals: Times, services: Times) -> Times:
    """Return how long each is at one server, first come, first served (Lindley)."""
    gaps = np.diff(arrivals)
    work = np.concatenate([[0.0], np.cumsum(services[:-1] - gaps)])
    return np.asarray(work - np.minimum.accumulate(work) + services)


def equal_servers(branches: int, load: float) -> Fork:
    """Return so many calls to servers of their own, each with the same load, and service 1."""
    return servers(*(((1.0, load),) * branches))


def servers(*each: tuple[float, float]) -> Fork:
    """Return calls to servers of their own with a mean service and a load; others load them too."""

    def drawn(draw: np.random.Generator) -> tuple[Times, Times]:
        rate = min(load / mean for mean, load in each)
        arrivals = np.cumsum(draw.exponential(1 / rate, REQUESTS))
        found = []
        for mean, load in each:
            others = load / mean - rate
            count = draw.poisson(others * arrivals[-1])
            all_of_them = np.concatenate([arrivals, draw.uniform(0, arrivals[-1], count)])
            order = np.argsort(all_of_them, kind="stable")
            times = time_at_a_server(all_of_them[order], draw.exponential(mean, len(order)))
            own = np.empty(len(order))
            own[order] = times
            found.append(own[:REQUESTS])
        together = np.max(found, axis=0)
        apart = np.max([draw.permutation(times) for times in found], axis=0)
        return together, apart

    return drawn


def one_or_both(draw: np.random.Generator) -> tuple[Times, Times]:
    """Return the case `share`: 1 ms for all, and each of two calls of 60 ms for 15 %."""
    calls = draw.exponential(0.060, (2, REQUESTS)) * (draw.random((2, REQUESTS)) < 0.15)
    found = draw.exponential(0.001, REQUESTS) + calls.max(axis=0)
    return found, found


def slow_and_fast(draw: np.random.Generator) -> tuple[Times, Times]:
    """Return the case `tog`: calls of 60 ms and 1 ms."""
    found = np.maximum(draw.exponential(0.060, REQUESTS), draw.exponential(0.001, REQUESTS))
    return found, found


FORKS: dict[str, Fork] = {
    "tog: 60 ms and 1 ms": slow_and_fast,
    "share: 15 % and 15 %": one_or_both,
    **{
        f"{branches} equal M/M/1 at {load:.0%}": equal_servers(branches, load)
        for branches in (2, 3, 8, 16)
        for load in (0.3, 0.6, 0.8, 0.9)
    },
    "1 and 3 at 60 %": servers((1.0, 0.6), (3.0, 0.6)),
    "1 at 80 %, 3 at 40 %": servers((1.0, 0.8), (3.0, 0.4)),
    "1 at 30 %, 1 at 90 %": servers((1.0, 0.3), (1.0, 0.9)),
}


def main() -> None:
    """Print what each fork comes to."""
    for name, fork in FORKS.items():
        together, apart = fork(np.random.default_rng(7))
        found = {"mean": (together.mean(), apart.mean())} | {
            f"p{level:g}": (np.percentile(together, level), np.percentile(apart, level))
            for level in LEVELS
        }
        print(f"{name}: ", end="")
        print(
            ", ".join(f"{what} {one:.5g} ({two / one:.3f}x)" for what, (one, two) in found.items())
        )


if __name__ == "__main__":
    main()
