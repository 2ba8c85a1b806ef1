"""Random forks, in series and within each other, as operands of the table of operations."""

from __future__ import annotations

import random

Stages = tuple[float, ...]


def stage(chance: random.Random, *, is_exponential: bool = False) -> Stages:
    """Return a queue, or a service alone, of one or more servers."""
    mean, load = chance.uniform(0.1, 3), chance.uniform(0.05, 0.9)
    variation = 1.0 if is_exponential else chance.choice([0.0, 0.1, 0.5, 1.0, 2.5])
    servers = float(chance.choice([1, 1, 1, 4]))
    waits = load if servers == 1 else load**2
    if chance.random() < 1 / 4:
        waits = 0.0
    return (waits, load, mean, variation, servers, mean, variation, 1.0, 0.0)


def within(times: float, fixed: float, *inside: Stages) -> Stages:
    """Return stages that are passed by chance, behind a time that is always the same."""
    stages = [value for one in inside for value in one]
    return (0.0, 0.0, 0.0, 1.0, 1.0, fixed, 0.0, times, len(stages) / 9, *stages)


def fork(*branches: Stages) -> Stages:
    """Return branches that are begun together."""
    stages = [value for one in branches for value in one]
    return (0.0, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, len(stages) / 9, *stages)


def some_fork(chance: random.Random, depth: int = 3, *, is_exponential: bool = False) -> Stages:
    """Return a fork of two or three branches, in which others stand."""
    branches = []
    for _ in range(chance.randint(2, 3)):
        inside = [stage(chance, is_exponential=is_exponential)]
        if depth > 1 and chance.random() < 1 / 2:
            inside.append(some_fork(chance, depth - 1, is_exponential=is_exponential))
        is_sure = is_exponential or chance.random() < 2 / 3
        branches.append(
            within(1.0 if is_sure else chance.uniform(0.1, 0.9), chance.choice([0.0, 1.5]), *inside)
        )
    return fork(*branches)


def some_stages(chance: random.Random) -> Stages:
    """Return stages and forks in a row."""
    shape = chance.randrange(6)
    if shape == 0:  # one fork by itself
        return fork(*(stage(chance) for _ in range(chance.randint(1, 5))))
    if shape == 1:
        return (*stage(chance), *fork(*(stage(chance) for _ in range(chance.choice([12, 40])))))
    if shape == 2:  # in series
        return sum((some_fork(chance, 1) for _ in range(chance.randint(2, 4))), ())
    is_exponential = shape == 3
    return (*stage(chance), *some_fork(chance, is_exponential=is_exponential), *stage(chance))
