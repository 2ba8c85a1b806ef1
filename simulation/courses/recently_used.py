"""A cache that keeps what was used last, item by item, and which items are requested."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

_BATCH = 4096


class RequestedItems:
    """Draws items by a Zipf law: the one of rank r in proportion to r^-exponent."""

    def __init__(self, items: int, exponent: float, seed: int) -> None:
        weights = np.arange(1, items + 1, dtype=float) ** -exponent
        self._until = np.cumsum(weights) / weights.sum()
        self._random = np.random.default_rng(seed)
        self._drawn: list[int] = []

    def many(self, count: int) -> np.ndarray:
        """Return so many items."""
        return np.searchsorted(self._until, self._random.random(count))

    def next(self) -> int:
        """Return an item."""
        if not self._drawn:
            self._drawn = self.many(_BATCH).tolist()
        return self._drawn.pop()


class RecentlyUsed:
    """A cache of so many items, which has been in use for long."""

    def __init__(self, size: int, requested: RequestedItems, items: int) -> None:
        self._size = min(size, items)
        count = 4 * self._size
        last = _last_used(requested.many(count))
        while len(last) < self._size and count < _ENOUGH * items:
            count *= 2
            last = _last_used(requested.many(count))
        self._items = OrderedDict.fromkeys(last[: self._size][::-1].tolist())

    def has(self, item: int) -> bool:
        """Look an item up."""
        if item not in self._items:
            return False
        self._items.move_to_end(item)
        return True

    def store(self, item: int) -> None:
        """Store an item; the one that was not used for longest goes."""
        self._items[item] = None
        self._items.move_to_end(item)
        if len(self._items) > self._size:
            self._items.popitem(last=False)

    def clear(self) -> None:
        """Forget all items."""
        self._items.clear()


_ENOUGH = 64
"""So many requests for each item: what nobody has item for by then is hardly ever item for."""


def _last_used(requests: np.ndarray) -> np.ndarray:
    """Return the items of requests, the one that was requested last first."""
    items, first = np.unique(requests[::-1], return_index=True)
    return items[np.argsort(first)]
