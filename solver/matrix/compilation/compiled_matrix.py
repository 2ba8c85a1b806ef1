"""A matrix compiled: plain data, to be sent to other processes and other machines.

Its fingerprint says whether parts of results belong to it.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from qps.compiler import ir
from qps.engine.execution.programs import StraightLineProgram
from qps.engine.expressions.formulas import Formula
from qps.solver.matrix.compilation.column_labels import ColumnsKnown, all_known
from qps.solver.matrix.compilation.confidence_rows import ConfidenceRows, known_by_samples
from qps.solver.matrix.compilation.configuration_order import numbers_of
from qps.solver.matrix.compilation.mode_templates import Leaves
from qps.solver.matrix.compilation.row_guards import RowGuard
from qps.solver.matrix.compilation.row_questions import RowQuery
from qps.solver.matrix.compilation.structures import Structure
from qps.solver.matrix.limits.row_preparation import CompiledCriterion
from qps.solver.matrix.limits.saturations import CompiledResource

Sides: TypeAlias = tuple[tuple[int | None, int | None], ...]


@dataclass(frozen=True, kw_only=True)
class CompiledMode:
    """One mode of a group: its program, and which operations give what is requested.

    `later` is the program for what rests on the answers; its inputs are the answers and, by
    their number, operations of the first one. `leaves` are inputs, too, that have a number in each
    of the groups that share it.
    """

    mode: str | None
    low: int
    high: int
    program: StraightLineProgram
    criteria: tuple[CompiledCriterion, ...]
    proven: tuple[bool, ...]
    impossible: tuple[CompiledCriterion, ...]
    impossible_proven: tuple[bool, ...]
    resources: tuple[CompiledResource, ...]
    guards: tuple[RowGuard, ...]
    population: Formula
    quality: int | None
    metric: Formula | None
    cost: int | None
    running_cost: int | None
    columns: tuple[int | None, ...]
    comparisons: Sides
    excluded: Sides
    answers: tuple[str, ...]
    symbols: tuple[tuple[str, Formula], ...]
    numbers: tuple[tuple[Formula, Formula], ...]
    leaves: Leaves
    decided: frozenset[str]
    known: ColumnsKnown = field(default_factory=ColumnsKnown)

    @cached_property
    def signature(self) -> str:
        """A text that distinguishes its computation from others; algebra is left out."""
        parts: list[object] = [
            (c.name, c.is_stated, c.is_strict, c.at_most, c.measure, c.limit, c.tight, c.known.kind)
            for c in (*self.criteria, *self.impossible)
        ]
        parts += [(r.name, r.load, r.target, r.quadratic) for r in self.resources]
        rest = (self.low, self.high, self.mode, self.guards, self.quality, self.cost)
        parts.append(self.leaves)
        more = (self.running_cost, self.columns, self.comparisons, self.excluded, self.answers)
        return repr((self.program.steps, parts, rest, more))


@dataclass(frozen=True, kw_only=True)
class CompiledGroup:
    """Configurations of one structure: their modes, or nothing where each is solved by itself.

    Groups that differ in numbers alone share their modes: this is the `member` of that number.
    `places` explains what stands where, `options` what is chosen; `reason` why none has an answer.
    `known` is how its columns are known at least, whichever mode is reported. Where no
    configuration was found that may be, it is not `is_sound`: guards say why rows have no answer,
    and any other row is solved by itself.
    """

    modes: tuple[CompiledMode, ...]
    low: int
    places: Mapping[str, str]
    options: Mapping[str, str]
    scenario: str | None
    member: int = 0
    reason: str | None = None
    known: ColumnsKnown = field(default_factory=ColumnsKnown)
    is_sound: bool = True


@dataclass(frozen=True)
class CompiledBlock:
    """One product of axes."""

    structure: Structure
    groups: tuple[CompiledGroup, ...]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many values each axis has."""
        return tuple(axis.count for axis in self.structure.axes)

    @property
    def size(self) -> int:
        """How many configurations there are."""
        total = 1
        for count in self.counts:
            total *= count
        return total


@dataclass(frozen=True, kw_only=True)
class CompiledMatrix:
    """A matrix that is ready to be solved, any stretch of its rows by itself.

    `words` are all texts that a row may hold (what limits, what is the bottleneck, the reasons);
    rows hold their numbers. `quantiles` are the levels of all that are requested of the answer,
    `sampled` has a row for each sample of each row, where numbers are not known; `sample_solver`
    makes of it what solves these.
    """

    model: ir.Model
    matrix: ir.Matrix
    question: RowQuery
    blocks: tuple[CompiledBlock, ...]
    words: tuple[str, ...]
    resources: tuple[str, ...]
    has_running_cost: bool
    quantiles: tuple[Fraction, ...] = ()
    sampled: CompiledMatrix | None = None
    sample_solver: Callable[[CompiledMatrix], Callable[[int, int], list[Any]]] | None = None
    confidence_rows: ConfidenceRows | None = None

    @cached_property
    def known(self) -> ColumnsKnown:
        """How the columns are known, of all rows together."""
        known = all_known([group.known for block in self.blocks for group in block.groups])
        if self.confidence_rows is None:
            return known
        return known_by_samples(known, self.confidence_rows, self.question)

    @property
    def has_saturations(self) -> bool:
        """Whether its columns state where each resource saturates, or may be sorted by that."""
        columns = (*self.matrix.selected, *(key.column for key in self.matrix.order))
        return not self.matrix.selected or any("saturates" in name for name in columns)

    @property
    def size(self) -> int:
        """How many configurations there are before any is left out."""
        return sum(block.size for block in self.blocks)

    @property
    def lowered(self) -> int:
        """How many structures were lowered."""
        return sum(len(block.groups) for block in self.blocks)

    @property
    def programs(self) -> int:
        """How many structures were compiled: those that differ in numbers alone are one."""
        return len({id(group.modes) for block in self.blocks for group in block.groups})

    @property
    def unlimited(self) -> int:
        """How many configurations nothing can limit: nothing is loaded, and nothing required."""
        return sum(
            round(part * block.size)
            for block in self.blocks
            for part, group in zip(block.structure.parts, block.groups, strict=True)
            if group.modes and not any(mode.criteria for mode in group.modes)
        )

    @property
    def fingerprint(self) -> str:
        """A text that is the same for the same rows with the same results only."""
        parts: list[object] = [self.words, self.question, self.matrix.excluded]
        parts += [self.matrix.wanted, self.matrix.at]
        parts += [] if self.confidence_rows is None else [self.confidence_rows.key]
        parts += [] if self.sampled is None else [self.sampled.fingerprint]
        for block in self.blocks:
            parts += [[(a.name, a.choices, a.numbers) for a in block.structure.axes]]
            drawn = (one for a in block.structure.axes for one in a.parameters)
            parts += [(one.name, numbers_of(one).tobytes()) for one in drawn]
            parts += [block.structure.group_of.tolist()]
            for group in block.groups:
                chosen = (group.reason, group.places, group.options, group.scenario)
                parts += [chosen, (group.low, group.member)]
                parts += [mode.signature for mode in group.modes]
        return hashlib.blake2b(repr(parts).encode(), digest_size=16).hexdigest()

    def packed(self) -> bytes:
        """Return it as bytes, to be sent to other processes."""
        return pickle.dumps(self)
