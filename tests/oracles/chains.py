"""Birth and death chains in plain fractions: what queues come to without any formula."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction


def shares(
    arrive: Callable[[int], Fraction], serve: Callable[[int], Fraction], most: int
) -> list[Fraction]:
    """Return how often so many are there, `most` at the most."""
    weights = [Fraction(1)]
    for n in range(most):
        weights.append(weights[-1] * arrive(n) / serve(n + 1))
    whole = sum(weights)
    return [weight / whole for weight in weights]


def mean(known: list[Fraction]) -> Fraction:
    """Return how many are there on average."""
    return sum((n * share for n, share in enumerate(known)), Fraction(0))


def sojourn(rate: Fraction, serve: Callable[[int], Fraction], most: int) -> Fraction:
    """Return the mean time from arrival to departure of those who are not turned away."""
    known = shares(lambda _: rate, serve, most)
    return mean(known) / (rate * (1 - known[-1]))
