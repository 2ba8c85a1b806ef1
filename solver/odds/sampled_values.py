"""What expressions come to at one population, for many values of what is not known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.solver.matrix.compiled import CompiledGroup
from qps.solver.matrix.compiling import compile_matrix
from qps.solver.matrix.deciding import Index
from qps.solver.matrix.modes import ModeAnswers, ModeSolver
from qps.solver.matrix.one_by_one import OneByOne
from qps.solver.matrix.prepared import Bools, Floats
from qps.solver.odds.few_alone import FewAlone
from qps.solver.odds.sampling import as_matrix


class SampledValues(Struct, frozen=True, eq=False, kw_only=True):
    """Values of expressions in base units, an array of each, and which samples can be at all."""

    columns: tuple[Floats, ...]
    is_told: Bools


@dataclass
class _ModeValues(ModeSolver):
    """Tells what is asked of samples in one mode."""

    def solve(self, index: Index, count: int) -> ModeAnswers:
        """Return the columns that are asked for, and nothing that is not."""
        mode = self.mode
        if mode.answers:
            return super().solve(index, count)
        assert self.at is not None
        rows = self.prepared(index, count)
        asked = [number for number in mode.columns if number is not None]
        with np.errstate(all="ignore"):
            values = rows.at(asked, float(self.at))
        untold = np.full(count, np.nan)
        none = np.zeros(count, dtype=np.int64)
        return ModeAnswers(
            verdict=self.verdicts(index, count),
            one_by_one=OneByOne(mode=mode, decider=self.decider, index=index),
            first=none + mode.high + 1,
            limited=none - 1,
            at=none + self.at,
            loads=[untold for _ in mode.resources],
            saturates=[untold for _ in mode.resources],
            not_below=[untold for _ in mode.resources],
            from_start=np.zeros((len(mode.resources), count), dtype=bool),
            stays_full=none,
            bottleneck=none - 1,
            quality=untold,
            quality_at_limit=untold,
            cost=untold,
            running_cost=untold,
            columns=[
                untold if number is None else rows.column(values, number) for number in mode.columns
            ],
            comparisons=[(untold, untold) for _ in mode.comparisons],
        )


@dataclass
class _Values(FewAlone):
    """Tells what is asked of samples."""

    def solvers_of(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return what tells it of the modes of a group."""
        axes = self.compiled.blocks[number].structure.axes
        return [_ModeValues(mode, axes, self.compiled.matrix.at) for mode in group.modes]


def sampled_values(
    model: ir.Model,
    configuration: Configuration,
    axis: ir.Axis,
    at: int,
    asked: Sequence[ir.Quantity],
) -> SampledValues:
    """Return what expressions come to at a population along what is drawn.

    Not-a-number where one has no value. In which samples something cannot be is told beside.
    """
    columns = tuple(ir.MatrixColumn(f"asked {i}", value) for i, value in enumerate(asked))
    matrix = replace(as_matrix(model, configuration, axis, at), columns=columns)
    (rows,) = _Values(compile_matrix(model, matrix)).row_blocks(0, axis.count)
    return SampledValues(columns=tuple(rows.columns), is_told=rows.is_told)
