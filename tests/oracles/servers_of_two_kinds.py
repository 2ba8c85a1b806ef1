"""Several servers, first come first served, with exponential services of two kinds: a chain."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]


def mean_wait(rate: float, servers: int, share: float, long: float, short: float) -> float:
    """Return the mean wait where a share of the services has the mean `long`.

    The state is how many are there and how many of those served are long ones. Above all servers
    the numbers are matrix-geometric (Neuts 1981); below, each level follows from the one above.
    """
    ends, begins = (1 / long, 1 / short), (share, 1 - share)

    def leaving(there: int, stays: bool) -> Matrix:
        found = np.zeros((there + 1, there + 1 if stays else there))
        for k in range(there + 1):
            for of_long, speed in ((True, k * ends[0]), (False, (there - k) * ends[1])):
                left = k - of_long
                if not speed:
                    continue
                if not stays:
                    found[k, left] += speed
                    continue
                found[k, left + 1] += speed * begins[0]
                found[k, left] += speed * begins[1]
        return found

    def alone(there: int) -> Matrix:
        k = np.arange(there + 1)
        return -np.diag(rate + k * ends[0] + (there - k) * ends[1])

    down, same, one = leaving(servers, stays=True), alone(servers), np.eye(servers + 1)
    more = np.zeros_like(one)
    for _ in range(100_000):
        after = rate * np.linalg.inv(-(same + more @ down))
        done = np.abs(after - more).max() < 1e-13
        more = after
        if done:
            break
    above, steps = -(same + more @ down), []
    for there in range(servers, 0, -1):
        come = np.zeros((there, there + 1))
        for k in range(there):
            come[k, k], come[k, k + 1] = rate * begins[1], rate * begins[0]
        steps.append(come @ np.linalg.inv(above))
        above = -(alone(there - 1) + steps[-1] @ leaving(there, stays=False))
    full, free = np.ones(1), 1.0
    for there, step in enumerate(reversed(steps), 1):
        full = full @ step
        free += full.sum() if there < servers else 0.0
    rest = np.linalg.inv(one - more)
    return float((full @ more @ rest @ rest).sum() / (free + (full @ rest).sum()) / rate)
