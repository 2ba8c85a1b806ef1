"""All populations of a closed network of several classes, by mean value analysis.

A population rests on those with one customer less, so that all of one total are found at once. What
was found is kept: the populations of a search are those of one table.
"""

from __future__ import annotations

from collections import OrderedDict
from math import prod
from operator import mul
from typing import TYPE_CHECKING, Any

from qps.engine.queueing_networks.multiclass_operands import MOST_STATES, MulticlassNetwork

if TYPE_CHECKING:
    from numpy.typing import NDArray

_CACHE_SIZE = 24
_GROWS = 1.5

_cache: OrderedDict[tuple[object, ...], States] = OrderedDict()


def states_of(network: MulticlassNetwork) -> States:
    """Return a table in which the populations of a network are; it is remembered, and grows."""
    key = network.think, network.places
    known = _cache.get(key)
    if known is None or not known.has(network.customers):
        known = _cache[key] = States(network, _wanted(network, known))
        if len(_cache) > _CACHE_SIZE:
            _cache.popitem(last=False)
    _cache.move_to_end(key)
    return known


def _wanted(network: MulticlassNetwork, known: States | None) -> list[int]:
    """Return how many customers of each class a table has: more, where it has grown before."""
    counts = [int(n) for n in network.customers]
    if known is None:
        return counts
    both = [max(n, size - 1) for n, size in zip(counts, known.sizes, strict=True)]
    more = [n if n < size else int(n * _GROWS) for n, size in zip(counts, known.sizes, strict=True)]
    more = [max(n, other) for n, other in zip(more, both, strict=True)]
    stations = max(len(network.places), 1)
    for sizes in (more, both):
        if prod(n + 1 for n in sizes) * stations <= 2 * MOST_STATES:
            return sizes
    return counts


class States:
    """Populations of a network, each server of a copy taken as one that is as quick as all.

    `rates` and `numbers` have, for each population, rates of classes and numbers at a copy.
    """

    def __init__(self, network: MulticlassNetwork, most: list[int]) -> None:
        self.sizes = [n + 1 for n in most]
        self.strides = [prod(self.sizes[k + 1 :]) for k in range(len(self.sizes))]
        self.rates, self.numbers = _solved(network, self.sizes, self.strides)

    def has(self, customers: tuple[float, ...]) -> bool:
        """Return whether a population is among them."""
        return all(n < size for n, size in zip(customers, self.sizes, strict=True))

    def at(self, customers: tuple[float, ...]) -> int:
        """Return where a population stands."""
        return sum(map(mul, map(int, customers), self.strides))


def _solved(
    network: MulticlassNetwork, sizes: list[int], strides: list[int]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return rates and numbers, of one total of customers after the other."""
    import numpy as np  # noqa: PLC0415 - seldom needed

    places = network.places
    demands = np.array([one.demands for one in places]).reshape(len(places), len(sizes))
    copies = np.array([one.copies for one in places])
    free = np.array([one.servers - one.load for one in places])
    ratios = demands / (copies * free)[:, None]
    counts = np.indices(sizes).reshape(len(sizes), -1)
    total = counts.sum(axis=0)
    order = np.argsort(total, kind="stable")
    ends = np.cumsum(np.bincount(total))
    rates = np.zeros((len(total), len(sizes)))
    numbers = np.zeros((len(total), len(places)))
    for start, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        here = order[start:end]
        held = np.zeros((end - start, len(places)))
        for k, stride in enumerate(strides):
            if sizes[k] == 1:
                continue
            own = counts[k, here]
            times = (1 + numbers[here - stride * (own > 0)]) * ratios[:, k]
            rate = own / (network.think[k] + times @ copies)
            rates[here, k] = rate
            held += rate[:, None] * times
        numbers[here] = held
    return rates, numbers
