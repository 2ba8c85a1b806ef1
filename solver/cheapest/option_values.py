"""What each option of a choice comes to: bounds of the parts that depend on it, as arrays."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from qps.engine.evaluators.row_bounds import Bounds
from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.sloped_intervals import above, below
from qps.solver.cheapest.design_formulas import DesignFormulas, LoweredStructure, SampledCriteria
from qps.solver.cheapest.design_space import DesignAxis, DesignSpace
from qps.solver.cheapest.part_values import (
    BoundedFormula,
    BoundedFormulas,
    Ints,
    KnownArrays,
    PartValues,
)
from qps.solver.cheapest.sampled_requirements import SampledRequirement
from qps.solver.cheapest.separable_parts import ChoicePart, SeparableParts
from qps.solver.search.box_arrays import BoxArrays

_DRAWN = -1
"""The axis of parts that rest on what is drawn alone."""


@dataclass(frozen=True, kw_only=True)
class PartRequirement:
    """A requirement on parts: above zero where it fails, with `strict` at zero too."""

    name: str
    over: Formula
    strict: bool


@dataclass(frozen=True, kw_only=True)
class SearchProblem:
    """A structure as a search: options by axis, the values of parts, requirements and cost.

    `options` has for each axis which options of the design space are left.
    """

    options: tuple[Ints, ...]
    parts: tuple[PartValues, ...]
    requirements: tuple[PartRequirement, ...]
    sampled: tuple[SampledRequirement, ...] = ()
    cost: Formula
    known: KnownArrays = field(default_factory=dict)

    @property
    def size(self) -> float:
        """How many configurations are left."""
        return float(np.prod([float(one.size) for one in self.options]))

    def bounded(self, formula: Formula) -> BoundedFormula:
        """Return a formula with the options that are left; its arrays are made once."""
        return BoundedFormula(formula, self.parts, self.known)

    def bounded_together(self, requirements: Sequence[PartRequirement]) -> BoundedFormulas:
        """Return some requirements with the options that are left."""
        return BoundedFormulas([one.over for one in requirements], self.parts, self.known)

    @cached_property
    def axes(self) -> dict[Formula, int]:
        """The axis of each part."""
        return {one.symbol: one.axis for one in self.parts}

    def axes_of(self, formula: Formula) -> set[int]:
        """Return the axes on which a formula depends."""
        return {self.axes[one] for one in formula.symbols if one in self.axes}

    def without(self, requirements: Collection[PartRequirement]) -> SearchProblem:
        """Return the same without some requirements: those that hold whatever is chosen."""
        left = {id(one) for one in requirements}
        others = tuple(one for one in self.requirements if id(one) not in left)
        return replace(self, requirements=others)

    def with_options(self, axis: int, places: Ints) -> SearchProblem:
        """Return the same with some of the options of an axis alone, in this order."""
        options = list(self.options)
        options[axis] = options[axis][places]
        parts = tuple(p.take(places) if p.axis == axis else p for p in self.parts)
        return replace(self, options=tuple(options), parts=parts)


class SearchProblems:
    """The structures of a design space as searches, each made once for what was looked for last."""

    def __init__(self, space: DesignSpace) -> None:
        self._space = space
        self._last: tuple[int, tuple[tuple[str, Formula], ...]] | None = None
        self._known: dict[tuple[int, ...], SearchProblem | None] = {}
        self._options: dict[tuple[int, ...], _StructureOptions] = {}
        self._parts: dict[tuple[int, ...], _StructureParts] = {}

    def of(
        self, lowered: LoweredStructure, users: int, relaxed: Sequence[tuple[str, Formula]]
    ) -> SearchProblem | None:
        """Return a structure as a search for a population, with numbers that are `relaxed`.

        It has all options; None where an axis has none.
        """
        if self._last is None or self._last[0] != users:
            self._parts.clear()
        if self._last != (users, tuple(relaxed)):
            self._last = users, tuple(relaxed)
            self._known.clear()
        structure = lowered.structure
        if structure not in self._known:
            formulas = lowered.formulas(users, dict(relaxed))
            if structure not in self._options:
                self._options[structure] = _options_of(self._space, formulas)
            if structure not in self._parts:
                self._parts[structure] = _StructureParts(_axis_of(self._space, formulas))
            own, parts = self._options[structure], self._parts[structure]
            self._known[structure] = _search_problem(parts, formulas, own)
        return self._known[structure]


_StructureOptions: TypeAlias = tuple[tuple[Ints, ...], list[dict[Formula, Bounds]]]
"""The options of each axis in a structure, and their numbers."""


def _options_of(space: DesignSpace, formulas: DesignFormulas) -> _StructureOptions:
    options = tuple(
        np.array(
            [
                at
                for at, one in enumerate(axis.options)
                if one.structure == structure and one.is_possible
            ],
            dtype=np.int64,
        )
        for axis, structure in zip(space.axes, formulas.structure, strict=True)
    )
    if not all(own.size for own in options):
        return options, []
    both = zip(space.axes, options, strict=True)
    return options, [_inputs(axis, own, formulas.symbols) for axis, own in both]


class _StructureParts:
    """The parts of a structure at a population: those of relaxed requirements are the same."""

    def __init__(self, axis_of: Mapping[Formula, int]) -> None:
        self.axis_of = axis_of
        self.separable = SeparableParts(axis_of=axis_of)
        self._values: dict[Formula, PartValues] = {}

    def values(
        self, over: Iterable[Formula], numbers: Sequence[Mapping[Formula, Bounds]]
    ) -> list[PartValues]:
        """Return the values of the parts in some formulas, which are made of them."""
        used = frozenset[Formula]().union(*(one.symbols for one in over))
        parts = [one for one in self.separable.parts.values() if one.symbol in used]
        new = [one for one in parts if one.symbol not in self._values]
        self._values |= {one.symbol: one for one in _values_of(new, lambda axis: numbers[axis])}
        return [self._values[one.symbol] for one in parts]


def _axis_of(space: DesignSpace, formulas: DesignFormulas) -> dict[Formula, int]:
    """Return the axis on which each number that is chosen depends."""
    return {
        formulas.symbols[name]: at
        for at, axis in enumerate(space.axes)
        for option in axis.options
        for name in option.numbers
        if name in formulas.symbols
    }


def _search_problem(
    known: _StructureParts, formulas: DesignFormulas, own: _StructureOptions
) -> SearchProblem | None:
    options, values = own
    if not values:
        return None
    axis_of, separable = known.axis_of, known.separable
    cost = separable.separated(formulas.cost)
    separated: dict[tuple[Formula, bool], PartRequirement] = {}
    for one in formulas.criteria:
        over = separable.separated(one.over)
        separated.setdefault(
            (over, one.strict), PartRequirement(name=one.name, over=over, strict=one.strict)
        )
    overs = [cost, *(one.over for one in separated.values())]
    parts = known.values(overs, values)
    sampled = []
    for place, criteria in enumerate(formulas.sampled):
        requirement, more = _sampled(criteria, axis_of, options, values, f"part of {place + 1}:")
        sampled.append(requirement)
        parts += more
    return SearchProblem(
        options=options,
        parts=tuple(parts),
        requirements=tuple(sorted(separated.values(), key=lambda one: len(one.over.symbols))),
        sampled=tuple(sampled),
        cost=cost,
    )


def _sampled(
    sampled: SampledCriteria,
    axis_of: Mapping[Formula, int],
    options: tuple[Ints, ...],
    values: Sequence[Mapping[Formula, Bounds]],
    prefix: str,
) -> tuple[SampledRequirement, list[PartValues]]:
    """Return a requirement with a certainty, and the parts of choices by which it is compared."""
    together = SeparableParts(axis_of=axis_of, prefix=f"sampled {prefix}")
    overs = dict.fromkeys((together.separated(one.over), one.strict) for one in sampled.criteria)
    both = {**axis_of, **dict.fromkeys(sampled.draws, _DRAWN)}
    separable = SeparableParts(axis_of=both, prefix=prefix)
    apart = dict.fromkeys(separable.separated(one.over) for one in sampled.criteria)
    drawn = {symbol: Bounds(own, own) for symbol, own in sampled.draws.items()}
    parts = _values_of(
        separable.parts.values(), lambda axis: drawn if axis == _DRAWN else values[axis]
    )
    requirement = SampledRequirement(
        name=sampled.name,
        overs=tuple(overs),
        parts=tuple(together.parts.values()),
        options=options,
        inputs=tuple(values),
        draws=sampled.draws,
        count=next(iter(sampled.draws.values())).size,
        may_fail=sampled.may_fail,
        apart=tuple(apart),
        drawn=tuple(one for one in parts if one.axis == _DRAWN),
    )
    return requirement, [one for one in parts if one.axis != _DRAWN]


def _inputs(
    axis: DesignAxis, options: Ints, symbols: Mapping[str, Formula]
) -> dict[Formula, Bounds]:
    """Return the numbers of the options of an axis, by their symbols."""
    chosen = [axis.options[at].numbers for at in options]
    names = [name for name in chosen[0] if name in symbols]
    return {symbols[name]: _bounds(one[name] for one in chosen) for name in names}


def _bounds(numbers: Iterable[Fraction]) -> Bounds:
    ends = [
        (near, near) if (near := float(one)) == one else (below(near), above(near))
        for one in numbers
    ]
    low, high = np.array(ends, dtype=float).T
    return Bounds(low, high)


def _values_of(
    parts: Iterable[ChoicePart], inputs_of: Callable[[int], Mapping[Formula, Bounds]]
) -> list[PartValues]:
    """Return the values of parts, from the numbers of the options of each axis.

    Those of one axis are bounded together: what they share is bounded once.
    """
    by_axis: dict[int, list[ChoicePart]] = {}
    for part in parts:
        by_axis.setdefault(part.axis, []).append(part)
    return [
        one for axis, own in by_axis.items() for one in _values_on_axis(axis, own, inputs_of(axis))
    ]


def _values_on_axis(
    axis: int, parts: Sequence[ChoicePart], inputs: Mapping[Formula, Bounds]
) -> Iterator[PartValues]:
    used = frozenset[Formula]().union(*(one.part.symbols for one in parts))
    symbols = [one for one in inputs if one in used]
    first, *others = (one.part for one in parts)
    arrays = BoxArrays(first, *symbols, others=others)
    bounds = arrays.bounds_of_each(*(inputs[one] for one in symbols))
    for part, found in zip(parts, bounds, strict=True):
        low = np.where(np.isnan(found.low), -np.inf, found.low)
        high = np.where(np.isnan(found.high), np.inf, found.high)
        yield PartValues(axis=axis, symbol=part.symbol, low=low, high=high)
