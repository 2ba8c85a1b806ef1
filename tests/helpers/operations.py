"""Cases for every row of the table of operations; `page_cases` has more of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise, product
from math import inf, nan
from typing import Any

from helpers.nightly import examples

ANY, POSITIVE, LOAD, LEVEL = (-5.0, 5.0), (0.1, 20.0), (0.0, 0.97), (0.5, 0.999)
FLOWS = (2.0, 60.0)
_MOST_CUSTOMERS = float(examples(40, least=12))
CUSTOMERS, STATION = (0.0, _MOST_CUSTOMERS), ((0.0, 2.0), (1.0, 5.0), (0.0, 0.9), (0.5, 3.5))
CLASSES = ((2.0, 2.0), (1.0, 1.0), (0.0, 8.0), (0.0, 6.0), POSITIVE, POSITIVE)
PLACE = ((1.0, 3.0), (0.1, 0.9), (1.0, 3.5), (0.1, 2.0), (0.1, 2.0))
_SPEED = ((-1.0, -1.0), (0.0, 0.0), (1.0, 2.0), (0.0, 0.0), (1.0, 1.0))
SHARED = (
    *((1.0, 1.0), (2.0, 2.0), (0.2, 2.0), (1.0, 1.0), POSITIVE, POSITIVE, (1.0, 2.0), (1.0, 2.0)),
    *((0.0, 0.0), (2.0, 2.0), (0.1, 0.9), (1.0, 1.0), (0.1, 2.0), (0.1, 2.0), POSITIVE, POSITIVE),
    *((-3.0, -3.0), (0.3, 2.0), (1.0, 1.0), (1.0, 1.0), (0.5, 2.0), (0.0, 1.0), LOAD, LOAD),
)
"""A pool of two classes, a station within, and a resource without a queue that is visited there."""
NESTED = (
    *((3.0, 3.0), (0.1, 2.0), (1.0, 3.0), (0.0, 1.2), (1.0, 2.0)),  # a pool, with three groups
    *((-2.0, -2.0), (0.1, 2.0), (1.0, 1.0), (0.0, 0.9), (1.0, 1.0)),
    *((0.0, 0.0), (0.1, 2.0), (0.5, 1.0), (0.0, 0.0), (1.0, 1.0), *_SPEED),
    *((0.0, 0.0), (0.1, 2.0), (2.0, 2.0), (0.0, 0.9), (1.0, 2.0)),
)
FORKED = (
    *((0.0, 0.0), (0.1, 2.0), (1.0, 3.0), (0.0, 0.9), (0.5, 3.5), (1.0, 3.0)),
    *((4.0, 4.0), *[(0.0, 0.0)] * 4, (0.3, 2.0)),  # two branches, each with a station
    *((-1.0, -1.0), (0.0, 2.0), *[(0.0, 0.0)] * 3, (0.2, 2.0)),
    *((0.0, 0.0), (0.1, 2.0), (1.0, 3.0), (0.0, 0.9), (0.5, 3.5), (1.0, 3.0)),
    *((-1.0, -1.0), (0.0, 2.0), *[(0.0, 0.0)] * 3, (0.2, 2.0)),
    *((0.0, 0.0), (0.1, 2.0), (1.0, 3.0), (0.0, 0.9), (0.5, 3.5), (1.0, 3.0)),
)
COUNTED = frozenset(
    (CUSTOMERS, STATION[1], STATION[3], CLASSES[2], CLASSES[3], PLACE[0], PLACE[2], FORKED[4])
)
"""Ranges of what networks count: customers, servers, copies."""
STAGE = (
    *(LEVEL, LOAD, POSITIVE, (0.25, 4.0), (1.0, 8.0)),  # who waits, and how long
    *(POSITIVE, (0.25, 4.0), (1.0, 3.0), (0.0, 0.0)),  # who is served, and how often
)

FORK = ((0.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.0, 1.0), (-1.0, -1.0), (0.0, 0.0), (0.0, 0.0))
"""What says that two branches are begun together, but for how often and how many."""
FORKED_STAGES = (*FORK, (0.2, 1.0), (2.0, 2.0), *STAGE[:7], (0.2, 1.0), (0.0, 0.0), *STAGE)

CASES: dict[str, tuple[tuple[float, float], ...]] = {
    "+": (ANY, ANY),
    "*": (ANY, ANY),
    "pow": (POSITIVE, ANY),
    "ratio": (ANY, POSITIVE),
    "mean": (ANY, POSITIVE),
    "waiting": (POSITIVE, (0.0, 1.4)),
    "max": (ANY, ANY),
    "min": (ANY, ANY),
    "abs": (ANY,),
    "sqrt": (POSITIVE,),
    "exp": (ANY,),
    "ln": (POSITIVE,),
    "cos": ((-12.0, 12.0),),
    "acos": ((-0.99, 0.99),),
    "floor": (ANY,),
    "ceil": (ANY,),
    "w": (POSITIVE,),
    "lower_w": ((-0.36, -0.001),),
    "effective": ((1.0, 64.0), (0.3, 1.2)),
    "harmonic": (POSITIVE,),
    "erlang_b": (FLOWS, POSITIVE),
    "erlang_c": (FLOWS, POSITIVE),
    "unlike_ratio": ((0.1, 9.0), (0.1, 60.0), (0.0, 3.0), (1.0, 40.0), LOAD),
    "unlike_share": ((0.1, 9.0), (0.1, 60.0), (0.5, 8.0), LOAD),
    "unlike_short": ((0.1, 9.0), (0.1, 60.0), LOAD),
    "unlike_long": ((0.1, 9.0), (0.1, 60.0), LOAD),
    "periodic_wait": (FLOWS, LOAD),
    "md1_tail": (LOAD, POSITIVE),
    "md1_quantile": (LOAD, LEVEL),
    "batch_quantile": (LOAD, LEVEL),
    "periodic_tail": (FLOWS, LOAD, POSITIVE),
    "periodic_quantile": (FLOWS, LOAD, LEVEL),
    "sojourn_quantile": (LEVEL, POSITIVE, LEVEL),
    "gamma_quantile": (LOAD, (0.25, 4.0), LEVEL),
    "stages_quantile": (LEVEL, *STAGE),
    "stages_tail": (POSITIVE, *STAGE),
    "order_level": (LEVEL, (1.0, 40.0), (0.0, 9.0)),
    "order_mean": ((1.0, 40.0), (0.0, 9.0), *STAGE),
    "order_quantile": (LEVEL, (1.0, 40.0), (0.0, 9.0), (1.0, 1.0), *STAGE, *STAGE),
    "order_tail": (POSITIVE, (1.0, 40.0), (0.0, 9.0), (1.0, 1.0), *STAGE, *STAGE),
    "fork_mean": FORKED_STAGES,
    "fork_quantile": (LEVEL, *FORKED_STAGES),
    "fork_tail": (POSITIVE, *FORKED_STAGES),
    "closed_rate": (CUSTOMERS, POSITIVE, *STATION),
    "closed_cycle": (CUSTOMERS, POSITIVE, *STATION, *STATION),
    "closed_quantile": ((0.5, 0.98), CUSTOMERS, POSITIVE, *STATION, (1.0, 4.0), (0.0, 0.0)),
    "closed_wait": (CUSTOMERS, POSITIVE, *STATION, *STATION),
    "mixed_wait": (CUSTOMERS, POSITIVE, *STATION, *STATION),
    "mixed_room": ((0.7, 0.99), CUSTOMERS, POSITIVE, *STATION, *STATION),
    "room_loss": ((1.0, 9.0), (0.5, 60.0), POSITIVE),
    "room_wait": ((1.0, 9.0), (0.5, 60.0), POSITIVE),
    "room_traffic": ((1.0, 3.0), (5.0, 60.0), (0.1, 0.6)),
    "room_quantile": ((2.0, 9.0), (10.0, 60.0), POSITIVE, LEVEL),
    "slowest": (POSITIVE, POSITIVE, (0.1, 9.0)),
    "burst_wait": (FLOWS, (0.05, 0.95), (0.001, 1.0)),
    "burst_quantile": (FLOWS, (0.05, 0.95), (0.001, 1.0), LEVEL),
    "uneven": ((0.0, 4.0), (0.01, 4.0), (0.01, 0.97)),
    "class_rate": (*CLASSES, *PLACE),
    "class_wait": (*CLASSES, *PLACE, *PLACE),
    "class_open_wait": (*CLASSES[:1], *CLASSES[2:], *PLACE, *PLACE),
    "class_quantile": (*CLASSES[:2], (0.5, 0.98), *CLASSES[2:], *PLACE, (0.3, 3.0), (0.0, 1.0)),
    "forked_rate": (CUSTOMERS, POSITIVE, *FORKED),
    "forked_time": ((1.0, 1.0), CUSTOMERS, POSITIVE, *FORKED),
    "forked_wait": ((0.0, 0.0), CUSTOMERS, POSITIVE, *FORKED),
    "nested_rate": ((0.0, 6.0), POSITIVE, *NESTED),
    "nested_time": ((0.0, 0.0), (0.0, 6.0), POSITIVE, *NESTED),
    "nested_wait": ((1.0, 1.0), (0.0, 6.0), POSITIVE, *NESTED),
    "shared_rate": (*CLASSES, *SHARED),
    "shared_time": (*CLASSES[:2], (0.0, 0.0), *CLASSES[2:], *SHARED),
    "shared_wait": ((2.0, 2.0), (1.0, 1.0), *CLASSES[2:], *SHARED),
    "normal_tail": (ANY,),
    "normal_quantile": (LEVEL,),
}
"""Between which numbers each operand of an operation has a value."""

OF_NETWORKS = tuple(
    word
    for word in CASES
    if word.startswith(("closed_", "class_", "nested_", "shared_", "forked_", "mixed_"))
)

_FEW, _SEVERAL, _MANY = 3, 5, 10

EDGES = (-inf, -2.0, -1.0, 0.0, 0.5, 1.0, 3.0, inf, nan)
"""Where poles, infinities and what is not real lie."""
POLES = (-1.0, 0.0, 1.0, inf)
"""Those of them that tell of two operands together what neither tells alone."""


def counted(word: str) -> list[bool]:
    """Return of which operands a network is told how many: these are mostly whole.

    One that is not asks for networks on both sides, and so do all others beside it.
    """
    return [word in OF_NETWORKS and one in COUNTED for one in CASES[word]]


def arguments_at_edges(word: str) -> Iterator[tuple[float, ...]]:
    """Yield the arguments of an operation that are edges; of many operands, two at a time."""
    return some_of(EDGES, [(low + high) / 2 for low, high in CASES[word]], POLES)


def some_of(
    choices: Sequence[Any], others: Sequence[Any], poles: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield choices for each operand; of more than three for two, with the `others` beside.

    Of more than five each choice for one, and the `poles` for two; of very many, for two that
    follow each other.
    """
    if len(others) <= _FEW:
        yield from product(choices, repeat=len(others))
        return
    if len(others) > _SEVERAL:
        for place in range(len(others)):
            yield from _with(others, [place], choices)
    places_of_two = combinations(range(len(others)), 2)
    for places in pairwise(range(len(others))) if len(others) > _MANY else places_of_two:
        yield from _with(others, places, choices if len(others) <= _SEVERAL else poles)


def _with(
    others: Sequence[Any], places: Sequence[int], choices: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    for some in product(choices, repeat=len(places)):
        at = list(others)
        for place, one in zip(places, some, strict=True):
            at[place] = one
        yield tuple(at)
