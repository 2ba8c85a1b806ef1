"""Matrices of configurations, and what is claimed of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

from msgspec import Struct

from qps.compiler.diagnostics.source import Span
from qps.compiler.ir.expressions import Change, Condition, Constant, SetParameter
from qps.compiler.ir.parameters import Quantity
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension


class AxisKind(Enum):
    """What an axis of a matrix varies."""

    PARAMETER = "parameter"
    OPTION = "option"
    PLACE = "place"  # the machine of a node, the network of a link
    SCENARIO = "scenario"
    MODE = "mode"
    DRAWN = "drawn"  # all that is uncertain, drawn together


class Steps(Struct, frozen=True):
    """Values along a range, exact: from `low` in steps."""

    low: Fraction
    step: Fraction
    count: int


class Axis(Struct, frozen=True, kw_only=True):
    """What a matrix varies: changes for what is chosen, numbers for a parameter.

    `labels` has the choices in words, empty for numbers. `unit` is the one that numbers are
    written in, and how much it is in base units; None where they are written without one.
    `parameters` are those that are drawn together, as an axis each, all of one length.
    """

    name: str
    kind: AxisKind
    choices: tuple[Change, ...] = ()
    labels: tuple[str, ...] = ()
    numbers: Sequence[Fraction] | Steps = ()
    dimension: Dimension = DIMENSIONLESS
    span: Span
    unit: tuple[str, Fraction] | None = None
    parameters: tuple[Axis, ...] = ()

    @property
    def varied(self) -> tuple[Axis, ...]:
        """The parameters that vary along it, as an axis each."""
        return (self,) if self.kind is AxisKind.PARAMETER else self.parameters

    @property
    def count(self) -> int:
        """How many values it has."""
        if self.kind is AxisKind.DRAWN:
            return self.parameters[0].count
        if self.kind is not AxisKind.PARAMETER:
            return len(self.choices)
        return self.numbers.count if isinstance(self.numbers, Steps) else len(self.numbers)

    def number(self, index: int) -> Fraction:
        """Return one of the values of a parameter, exactly."""
        if isinstance(self.numbers, Steps):
            return self.numbers.low + index * self.numbers.step
        return self.numbers[index]

    def value_label(self, index: int) -> str:
        """Return one of the values as the spec writes it: a choice, or a number with its unit."""
        if self.kind is not AxisKind.PARAMETER:
            return self.labels[index]
        unit, factor = self.unit or (str(self.dimension), Fraction(1))
        return f"{float(self.number(index) / factor):.12g} {unit}".rstrip()

    def drawn(self, index: int) -> dict[str, Fraction]:
        """Return one of the values of all parameters that vary together."""
        return {one.name: one.number(index) for one in self.parameters}

    def change(self, index: int) -> Change:
        """Return the change of the model that one of the values makes."""
        if self.kind is not AxisKind.PARAMETER:
            return self.choices[index]
        return SetParameter(self.name, Constant(self.number(index)), self.span)


ANSWER = "answer:"
"""What stands before the name of an answer where an axis or a column of the spec's own has it."""


class MatrixColumn(Struct, frozen=True):
    """A column of a spec's own: a value, at the population that is requested."""

    name: str
    value: Quantity


class Order(Struct, frozen=True):
    """A column to sort by."""

    column: str
    is_descending: bool


class Matrix(Struct, frozen=True, kw_only=True):
    """Many configurations of the model.

    `blocks` are products of axes, all with the same axes in the same order: the first is that of
    the axes as they are declared, each `include` adds one. `excluded` holds of configurations
    of the first that are left out, `wanted` of the results that are kept. `at` is the
    population at which loads, quality and cost are reported, None for the largest acceptable one.
    `parts` is the query in the spec's own words: `where`, and the text behind it.
    """

    name: str
    title: str | None
    changes: tuple[Change, ...]
    blocks: tuple[tuple[Axis, ...], ...]
    excluded: tuple[Condition, ...]
    wanted: Condition | None
    columns: tuple[MatrixColumn, ...]
    selected: tuple[str, ...]
    order: tuple[Order, ...]
    at: int | None
    source: str | None
    note: str | None
    span: Span
    parts: tuple[tuple[str, str], ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes as they are declared."""
        return self.blocks[0]

    @property
    def size(self) -> int:
        """How many configurations there are before any is left out."""
        return sum(math.prod(axis.count for axis in block) for block in self.blocks)


class Quantifier(Enum):
    """Of how many configurations something is claimed."""

    EVERY = "every"
    SOME = "some"
    NO = "no"
    AT_LEAST = "least"
    AT_MOST = "most"


class MatrixClaim(Struct, frozen=True, kw_only=True):
    """What is claimed of the configurations of a matrix, or of those for which `where` holds."""

    quantifier: Quantifier
    count: int
    matrix: str
    where: Condition | None
    condition: Condition
    span: Span
