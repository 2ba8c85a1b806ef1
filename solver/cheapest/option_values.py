"""What each option of a choice comes to: bounds of the parts that depend on it, as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from qps.engine.evaluators.on_bounds import Bounds
from qps.engine.expressions.formulas import Formula
from qps.engine.numerics.sloped_intervals import above, below
from qps.solver.cheapest.design_formulas import DesignFormulas
from qps.solver.cheapest.design_space import DesignAxis, DesignSpace
from qps.solver.cheapest.separable_parts import ChoicePart, SeparableParts
from qps.solver.search.box_arrays import BoxArrays

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class PartValues:
    """Bounds of a part for each option that is left of its choice."""

    axis: int
    symbol: Formula
    low: Floats
    high: Floats

    def take(self, options: Ints) -> PartValues:
        """Return the values of some options."""
        return PartValues(
            axis=self.axis, symbol=self.symbol, low=self.low[options], high=self.high[options]
        )


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
    cost: Formula

    @property
    def size(self) -> float:
        """How many configurations are left."""
        return float(np.prod([float(one.size) for one in self.options]))

    def with_options(self, axis: int, places: Ints) -> SearchProblem:
        """Return the same with some of the options of an axis alone, in this order."""
        options = list(self.options)
        options[axis] = options[axis][places]
        return SearchProblem(
            options=tuple(options),
            parts=tuple(p.take(places) if p.axis == axis else p for p in self.parts),
            requirements=self.requirements,
            cost=self.cost,
        )


def search_problem(space: DesignSpace, formulas: DesignFormulas) -> SearchProblem:
    """Return a structure as a search, with all of its options."""
    axis_of = {
        formulas.symbols[name]: at
        for at, axis in enumerate(space.axes)
        for option in axis.options
        for name in option.numbers
        if name in formulas.symbols
    }
    separable = SeparableParts(axis_of=axis_of)
    cost = separable.separated(formulas.cost)
    separated: dict[tuple[Formula, bool], PartRequirement] = {}
    for one in formulas.criteria:
        over = separable.separated(one.over)
        separated.setdefault(
            (over, one.strict), PartRequirement(name=one.name, over=over, strict=one.strict)
        )
    options = tuple(
        np.array([at for at, one in enumerate(axis.options) if one.structure == structure])
        for axis, structure in zip(space.axes, formulas.structure, strict=True)
    )
    values = [
        _inputs(axis, own, formulas.symbols) for axis, own in zip(space.axes, options, strict=True)
    ]
    return SearchProblem(
        options=options,
        parts=tuple(_values_of(part, values[part.axis]) for part in separable.parts.values()),
        requirements=tuple(separated.values()),
        cost=cost,
    )


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


def _values_of(part: ChoicePart, inputs: Mapping[Formula, Bounds]) -> PartValues:
    symbols = [one for one in inputs if one in part.part.symbols]
    found = BoxArrays(part.part, *symbols).bounds(*(inputs[one] for one in symbols))
    low = np.where(np.isnan(found.low), -np.inf, found.low)
    high = np.where(np.isnan(found.high), np.inf, found.high)
    return PartValues(axis=part.axis, symbol=part.symbol, low=low, high=high)


class BoundedFormula:
    """A formula in parts, bounded over boxes of options."""

    def __init__(self, formula: Formula, parts: Sequence[PartValues]) -> None:
        self.formula = formula
        self.parts = [one for one in parts if one.symbol in formula.symbols]
        self._arrays = BoxArrays(formula, *(one.symbol for one in self.parts))

    @property
    def axes(self) -> set[int]:
        """The axes on which it depends."""
        return {one.axis for one in self.parts}

    def bounds(self, ends: Sequence[tuple[Floats, Floats]], moving: int | None = None) -> Bounds:
        """Return bounds between the ends of each of its parts; slopes in the one that moves."""
        slopes = [1.0 if at == moving else 0.0 for at in range(len(self.parts))]
        inputs = [
            Bounds(low, high, slope, slope) for (low, high), slope in zip(ends, slopes, strict=True)
        ]
        return self._arrays.bounds(*inputs)
