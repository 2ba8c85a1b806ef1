"""Whether throughput and response time of a closed load test agree, and the think time they show.

By Little's law, N clients with a mean response time R and a think time Z between a response and
the next request complete X = N / (R + Z) requests per second: so Z = N/X - R.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

_TOLERANCE = 0.05
"""Share of a cycle by which both may differ: they are not measured over the same requests."""
_FEW = 0.1
"""Share of rows that may contradict the others: a slip, not another system."""


class Contradiction(Struct, frozen=True, kw_only=True):
    """A run whose response time (s) is not what Little's law says of its throughput: `expected`.

    That is the cycle of a client less the think time that all runs together show.
    """

    line: int
    clients: int
    measured: float
    expected: float


def little_checked(
    lines: Sequence[int],
    clients: Sequence[int],
    throughputs: Sequence[float],
    means: Sequence[float],
    rounding: float,
) -> tuple[float, Contradiction | None]:
    """Return the think time (s) of clients, and the run that contradicts it most.

    Without think time, response times are those of Little's law. With it, they are shorter by the
    same time in all runs.

    >>> think, _ = little_checked([2, 3], [1, 10], [9.0, 50.0], [0.011, 0.1], 0.0005)
    >>> round(think, 4)
    0.1001
    >>> little_checked([2, 3], [1, 10], [10.0, 50.0], [0.1, 0.4], 0.05)[1].line
    3
    """
    cycles = [count / rate for count, rate in zip(clients, throughputs, strict=True)]
    gaps = [cycle - mean for cycle, mean in zip(cycles, means, strict=True)]
    allowed = [_TOLERANCE * cycle + rounding for cycle in cycles]
    think = 0.0
    if sum(abs(g) > a for g, a in zip(gaps, allowed, strict=True)) > _FEW * len(gaps):
        weights = [1 / cycle**2 for cycle in cycles]
        think = sum(g * w for g, w in zip(gaps, weights, strict=True)) / sum(weights)
        think = max(think, 0.0)
    off = [abs(g - think) / a for g, a in zip(gaps, allowed, strict=True)]
    if sum(one > 1 for one in off) <= _FEW * len(off):
        return think, None
    worst = max(range(len(off)), key=off.__getitem__)
    return 0.0, Contradiction(
        line=lines[worst],
        clients=clients[worst],
        measured=means[worst],
        expected=max(cycles[worst] - think, 0.0),
    )
