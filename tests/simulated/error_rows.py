"""Rows of errors: what 19 in 20 of the numbers of some methods are within, of numbers given.

Methods whose numbers are further off, or less, than all that is left come apart first, those by
which most is gained. What holds of 19 in 20 of all may hold less often of those in which one method
has a part: that has a row of its own before all others.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from math import ceil, inf, log

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.stats import binom

from qps.compiler.quantities.certainty import MOST_STATED
from qps.compiler.quantities.measured_errors import (
    ErrorAxis,
    ErrorRow,
    Errors,
)
from simulated.error_tree import LIMITS, Statement, Tree, at_most, statements_of
from simulated.number_errors import FURTHEST, Off, networks_of

_HELD, _CONFIDENCE = 0.95, 0.75
_STEPS = (
    0.05,
    0.1,
    0.15,
    0.2,
    0.25,
    0.3,
    0.4,
    0.5,
    0.6,
    0.8,
    1.0,
    2.0,
    5.0,
)
"""What errors are rounded up to: above a factor of two none is stated."""
FEWEST, FEWEST_OF_ALL = 20, 5
"""In so many networks methods have a part, at least, that hold too seldom; that are in any row."""
FEWEST_STATED = 28
"""Fewer networks tell no error, with the confidence that is asked for."""
FEWEST_APART = 10
"""So few may stand apart, as of them nothing is stated then: others are nearer without them."""
_LEAST_GAIN = 5.0
"""So much less must the loss be by a row, that it is one."""
_UNSTATED = 1000.0
"""A number of which no error is stated counts as if it were off by as much."""
_FEWEST_SURE, _SURE = 4, 0.02
"""In so few networks they have a row of their own where so many fail hardly ever by chance."""
_DOUBTED, _FEWEST_HOLD = 0.2, 0.9
"""Less probable than that by chance, or fewer numbers that hold: a method has a row of its own."""
_FINER = tuple(
    frozenset(limits)
    for axes in (
        (ErrorAxis.METHODS,),
        (ErrorAxis.WAITING,),
        (ErrorAxis.UTILIZATION,),
        (ErrorAxis.RARITY,),
        (ErrorAxis.METHODS, ErrorAxis.WAITING),
        (ErrorAxis.METHODS, ErrorAxis.UTILIZATION),
        (ErrorAxis.WAITING, ErrorAxis.UTILIZATION),
    )
    for limits in product(*([(axis, most) for most in LIMITS[axis]] for axis in axes))
)
"""What rows are made finer by: one limit, or one on each of two axes."""


def with_finer(rows: Sequence[ErrorRow], numbers: list[Off], least: float) -> Iterator[ErrorRow]:
    """Yield rows, and before each those of numbers it counts for that are off by less.

    These are of fewer methods, of less queueing delay or of less utilization. What is left must
    still hold by the row, and each method by both together.
    """
    of_each = defaultdict[int, list[Off]](list)
    for one in numbers:
        of_each[next(at for at, row in enumerate(rows) if row.holds(one.methods, one.point))] += [
            one
        ]
    for at, row in enumerate(rows):
        left = of_each[at]
        while (found := _finer(row, left, least)) is not None:
            within = [one for one in left if found.holds(one.methods, one.point)]
            yield from with_finer([found], within, least)
            left = [one for one in left if not found.holds(one.methods, one.point)]
        yield row


def _finer(row: ErrorRow, numbers: list[Off], least: float) -> ErrorRow | None:
    """Return the row before another by which most is gained; None where it is too little."""
    best, gain = None, _LEAST_GAIN
    states = row.error or _UNSTATED
    doubted = _doubted([(one, one.off <= states) for one in numbers])
    for limits in _FINER:
        if any(row.at_most.get(axis, inf) <= most for axis, most in limits):
            continue
        within = replace(row, at_most={**row.at_most, **dict(limits)})
        parts = defaultdict[bool, list[Off]](list)
        for one in numbers:
            parts[within.holds(one.methods, one.point)].append(one)
        error = max(least, stated(parts[True]))
        gained = len(parts[True]) * log(states / error) if error <= MOST_STATED else 0.0
        held = [(one, one.off <= error) for one in parts[True]]
        left = [(one, one.off <= states) for one in parts[False]]
        if gained > gain and not hold_too_seldom(left) and _doubted([*held, *left]) <= doubted:
            found = row_of(parts[True], frozenset(limits))
            best, gain = (
                replace(found, methods=row.methods, error=error, at_most=within.at_most),
                gained,
            )
    return best


def _doubted(holding: list[tuple[Off, bool]]) -> set[str]:
    """Return the methods whose numbers hold too seldom, of those in enough networks."""
    return {
        name
        for name, each in networks_by_method(one for one, _ in holding).items()
        if len(each) >= FEWEST
        and hold_too_seldom([(one, held) for one, held in holding if name in one.methods])
    }


def of_rare_calls(numbers: list[Off], least: float) -> Iterator[ErrorRow]:
    """Yield the rows of streams that call rarely, of large shares first; none of too few."""
    left = [one for one in numbers if one.calls_rarely]
    for most in (*LIMITS[ErrorAxis.RARITY], inf):
        limit = frozenset({(ErrorAxis.RARITY, most)} if most < inf else {})
        large = [one for one in left if one.point.get(ErrorAxis.RARITY, inf) <= most]
        row = row_of(large, limit)
        if row.error is not None:
            row = replace(row, error=max(least, row.error))
        found = list(with_finer([row], large, least))
        yield from (one for one in found if one.error is not None)
        left = [one for one in left if not any(row.holds(one.methods, one.point) for row in found)]


def errors_of(numbers: Iterable[Off], least: float = _STEPS[0]) -> Errors:
    """Return the list of one quantity, of which no error is stated below the `least`."""
    left = list(numbers)
    networks = networks_by_method(left)
    known = frozenset(name for name, each in networks.items() if len(each) >= FEWEST_OF_ALL)
    every = [one for one in left if one.methods <= known]
    left = [one for one in every if not one.calls_rarely]
    rows, at_points = _not_below(least, _rows(left)), rows_at_points(least, left)
    return Errors(
        methods=known,
        rows=tuple(with_own_rows(rows, left, partial(own_row, least))),
        at_points=tuple(
            with_own_rows(at_points, numbers_at_points(left), partial(rows_at_points, least))
        ),
        rare_calls=tuple(of_rare_calls(every, least)),
    )


def networks_by_method(numbers: Iterable[Off]) -> dict[str, set[int]]:
    found = defaultdict[str, set[int]](set)
    for one in numbers:
        for method in one.methods:
            found[method].add(one.network)
    return found


def _not_below(least: float, rows: Iterable[ErrorRow]) -> Iterator[ErrorRow]:
    for one in rows:
        yield one if one.error is None else replace(one, error=max(least, one.error))


def with_own_rows(
    rows: Iterable[ErrorRow], numbers: list[Off], rows_of: Callable[[list[Off]], Iterable[ErrorRow]]
) -> list[ErrorRow]:
    """Return rows, and before them `rows_of` each method whose numbers hold too seldom by these.

    The first is that whose numbers do most seldom, and so on as long as there is any.
    """
    own, others = dict[str, list[ErrorRow]](), list(rows)
    while True:
        every = [row for each in own.values() for row in each] + others
        holding = [(one, holds(one, every)) for one in numbers]
        doubts = {
            method: _doubt(of_it)
            for method, each in networks_by_method(numbers).items()
            if method not in own and len(each) >= _FEWEST_SURE
            for of_it in [[(n, held) for n, held in holding if method in n.methods]]
            if (len(each) >= FEWEST and hold_too_seldom(of_it)) or _doubt(of_it) <= _SURE
        }
        worst = min(doubts, key=lambda one: (doubts[one], one), default=None)
        if worst is None:
            return every
        of_it = rows_of([one for one in numbers if worst in one.methods])
        own[worst] = [replace(row, methods=row.methods | {worst}) for row in of_it]
        # Where methods of several have a part, that counts which is off by most.
        own = dict(sorted(own.items(), key=lambda one: -_largest(one[1])))


def _largest(rows: Iterable[ErrorRow]) -> float:
    return max(inf if one.error is None else one.error for one in rows)


def holds(one: Off, rows: Iterable[ErrorRow]) -> bool:
    """Return whether a number is as near as the first row says that counts for it."""
    error = next((row.error for row in rows if row.holds(one.methods, one.point)), None)
    return error is None or one.off <= error


def hold_too_seldom(numbers: Sequence[tuple[Off, bool]]) -> bool:
    many = sum(held for _, held in numbers) >= _FEWEST_HOLD * len(numbers)
    return not many or _doubt(numbers) <= _DOUBTED


def _doubt(numbers: Iterable[tuple[Off, bool]]) -> float:
    """Return how probably so many do not hold of a method of which 19 in 20 do.

    Networks count: each as the share of its numbers that do not.
    """
    each = defaultdict[int, list[bool]](list)
    for one, held in numbers:
        each[one.network].append(held)
    failing = sum(1 - sum(held) / len(held) for held in each.values())
    return float(binom.sf(ceil(failing) - 1, len(each), 1 - _HELD))


def numbers_at_points(numbers: Iterable[Off]) -> list[Off]:
    return [one for one in numbers if one.point]


def own_row(least: float, numbers: list[Off]) -> Iterator[ErrorRow]:
    return _not_below(least, [row_of(numbers, frozenset())])


def rows_at_points(least: float, numbers: list[Off]) -> Iterator[ErrorRow]:
    """Yield the rows of numbers of which the operating point is known, of large shares first."""
    left = numbers_at_points(numbers)
    for most in LIMITS[ErrorAxis.RARITY]:
        large = [one for one in left if one.point.get(ErrorAxis.RARITY, inf) <= most]
        rest = [one for one in left if one.point.get(ErrorAxis.RARITY, inf) > most]
        if min(len(networks_of(large)), len(networks_of(rest))) < FEWEST_STATED:
            continue
        for row in _rows_of_tree(least, large):
            yield replace(row, at_most={**row.at_most, ErrorAxis.RARITY: most})
        left = rest
    yield from _rows_of_tree(least, left)


def _rows_of_tree(least: float, known: list[Off]) -> Iterator[ErrorRow]:
    each = [statements_of(one.methods, one.point) for one in known]
    if not known:
        return
    every = sorted(frozenset().union(*each), key=str)

    def of(members: NDArray[np.int64]) -> list[Off]:
        return [known[one] for one in members]

    tree = Tree(
        statements=every,
        holds=np.array([[one in result for one in every] for result in each]),
        networks=np.array([one.network for one in known]),
        length=lambda members: _length(of(members), least),
        error=lambda members: stated(of(members)),
        fewest=FEWEST_STATED,
        fewest_apart=FEWEST_APART,
        least_gain=_LEAST_GAIN,
    )
    leaves = tree.leaves(np.arange(len(known)))
    yield from _not_below(least, (row_of(of(one.members), one.statements) for one in leaves))


def row_of(numbers: list[Off], statements: frozenset[Statement]) -> ErrorRow:
    error = stated(numbers)
    return ErrorRow(
        methods=frozenset(one for one in statements if isinstance(one, str)),
        error=None if error > MOST_STATED else error,
        numbers=len(numbers),
        networks=len(networks_of(numbers)),
        at_most=at_most(statements),
    )


def _rows(left: list[Off]) -> Iterator[ErrorRow]:
    while left:
        whole = _length(left)
        best, gain = None, _LEAST_GAIN
        for methods in _candidates(left):
            inside = [one for one in left if methods <= one.methods]
            outside = [one for one in left if not methods <= one.methods]
            apart, others = len(networks_of(inside)), len(networks_of(outside))
            if apart < FEWEST_APART or others < FEWEST_STATED:
                continue
            gained = whole - _length(inside) - _length(outside)
            if gained > gain:
                best, gain = methods, gained
        inside = [one for one in left if best is None or best <= one.methods]
        left = [] if best is None else [one for one in left if not best <= one.methods]
        yield row_of(inside, best or frozenset())


def _candidates(numbers: Iterable[Off]) -> list[frozenset[str]]:
    """Return single methods and pairs of them, the most frequent first."""
    often = Counter[frozenset[str]]()
    for one in numbers:
        methods = sorted(one.methods)
        often.update(frozenset({method}) for method in methods)
        often.update(map(frozenset, combinations(methods, 2)))
    return [methods for methods, count in often.most_common() if count >= FEWEST_APART]


def _length(numbers: list[Off], least: float = 0.0) -> float:
    """Return how badly an error tells of numbers: the quantile loss of its logarithm.

    It is the less the smaller the error is; what is further off counts twenty times as much as it
    is. So the numbers of a method that are often further off than all others stand apart, too.
    """
    error = max(least, stated(numbers))
    if error > MOST_STATED:
        return len(numbers) * log(_UNSTATED)
    beyond = sum(log(min(FURTHEST, one.off) / error) for one in numbers if one.off > error)
    return len(numbers) * log(error) + beyond / (1 - _HELD)


def stated(numbers: list[Off]) -> float:
    """Return the error that is stated of such numbers: infinite where they are too few."""
    share = share_seen(len(networks_of(numbers)))
    if share is None:
        return inf
    off = float(np.quantile([one.off for one in numbers], share, method="higher"))
    return next((step for step in _STEPS if off <= step), inf)


def share_seen(networks: int) -> float | None:
    """Return which share of so many must lie within an error that 19 in 20 of all are within.

    It is the least order statistic that is above the quantile with the confidence asked for; None
    where even the largest of so few is not.

    >>> share_seen(27), share_seen(28), round(share_seen(1000), 3)
    (None, 1.0, 0.956)
    """
    if networks == 0 or _HELD**networks > 1 - _CONFIDENCE:
        return None
    rank = int(binom.ppf(_CONFIDENCE, networks, _HELD)) + 1
    return min(1.0, rank / networks)
