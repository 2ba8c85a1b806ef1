"""What to add by when: the cheapest configurations of all months that keep what was bought.

In each month the configuration has to support the users that are expected, and has at least the
machines of the month before: of a place the same type, and as many or more. Without that, each
month has its own cheapest configuration, which bounds the cost of all plans from below. Where two
months contradict each other, the type of a place or the number of its machines is divided into
cases, of which each is bounded alike (branch and bound; Land and Doig 1960). So the first plan
without a contradiction is the cheapest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from math import inf

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.quantities.calendar_dates import CalendarDate
from qps.compiler.quantities.dimension import MONEY, TIME, Dimension
from qps.solver.answers.answer_parts import MONTH
from qps.solver.cheapest.branch_and_bound import Chosen
from qps.solver.cheapest.cheapest_configuration import DesignRequest, cheapest
from qps.solver.cheapest.design_space import machines_of
from qps.solver.cheapest.lowered_space import LoweredSpace
from qps.solver.cheapest.search_record import CheapestSearch

MOST_CASES = 300
"""Cases that are bounded before the gap is stated."""
_ALIKE = 1e-9

Level = tuple[object, Fraction]
"""What an option is of, and how much of that: more can be added, nothing else."""
Allowed = tuple[tuple[int, frozenset[int]], ...]


class PurchaseMonth(Struct, frozen=True, kw_only=True):
    """A month: the users that are expected, and all configurations to choose from in it."""

    date: CalendarDate
    users: int
    lowered: LoweredSpace
    choices: ir.DesignChoices


class Purchases(Struct, frozen=True, kw_only=True):
    """What stands in each month, what that costs then and in all, and what no plan costs less than.

    `returnable` is the cost of the cheapest configuration of each month. Without `chosen`, no plan
    was found; then there is none if `bound` is infinite.
    """

    chosen: tuple[Chosen, ...] | None
    costs: tuple[float, ...]
    total: float
    bound: float
    returnable: float
    dimension: Dimension

    @property
    def is_proven(self) -> bool:
        """Whether no plan costs less, or there is none."""
        return self.bound >= self.total * (1 - _ALIKE)


class _Case(Struct, frozen=True, kw_only=True):
    """Options that are allowed in each month, and the cheapest configuration of each then."""

    allowed: tuple[tuple[frozenset[int], ...], ...]
    found: tuple[CheapestSearch, ...]
    bound: float


def purchases(months: Sequence[PurchaseMonth]) -> Purchases:
    """Return the cheapest plan for some months."""
    return _Search(months).result()


class _Search:
    """Cases of a plan, those first that may be cheapest."""

    def __init__(self, months: Sequence[PurchaseMonth]) -> None:
        self.months = months
        first = months[0].lowered
        self.levels = [_levels(first, axis) for axis in range(len(first.space.axes))]
        is_once = first.dimension == MONEY
        # A purchase is paid once, whenever it is; running costs in each month.
        self.weights = [0.0 if is_once else MONTH for _ in months]
        self.weights[-1] = 1.0 if is_once else MONTH
        self.dimension = first.dimension if is_once else first.dimension * TIME
        self._known: dict[tuple[int, int, Allowed], CheapestSearch] = {}
        self._sizes = [len(axis.options) for axis in first.space.axes]
        self._is_open = False

    def result(self) -> Purchases:
        """Return the cheapest plan, or the best one found with what bounds all others."""
        every = tuple(frozenset(range(size)) for size in self._sizes)
        first = self._case([every] * len(self.months))
        best, total = self._of_dearest_types(first)
        heap = [(first.bound, 0, first)]
        count, bound = 1, first.bound
        while heap:
            bound, _, case = heap[0]
            if bound >= total * (1 - _ALIKE) or count > MOST_CASES:
                break
            heappop(heap)
            conflict = self._conflict(case)
            if conflict is None:
                best, total = case.found, bound
                break
            for allowed in self._divided(case, *conflict):
                count += 1
                inner = self._case(allowed)
                if inner.bound < total * (1 - _ALIKE):
                    heappush(heap, (inner.bound, count, inner))
        else:
            bound = total
        return Purchases(
            chosen=None if best is None else tuple(map(_configuration, best)),
            costs=() if best is None else tuple(one.cost for one in best),
            total=total,
            bound=-inf if self._is_open else min(bound, total),
            returnable=first.bound,
            dimension=self.dimension,
        )

    def _case(self, allowed: Sequence[tuple[frozenset[int], ...]]) -> _Case:
        found = tuple(self._cheapest(month, own) for month, own in enumerate(allowed))
        both = zip(self.weights, found, strict=True)
        is_impossible = any(one.found is None for one in found)
        self._is_open |= any(one.found is None and not one.is_complete for one in found)
        bound = inf if is_impossible else sum(weight * one.cost for weight, one in both)
        return _Case(allowed=tuple(allowed), found=found, bound=bound)

    def _cheapest(self, at: int, allowed: tuple[frozenset[int], ...]) -> CheapestSearch:
        """Return the cheapest configuration of a month, which months that are alike share."""
        month = self.months[at]
        limited = tuple(
            (axis, own) for axis, own in enumerate(allowed) if len(own) < self._sizes[axis]
        )
        key = id(month.lowered), month.users, limited
        if key not in self._known:
            request = DesignRequest(
                lowered=month.lowered, choices=month.choices, users=month.users, allowed=limited
            )
            self._known[key] = (
                cheapest(request)
                if all(allowed)
                else CheapestSearch(
                    found=None,
                    cost=inf,
                    is_complete=True,
                    dimension=month.lowered.dimension,
                    boxes=0,
                    tried=0,
                )
            )
        return self._known[key]

    def _of_dearest_types(self, case: _Case) -> tuple[tuple[CheapestSearch, ...] | None, float]:
        """Return a plan with the types of the dearest month, which adds what each month takes.

        None where that fails.
        """
        if case.bound == inf:
            return None, inf
        dearest = _configuration(max(case.found, key=lambda one: one.cost))
        kinds = [self.levels[axis][option][0] for axis, option in enumerate(dearest)]
        last: list[Fraction | None] = [None] * len(kinds)
        plan: list[CheapestSearch] = []
        total = 0.0
        for at, weight in enumerate(self.weights):
            allowed = tuple(
                frozenset(
                    option
                    for option, (kind, level) in enumerate(self.levels[axis])
                    if kind == kinds[axis] and (least is None or level >= least)
                )
                for axis, least in enumerate(last)
            )
            found = self._cheapest(at, allowed)
            if found.found is None:
                return None, inf
            plan.append(found)
            total += weight * found.cost
            last = [self.levels[axis][option][1] for axis, option in enumerate(found.found)]
        return tuple(plan), total

    def _conflict(self, case: _Case) -> tuple[int, int] | None:
        """Return the first month and axis of which the next month has less, or something else."""
        chosen = [_configuration(one) for one in case.found]
        for at, (now, then) in enumerate(pairwise(chosen)):
            for axis, (one, other) in enumerate(zip(now, then, strict=True)):
                (kind, level), (next_kind, next_level) = (
                    self.levels[axis][option] for option in (one, other)
                )
                if kind != next_kind or level > next_level:
                    return at, axis
        return None

    def _divided(
        self, case: _Case, at: int, axis: int
    ) -> Iterator[list[tuple[frozenset[int], ...]]]:
        """Yield cases of which one holds in each plan: each without the contradiction."""
        levels = self.levels[axis]
        kinds = dict.fromkeys(levels[option][0] for own in case.allowed for option in own[axis])
        if len(kinds) > 1:
            for kind in kinds:
                same = frozenset(o for o, level in enumerate(levels) if level[0] == kind)
                yield [_limited(own, axis, same) for own in case.allowed]
            return
        most = levels[_configuration(case.found[at + 1])[axis]][1]
        few = frozenset(option for option, level in enumerate(levels) if level[1] <= most)
        many = frozenset(range(len(levels))) - few
        yield [
            _limited(own, axis, few) if month <= at else own
            for month, own in enumerate(case.allowed)
        ]
        yield [
            _limited(own, axis, many) if month > at else own
            for month, own in enumerate(case.allowed)
        ]


def _limited(
    allowed: tuple[frozenset[int], ...], axis: int, options: frozenset[int]
) -> tuple[frozenset[int], ...]:
    return (*allowed[:axis], allowed[axis] & options, *allowed[axis + 1 :])


def _configuration(search: CheapestSearch) -> Chosen:
    assert search.found is not None, "a case with a bound has a configuration in each month"
    return search.found


def _levels(lowered: LoweredSpace, axis: int) -> list[Level]:
    """Return of what each option of an axis is, and how much of it.

    What nothing is paid for, such as an alternative of the software, can change in each month.
    """
    own = lowered.space.axes[axis]
    paid: set[str] = set()
    for structure in lowered.structures:
        in_cost = structure.cost.symbols
        paid |= {name for name, one in structure.symbols.items() if one in in_cost}
    return [_level(option.change, option.numbers, paid) for option in own.options]


def _level(change: ir.Change, numbers: Mapping[str, Fraction], paid: set[str]) -> Level:
    match change:
        case ir.SetPlace(name=name, kind=kind, count=count):
            number = count.value if isinstance(count, ir.Constant) else Fraction(0)
            rest = None if isinstance(count, ir.Constant) else repr(count)
            return (kind, rest), numbers.get(machines_of(name), number)
        case ir.SetParameter(name=name) if name in paid:
            return name, numbers[name]
    return None, Fraction(0)
