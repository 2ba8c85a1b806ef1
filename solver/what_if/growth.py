"""How many machines do: the search for counts with which all that is required holds.

All counts are doubled together until all holds; then each is made as small as it may be while the
others stay. Whether all holds is checked with the whole model at the very counts that are reported,
so that the report is true; that fewer could do elsewhere, or more than was looked at, is not ruled
out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from qps.compiler.diagnostics.former_names import former
from qps.compiler.quantities.certainty import EXACT, Certainty

Counts = dict[str, int]
"""How many machines there are, by the number that turns them."""

MOST_TIMES = 4096
"""So many times the machines that there are is looked at."""

_TRIES = 150
"""How often the model is evaluated."""


class Countable(Struct, frozen=True):
    """The machines of some nodes, which one number turns: there are `now` of each."""

    number: str
    places: tuple[str, ...]
    now: int


class Grown(Struct, frozen=True):
    """Counts with which all holds; none of them can be smaller by one where they are `least`."""

    counts: Counts
    are_least: bool


class MoreMachines(Struct, frozen=True):
    """Required machine count, for nodes that share one count."""

    nodes: tuple[str, ...]
    now: int
    takes: int


class Growth(Struct, frozen=True, kw_only=True):
    """Machine counts for a population that larger machines alone cannot support.

    `machines` are the required counts, or empty if up to `up_to` times as many machines of
    `candidates` are not enough. `links` need more capacity; all others stay the same. If
    `are_least` is true, smaller counts were tried and are not enough. `known` is the accuracy of
    the counts: an upper bound if fewer may be enough, and a lower bound if more may be needed.
    """

    machines: tuple[MoreMachines, ...]
    links: tuple[str, ...]
    are_least: bool
    candidates: tuple[str, ...]
    up_to: int = MOST_TIMES
    known: Certainty = EXACT

    looked_at = former("looked_at", "candidates")


class _Search:
    def __init__(self, is_enough: Callable[[Counts], bool]) -> None:
        self._is_enough = is_enough
        self._known: dict[tuple[tuple[str, int], ...], bool] = {}

    @property
    def is_spent(self) -> bool:
        return len(self._known) >= _TRIES

    def holds(self, counts: Counts) -> bool:
        key = tuple(sorted(counts.items()))
        if key not in self._known:
            self._known[key] = not self.is_spent and self._is_enough(counts)
        return self._known[key]

    def doubled(self, now: Counts, growing: Sequence[str]) -> Counts | None:
        """Return the first counts that hold as some are doubled together."""
        times = 1
        while times < MOST_TIMES and not self.is_spent:
            times *= 2
            counts = now | {number: now[number] * times for number in growing}
            if self.holds(counts):
                return counts
        return None

    def reduced(self, counts: Counts, number: str, now: int, at_least: int) -> Counts:
        """Return counts with one of them as small as a bisection finds it.

        Fewer than `at_least` are looked at where so many hold, and one less does, too.
        """
        low, high = at_least, counts[number]
        if self.holds(counts | {number: low}):
            if low == now or not self.holds(counts | {number: low - 1}):
                return counts | {number: low}
            low, high = now, low - 1
            if self.holds(counts | {number: now}):
                return counts | {number: now}
        while high - low > 1 and not self.is_spent:
            middle = (low + high) // 2
            low, high = (low, middle) if self.holds(counts | {number: middle}) else (middle, high)
        return counts | {number: high}


def grown(
    countables: Sequence[Countable],
    is_enough: Callable[[Counts], bool],
    at_least: Counts | None = None,
) -> Grown | None:
    """Return how many machines do, None where none were found.

    Counts that are known to be required are looked at first, and others from there on.

    >>> nodes = [Countable("a", ("web",), 2), Countable("b", ("db",), 1)]
    >>> grown(nodes, lambda counts: counts["a"] >= 11)
    Grown(counts={'a': 11, 'b': 1}, are_least=True)
    """
    now = {one.number: one.now for one in countables}
    if not now:
        return None
    start = now if at_least is None else at_least
    search = _Search(is_enough)
    found = start if start != now and search.holds(start) else search.doubled(start, list(now))
    for number in now if found is None and len(now) > 1 else ():
        # Machines of one kind may be in the way of others: these alone.
        found = found or search.doubled(start, [number])
    if found is None:
        return None
    for number, least in now.items():
        if found[number] > least:
            found = search.reduced(found, number, least, start[number])
    return Grown(found, not search.is_spent)
