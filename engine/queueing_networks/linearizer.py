"""The Linearizer of closed networks: many classes with many customers, nearly.

What a class finds with one of its own less follows from the shares of classes at stations, and by
how these shares change; the change is taken to be the same with one less of any class (Chandy and
Neuse 1982). Sums over classes are taken once (de Souza e Silva and Muntz 1990). What is waited at
several servers, where so many are found, is what is waited where an open flow finds as many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import exp
from typing import TYPE_CHECKING, Any

from qps.engine.queueing.queue_numbers import MANY_SERVERS, erlang_c
from qps.engine.queueing_networks.multiclass_operands import MulticlassNetwork

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TURNS, _MOST_STEPS, _ENOUGH = 3, 1000, 1e-13
_JUMPS, _SLOWEST = 6, 0.995
_POINTS, _FARTHEST = 240, 20.0

Wait = Callable[[Any], Any]
"""What is waited at a copy where so many are found, on arrays."""
Stay = Callable[[Any], Any]
"""How long cycles of classes are at a place where each finds so many, or at all places, on arrays:
an axis for populations, before that for places, and one for classes."""


def linearized(network: MulticlassNetwork) -> tuple[list[tuple[float, ...]], list[float]]:
    """Return waits of classes over their demands, and those of open visits, at each station.

    Numbers of customers need not be whole: of less than one of a class, none finds itself.
    """
    places = network.places
    waits = [waiting_at(place.servers, place.load, place.copies) for place in places]
    stay = _stay_at_stations(network)
    turning = Linearizer(network.customers, network.think, len(places))
    for turn in range(_TURNS):
        found = turning.converge(stay)
        if turn < _TURNS - 1:
            turning.turn()
    own = [tuple(wait(one).tolist()) for wait, one in zip(waits, found, strict=True)]
    beside = [float(wait(n)) for wait, n in zip(waits, turning.queue_lengths, strict=True)]
    return own, beside


def _stay_at_stations(network: MulticlassNetwork) -> Stay:
    """Return how long classes are at all stations."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    places, count = network.places, len(network.customers)
    demands = np.array([place.demands for place in places], dtype=float).reshape(-1, count)
    stations = [(place.servers, place.load, place.copies) for place in places]
    return stay_at_each(stations, demands, demands)


def stay_at_each(stations: Sequence[tuple[float, float, float]], served: Any, parts: Any) -> Stay:
    """Return how long classes are at each of many stations; alike ones are computed together.

    Of each there are its servers, load and copies, for how long each class is `served`, and how
    much longer it stays for each service time that is waited.
    """
    import numpy as np  # noqa: PLC0415 - seldom needed

    table = np.array(stations, dtype=float).reshape(-1, 3, 1)  # there may be none
    copies, is_single = table[:, 2], table[:, 0] == 1
    loads = np.where(is_single, table[:, 1], 0.0)
    # Where there is one server, what is waited is on a line.
    first = served + parts * (loads / (1 - loads))
    each = np.where(is_single, parts / (copies * (1 - loads)), 0.0)
    alike: dict[tuple[float, float], list[int]] = {}
    for i, (servers, load, _) in enumerate(stations):
        if servers != 1:
            alike.setdefault((servers, load), []).append(i)
    several = [
        (_waiting(*arguments), among, copies[among], parts[among])
        for arguments, among in alike.items()
    ]

    def stay(found: Any) -> Any:
        times = first + each * found
        for wait, among, count, part in several:
            times[:, among] += part * wait(found[:, among] / count)
        return times

    return stay


def waiting_at(servers: float, load: float, copies: float) -> Wait:
    """Return what is waited at a station, in mean service times, where so many are found."""
    of_copy = _waiting(servers, load)
    return lambda found: of_copy(found / copies)


class Linearizer:
    """Shares of classes at places, and how these change with one less, until they converge.

    Arrays have an axis for populations, for places, and for classes, in this order.
    """

    def __init__(self, customers: tuple[float, ...], think: tuple[float, ...], places: int) -> None:
        import numpy as np  # noqa: PLC0415 - seldom needed

        count = len(customers)
        self._think = np.array(think, dtype=float)
        self._less = [k for k in range(count) if customers[k] >= 1]
        fewer = [np.arange(count) == k for k in self._less]
        self._customers = np.array(customers, dtype=float) - np.array(
            [np.zeros(count), *fewer], dtype=float
        )
        self.change: NDArray[Any] = np.zeros((places, count, count))
        self._shares: NDArray[Any] = np.full((1 + len(fewer), places, count), 1 / (places + 1))

    @property
    def queue_lengths(self) -> NDArray[Any]:
        """How many are at each place."""
        held: NDArray[Any] = (self._shares[0] * self._customers[0]).sum(axis=1)
        return held

    def converge(
        self, stay: Stay, enough: float = _ENOUGH, think: Sequence[float] | None = None
    ) -> NDArray[Any]:
        """Settle shares, from those that there are; return what each class finds at each place.

        Those with one less of a class are settled beside those of all, with the same change.
        Classes may `think` for another time than before.
        """
        import numpy as np  # noqa: PLC0415 - seldom needed

        if think is not None:
            self._think = np.array(think, dtype=float)
        self._shares, every = self._fixed_point(self._shares, stay, enough)
        found: NDArray[Any] = every[0]
        return found

    def turn(self) -> float:
        """See how shares change with one less of a class; return by how much that is another."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        before = self.change
        self.change = np.zeros_like(before)
        self.change[:, self._less, :] = (self._shares[1:] - self._shares[0]).swapaxes(0, 1)
        return float(np.abs(self.change - before).max(initial=0.0))

    def _fixed_point(
        self, shares: NDArray[Any], stay: Stay, enough: float
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return shares of all populations, looked for from near ones, and what classes find."""
        import numpy as np  # noqa: PLC0415 - seldom needed

        customers = self._customers
        one = np.minimum(customers, 1.0)[:, None, :]
        moved = np.einsum("bj,ikj->bik", customers, self.change)
        moved -= (customers > 0)[:, None, :] * self.change.diagonal(axis1=1, axis2=2)
        each, always = customers[:, :, None], bool((self._think > 0).all())
        found, last, count = shares, np.zeros(len(customers)), len(customers)
        for step in range(1, _MOST_STEPS + 1):
            found = np.maximum(shares @ each - one * shares + moved, 0.0)
            times = stay(found)
            cycles = (self._think + times.sum(axis=1))[:, None, :]
            if always:
                after = times / cycles
            else:
                after = np.divide(times, cycles, out=np.zeros_like(times), where=cycles > 0)
            off = np.abs(after - shares).reshape(count, -1).max(axis=1, initial=0.0)
            if step % _JUMPS == 0:
                after = _ahead(shares, after, off, last)
            shares, last = after, off
            if not off.max() > enough:
                break
        return shares, found


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
        return lambda queue_lengths: (load + queue_lengths) / (1 - load)
    *points, steepest = found_and_waits(servers, load)
    found, waits = (np.array(one) for one in points)

    def wait_of(queue_lengths: Any) -> Any:
        beyond = np.maximum(queue_lengths - found[-1], 0.0)
        return np.interp(queue_lengths, found, waits) + beyond * steepest

    return wait_of


def _waiting_shares(servers: float, traffic: Sequence[float]) -> list[float]:
    """Return Erlang's share of visits that wait, of many servers side by side."""
    if servers <= MANY_SERVERS:
        return [erlang_c(servers, one) for one in traffic]
    from qps.engine.queueing import erlang_arrays  # noqa: PLC0415 - needs numpy

    return [float(share) for share in erlang_arrays.erlang_c(servers, traffic)]


@lru_cache(maxsize=1 << 8)
def found_and_waits(servers: float, load: float) -> tuple[list[float], list[float], float]:
    """Return what is waited where so many are found, point by point, and how it grows beyond."""
    spare = servers - load
    left = [exp(-_FARTHEST * k / _POINTS) for k in range(_POINTS + 1)]
    flows = [spare * (1 - part) for part in left]
    shares = _waiting_shares(servers, [load + flow for flow in flows])
    waits = [share / (spare * part) for share, part in zip(shares, left, strict=True)]
    found = [flow * (1 + wait) for flow, wait in zip(flows, waits, strict=True)]
    return found, waits, (waits[-1] - waits[-2]) / (found[-1] - found[-2])
