"""The simulation that pools are held against whose items wait for nothing while they hold a place.

It shares nothing with QPS: many queues of random arrivals at equal servers are followed at once,
by the time until each server is free. Run `python laboratory/questions/delay_pool_simulation.py` to
print a line of JSON for each law of holding times, number of places and load: the mean and
percentiles of wait and holding time together, in mean holding times. With a number as argument,
so many times as many arrivals.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Holds = Callable[[np.random.Generator], Floats]

QUEUES = 300
PLACES = (1, 2, 5, 10, 20, 50)
LOADS = (0.3, 0.6, 0.8, 0.9, 0.95)
LEVELS = (0.5, 0.9, 0.95, 0.99)
SPREADS = (0, 0.25, 0.5, 0.75, 0.9, 1, 1.1, 1.5, 2, 4)
FIXED = (0.02, 0.05, 0.1, 0.3, 0.6)


def gamma(spread: float) -> Holds:
    """Return gamma distributed times of mean 1 and a variance."""
    if spread == 0:
        return lambda _: np.ones(QUEUES)
    return lambda draw: draw.gamma(1 / spread, spread, QUEUES)


def shifted(fixed: float) -> Holds:
    """Return times of mean 1 of which a part is fixed, and the others are exponential."""
    return lambda draw: fixed + (1 - fixed) * draw.exponential(1, QUEUES)


def played(places: int, load: float, holds: Holds, arrivals: int) -> dict[str, object]:
    """Return the mean and the percentiles; a quarter of the arrivals comes before these count."""
    draw = np.random.default_rng(places)
    busy, rows = np.zeros((QUEUES, places)), np.arange(QUEUES)
    found: list[Floats] = []
    for at in range(arrivals):
        busy -= draw.exponential(1 / (places * load), QUEUES)[:, None]
        np.maximum(busy, 0, out=busy)
        first = busy.argmin(axis=1)
        ends = busy[rows, first] + holds(draw)
        busy[rows, first] = ends
        if at >= arrivals // 4:
            found.append(ends)
    every = np.concatenate(found)
    return {"mean": every.mean(), "percentiles": list(np.quantile(every, LEVELS))}


def main(longer: float) -> None:
    """Print all of them."""
    laws = {("gamma", one): gamma(one) for one in SPREADS}
    laws |= {("shifted", one): shifted(one) for one in FIXED}
    for places in PLACES:
        for load in LOADS:
            arrivals = int(longer * min(24_000, 3_000 + 16 / (1 - load**0.5) ** 2))
            for (law, number), holds in laws.items():
                parameters = {"places": places, "load": load, "law": law, "number": number}
                print(json.dumps(parameters | played(places, load, holds, arrivals)), flush=True)


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2] or ["1"]))
