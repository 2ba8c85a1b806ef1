"""In which order combinations are lowered: what is near to a start comes first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, product, zip_longest

from qps.compiler import ir
from qps.solver.variants.lowered_combinations import LoweredCombinations
from qps.solver.variants.selects import Picks, Select, twice
from qps.solver.variants.starting_points import Start
from qps.solver.variants.variant_graphs import Variant

_MOST_TOGETHER = 4
"""Places that are doubled together: as many changes as the script of a page joins."""
_MOST_FAILED_TRIES = 20_000
"""Combinations that are known or cannot be, one behind another: then no more are looked for."""
_MOST_WORK = 12_000
"""Demands and stages in the graphs of all variants: a large model gets fewer of them."""


def explored(
    lowered: LoweredCombinations, starts: Sequence[Start], most: int, full: Sequence[str]
) -> Iterator[Variant]:
    """Yield the variants of the starts, and then what is near to these.

    Where several resources are `full`, what has more of their places is near to the first start.
    """
    known = lowered.variants
    yield from (one.variant(lowered.model) for one in tuple(known))
    in_vain = 0
    near = chain(_doubled(lowered, starts[0], full), _neighbors(lowered, starts))
    for shape, picks in near:
        count = len(known)
        if count >= most or lowered.work >= _MOST_WORK or in_vain >= _MOST_FAILED_TRIES:
            return
        lowered.add(shape, picks)
        yield from (one.variant(lowered.model) for one in known[count:])
        in_vain = in_vain + 1 if len(known) == count else 0


def _doubled(
    lowered: LoweredCombinations, start: Start, full: Sequence[str]
) -> Iterator[tuple[int, Picks]]:
    """Yield more and more of the places of some resources doubled, where there are several."""
    picks, doubled = list(start.picks), 0
    known = lowered.add(start.shape, start.picks)
    network = known.graphs[0].network if known else None
    places = {network.place_of(name) for name in full} if network else set()
    for i, select in enumerate(lowered.selects):
        is_full = select.counts and select.name in places
        count = select.counts[picks[i]] if is_full else None
        if not isinstance(count, ir.Constant):
            continue
        more = (select.choices[picks[i]], twice(count))
        picks[i] = list(zip(select.choices, select.counts, strict=True)).index(more)
        doubled += 1
        if doubled > 1:
            yield start.shape, tuple(picks)
        if doubled == _MOST_TOGETHER:
            return


def _neighbors(known: LoweredCombinations, starts: Sequence[Start]) -> Iterator[tuple[int, Picks]]:
    """Yield combinations: all one change away from the first start, then by turns further.

    By turns one more step away from the first start, hardware first, and one change away
    from another start; at last whatever is left.
    """
    selects = known.selects
    everywhere = range(len(selects))
    hardware = [i for i in everywhere if selects[i].counts]
    first, *others = starts
    yield from _changed(selects, first, combinations(everywhere, 1))
    near = chain(
        _changed(selects, first, combinations(hardware, 2)),
        _changed(selects, first, combinations(_relevant(known), 2)),
    )
    far = chain.from_iterable(
        _changed(selects, start, combinations(everywhere, 1)) for start in others
    )
    for pair in zip_longest(near, far):
        yield from (pick for pick in pair if pick is not None)
    for distance in range(2, len(selects) + 1):
        for start in starts:
            yield from _changed(selects, start, combinations(_relevant(known), distance))


def _relevant(known: LoweredCombinations) -> Sequence[int]:
    """Return the selects that distinguish several changes from fewer: what anything requests.

    Without what nothing requests, a combination is nearer to the start, and so it is known. Of
    those that cannot be it is not known what they request.
    """
    if known.unfit:
        return range(len(known.selects))
    return sorted(frozenset().union(*(variant.relevant for variant in known.variants)))


def _changed(
    selects: Sequence[Select], start: Start, which: Iterable[tuple[int, ...]]
) -> Iterator[tuple[int, Picks]]:
    """Yield every combination that differs from a start in some selects."""
    for indices in which:
        others = [
            [c for c in range(len(selects[i].choices)) if c != start.picks[i]] for i in indices
        ]
        for choices in product(*others):
            picks = list(start.picks)
            for index, choice in zip(indices, choices, strict=True):
                picks[index] = choice
            yield start.shape, tuple(picks)
