"""The draws that laws of forks are held against, which stand in series and within each other.

They share nothing with QPS: each stage is drawn, a wait as a geometric sum of what is left of
services, and the times of branches are compared request by request. Run
`python laboratory/questions/fork_law_draws.py [FORKS] [DRAWS]` to print for random forks how far
means and percentiles of QPS are from those of the draws, and how long QPS takes for each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from qps.engine.operations import OPERATIONS

Times = NDArray[np.float64]
Drawn = tuple[tuple[float, ...], Callable[[np.random.Generator, int], Times]]
"""The operands of some stages, and what draws the time to pass them."""

LEVELS = (0.5, 0.9, 0.99, 0.999)


def gamma(rng: np.random.Generator, mean: float, variation: float, count: int) -> Times:
    """Draw services."""
    if not variation:
        return np.full(count, mean)
    return rng.gamma(1 / variation, mean * variation, count)


def residual(rng: np.random.Generator, mean: float, variation: float, count: int) -> Times:
    """Draw what is left of services at a random time: a part of one that is drawn by its length."""
    whole = np.full(count, mean)
    if variation:
        whole = rng.gamma(1 / variation + 1, mean * variation, count)
    return whole * rng.random(count)


def queue(load: float, mean: float, variation: float) -> Drawn:
    """Return one server of random arrivals."""

    def draw(rng: np.random.Generator, count: int) -> Times:
        found = gamma(rng, mean, variation, count)
        ahead = rng.geometric(1 - load, count) - 1
        for k in range(1, int(ahead.max()) + 1):
            is_there = ahead >= k
            found[is_there] += residual(rng, mean, variation, int(is_there.sum()))
        return found

    return (load, load, mean, variation, 1.0, mean, variation, 1.0, 0.0), draw


def by_chance(chance: float, fixed: float, inside: Drawn) -> Drawn:
    """Return a call that is made with some chance, which takes a time that is always the same."""

    def draw(rng: np.random.Generator, count: int) -> Times:
        return (fixed + inside[1](rng, count)) * (rng.random(count) < chance)

    stages = inside[0]
    return (0.0, 0.0, 0.0, 1.0, 1.0, fixed, 0.0, chance, len(stages) / 9, *stages), draw


def row(*parts: Drawn) -> Drawn:
    """Return stages one after the other, as one."""
    stages = tuple(value for part, _ in parts for value in part)

    def draw(rng: np.random.Generator, count: int) -> Times:
        return np.sum([one(rng, count) for _, one in parts], axis=0)

    return (0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, len(stages) / 9, *stages), draw


def fork(*branches: Drawn) -> Drawn:
    """Return branches that are begun together."""
    stages = tuple(value for part, _ in branches for value in part)

    def draw(rng: np.random.Generator, count: int) -> Times:
        found = branches[0][1](rng, count)
        for _, one in branches[1:]:
            np.maximum(found, one(rng, count), out=found)
        return found

    return (0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, len(stages) / 9, *stages), draw


def stage(rng: np.random.Generator) -> Drawn:
    """Return a random queue, now and then one that is visited by chance after a fixed time."""
    mean = float(10 ** rng.uniform(-1, 0.5))
    found = queue(rng.uniform(0.05, 0.9), mean, float(rng.choice([0.0, 0.1, 0.5, 1.0, 2.0, 6.0])))
    if rng.random() < 0.2:
        return by_chance(float(rng.uniform(0.02, 0.9)), float(rng.uniform(0, 3)), found)
    return found


def nested(rng: np.random.Generator, depth: int, most: int) -> Drawn:
    """Return a random fork with others in it."""
    branches = []
    for _ in range(int(rng.integers(2, most + 1))):
        inside = [stage(rng)]
        if depth > 1 and rng.random() < 0.6:
            inside += [nested(rng, depth - 1, most), stage(rng)]
        branches.append(row(*inside))
    return fork(*branches)


def series(rng: np.random.Generator) -> Drawn:
    """Return steps and forks in a row, in one of several shapes."""
    shape = rng.integers(4)
    if shape == 0:  # one fork of many branches
        return row(stage(rng), fork(*(stage(rng) for _ in range(int(rng.integers(2, 60))))))
    if shape == 1:
        return row(*(nested(rng, 1, 3) for _ in range(int(rng.integers(2, 6)))))
    return row(stage(rng), nested(rng, int(rng.integers(2, 4)), 4), stage(rng))


def main(forks: int = 40, draws: int = 400_000) -> None:
    """Print for each fork the errors in percent, and the milliseconds that a value takes."""
    rng = np.random.default_rng(20_261_129)
    worst: dict[str, float] = {}
    print("stages  mean and percentiles against draws, in %       ms of p99, share, mean")
    for _ in range(forks):
        stages, draw = series(rng)
        drawn = draw(rng, draws)
        found = {"mean": OPERATIONS["fork_mean"].number(*stages) / drawn.mean() - 1}
        for level in LEVELS:
            value = OPERATIONS["fork_quantile"].number(level, *stages)
            found[f"p{100 * level:g}"] = value / float(np.quantile(drawn, level)) - 1
        for name, error in found.items():
            worst[name] = max(worst.get(name, 0.0), abs(error))
        spent = []
        for word, before in (("fork_quantile", (0.98,)), ("fork_tail", (3.0,)), ("fork_mean", ())):
            start = time.process_time()
            OPERATIONS[word].array(*before, *stages)
            spent.append(1e3 * (time.process_time() - start))
        errors = "  ".join(f"{name} {100 * error:+.2f}" for name, error in found.items())
        print(f"{len(stages) // 9:6}  {errors}   {' '.join(f'{one:.0f}' for one in spent)}")
    print("largest:", "  ".join(f"{name} {100 * error:.2f} %" for name, error in worst.items()))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
