"""What classes get of stations where ever more of them are under way, and which are full then.

Of all rates X that no station is too slow for, those at which the sum of b log X is greatest, where
b is the share of each class of all that is under way: then X = b / (sum of q a), where q is the
share of all that is at a station, and above zero only where it is full. These are found as the
least of a convex function, by Newton's steps within a barrier that is lowered.
"""

from __future__ import annotations

from collections.abc import Sequence

_BARRIERS, _STEPS, _SEARCH_STEPS = 13, 5, 0.9
_SOME = 1e-6


def full_stations(demands: Sequence[Sequence[float]], mix: Sequence[float]) -> frozenset[int]:
    """Return the saturated stations: `demands` has of each what a cycle of each class takes."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    there = [k for k, share in enumerate(mix) if share > 0]
    share = np.array([mix[k] for k in there])
    work = np.array([[each[k] for k in there] for each in demands])
    price = np.full(len(work), 1 / len(work))
    barrier = 1.0
    for _ in range(_BARRIERS):
        barrier /= 10
        for _ in range(_STEPS):
            rates = share / (price @ work)
            slope = 1 - work @ rates - barrier / price
            bend = (work * (rates**2 / share)) @ work.T + np.diag(barrier / price**2)
            step = np.linalg.solve(bend, -slope)
            headroom = np.min(np.where(step < 0, -price / np.where(step < 0, step, -1), np.inf))
            price = price + min(1.0, _SEARCH_STEPS * float(headroom)) * step
    return frozenset(np.flatnonzero(price > _SOME).tolist())
