"""The Linearizer of closed networks: many classes with many customers, nearly.

What a class finds with one of its own less is told by the shares of classes at stations, and by how
these shares change; the change is taken to be the same with one less of any class (Chandy and
Neuse 1982). Sums over classes are taken once (de Souza e Silva and Muntz 1990). What is waited at
several servers, where so many are found, is what is waited where an open flow finds as many.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, Any

from qps.engine.networks.class_networks import Network
from qps.engine.queues.queue_numbers import erlang_c

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TURNS, _MOST_STEPS, _ENOUGH = 3, 1000, 1e-13
_JUMPS, _SLOWEST = 6, 0.995
_POINTS, _FARTHEST = 240, 20.0

Wait = Callable[[Any], Any]
"""What is waited at a copy where so many are found, on arrays."""


def linearized(network: Network) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return waits of classes over what they ask, and those of open visits, at each station.

    Numbers of customers need not be whole: of less than one of a class, none finds itself.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    places, count = network.places, len(network.customers)
    core = _Core(network)
    customers = np.array([network.customers], dtype=float)
    less = [k for k in range(count) if customers[0, k] >= 1]
    fewer = np.array([customers[0] - (np.arange(count) == k) for k in less]).reshape(-1, count)
    change = np.zeros((len(places), count, count))
    shares = np.full((1, len(places), count), 1 / (len(places) + 1))
    of_less = np.repeat(shares, len(less), axis=0)
    for turn in range(_TURNS):
        shares, own = core.settled(customers, change, shares)
        if turn == _TURNS - 1:
            break
        of_less, _ = core.settled(fewer, change, of_less if turn else shares.repeat(len(less), 0))
        change = np.zeros_like(change)
        change[:, less, :] = (of_less - shares).swapaxes(0, 1)
    held = (shares[0] * customers[0]).sum(axis=1)
    beside = [
        float(wait(n / one.copies)) for wait, n, one in zip(core.waits, held, places, strict=True)
    ]
    return [tuple(one) for one in own[0].tolist()], beside


class _Core:
    """Shares of classes at stations of one network, for how these change with one less.

    Arrays have an axis for populations, for stations, and for classes, in this order.
    """

    def __init__(self, network: Network) -> None:
        import numpy as np  # noqa: PLC0415 - seldom needed

        places, count = network.places, len(network.customers)
        self.waits = [_waiting(place.servers, place.load) for place in places]
        alike: dict[tuple[float, float], list[int]] = {}
        for i, place in enumerate(places):
            alike.setdefault((place.servers, place.load), []).append(i)
        self._alike = [(self.waits[among[0]], among) for among in alike.values()]
        self.think = np.array(network.think, dtype=float)
        self.asked = np.array([p.asked for p in places], dtype=float).reshape(-1, count)
        self._copies = np.array([place.copies for place in places])[:, None]

    def settled(
        self, customers: NDArray[Any], change: NDArray[Any], shares: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return shares and waits of some populations, looked for from shares that are near."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        one = np.minimum(customers, 1.0)[:, None, :]
        moved = np.einsum("bj,ikj->bik", customers, change)
        moved -= (customers > 0)[:, None, :] * change.diagonal(axis1=1, axis2=2)
        seen, last = np.zeros_like(shares), np.zeros(len(customers))
        for step in range(1, _MOST_STEPS + 1):
            found = np.einsum("bk,bik->bi", customers, shares)[:, :, None]
            held = np.maximum(found - one * shares + moved, 0.0)
            held /= self._copies
            for wait, among in self._alike:
                seen[:, among] = wait(held[:, among])
            times = self.asked * (1 + seen)
            cycles = (self.think + times.sum(axis=1))[:, None, :]
            after = np.divide(times, cycles, out=np.zeros_like(times), where=cycles > 0)
            off = np.abs(after - shares).max(axis=(1, 2), initial=0.0)
            if step % _JUMPS == 0:
                after = _ahead(shares, after, off, last)
            shares, last = after, off
            if not (off > _ENOUGH).any():
                break
        return shares, seen


def _ahead(
    before: NDArray[Any], after: NDArray[Any], off: NDArray[Any], last: NDArray[Any]
) -> NDArray[Any]:
    """Return where steps lead of which each is so much shorter than the last (Aitken)."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    slower = np.divide(off, last, out=np.ones_like(off), where=last > 0)
    jumps = (slower < _SLOWEST) & (off > _ENOUGH)
    by = np.divide(slower, 1 - slower, out=np.zeros_like(off), where=jumps)[:, None, None]
    return np.where(jumps[:, None, None], np.maximum(after + by * (after - before), 0.0), after)


@lru_cache(maxsize=1 << 8)
def _waiting(servers: float, load: float) -> Wait:
    """Return the wait where so many closed customers are found at a copy."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    if servers == 1:
        return lambda held: (load + held) / (1 - load)
    found, waits, steepest = found_and_waits(servers, load)

    def wait_of(held: Any) -> Any:
        beyond = np.maximum(held - found[-1], 0.0)
        return np.interp(held, found, waits) + beyond * steepest

    return wait_of


@lru_cache(maxsize=1 << 8)
def found_and_waits(servers: float, load: float) -> tuple[list[float], list[float], float]:
    """Return what is waited where so many are found, point by point, and how it grows beyond."""
    spare = servers - load
    found, waits = [], []
    for k in range(_POINTS + 1):
        left = exp(-_FARTHEST * k / _POINTS)
        flow = spare * (1 - left)
        wait = erlang_c(servers, load + flow) / (spare * left)
        found.append(flow * (1 + wait))
        waits.append(wait)
    return found, waits, (waits[-1] - waits[-2]) / (found[-1] - found[-2])
