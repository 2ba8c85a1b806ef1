"""Stretches of a matrix solved: which rows they have, and all columns of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import nan

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import Folder
from qps.engine.execution.exact_runs import alike
from qps.solver.answers.answer_certainty import known_by_limit
from qps.solver.answers.solution import StaysFull
from qps.solver.matrix.compilation.compiled_matrix import (
    CompiledBlock,
    CompiledGroup,
    CompiledMatrix,
    CompiledMode,
)
from qps.solver.matrix.compilation.configuration_order import indices
from qps.solver.matrix.compilation.row_guards import SOUND, has_no_value, reasons_of
from qps.solver.matrix.compilation.structures import configured
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.matrix_compiler import compile_alone, compile_like
from qps.solver.matrix.rows.exact_decisions import Index
from qps.solver.matrix.rows.mode_answers import ModeAnswers
from qps.solver.matrix.rows.mode_rows import ModeSolver
from qps.solver.matrix.rows.row_block import NONE, RowBlock, empty
from qps.solver.matrix.rows.row_conditions import ConditionRows
from qps.solver.matrix.rows.row_quantiles import Quantiles
from qps.solver.matrix.rows.scalar_fallback import Refusal, refusing
from qps.solver.matrix.rows.worst_modes import worst_modes

_MOST_OTHERS = 16
"""Structures that rows of one group may turn out to have besides the one it was compiled for."""

CHUNK = 8192
"""Rows that are solved together: what they need stays in the cache."""


@dataclass
class MatrixSolver:
    """Solves stretches of one compiled matrix; what rows share is computed once."""

    compiled: CompiledMatrix
    _solvers: dict[tuple[int, int], list[ModeSolver]] = field(default_factory=dict)
    _others: dict[tuple[int, int], list[tuple[CompiledGroup, list[ModeSolver]]]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self._words = list(self.compiled.words)
        self._number = {word: number for number, word in enumerate(self._words)}
        self._members = [
            np.array([group.member for group in block.groups], dtype=np.int64)
            for block in self.compiled.blocks
        ]
        self._modes = [mode.name for mode in self.compiled.model.modes]
        sampled, solver = self.compiled.sampled, self.compiled.sample_solver
        self._quantiles = (
            None
            if sampled is None or solver is None
            else Quantiles(self.compiled, sampled, solver(sampled))
        )

    def _word(self, word: str) -> int:
        """Return the number of a word; rows that are solved by themselves may bring new ones."""
        if word not in self._number:
            self._number[word] = len(self._words)
            self._words.append(word)
        return self._number[word]

    def row_blocks(self, start: int, stop: int) -> list[RowBlock]:
        """Return rows `start` to `stop` (not included), by block."""
        found = []
        first = 0
        for number, block in enumerate(self.compiled.blocks):
            here, there = max(start - first, 0), min(stop - first, block.size)
            if here < there:
                found.append(self._rows(number, block, here, there))
            first += block.size
        return found

    def _rows(self, number: int, block: CompiledBlock, start: int, stop: int) -> RowBlock:
        count = stop - start
        index = indices(block.counts, np.arange(start, stop, dtype=np.int64))
        rows = empty(self.compiled, number, index, count, self._words)
        groups = np.broadcast_to(block.structure.groups_at(index), (count,))
        rows.group = groups.astype(np.int64)
        together: dict[int, tuple[CompiledGroup, list[Ints]]] = {}
        for group_number in np.unique(groups):
            group = block.groups[group_number]
            chosen = self._wanted(rows, number, group, np.flatnonzero(groups == group_number))
            if group.reason is not None:
                rows.reason[chosen] = self._word(group.reason)
            elif not group.modes or self.compiled.confidence_rows is not None:
                self.solve_each(rows, number, chosen)
            else:
                together.setdefault(id(group.modes), (group, []))[1].append(chosen)
        for group, parts in together.values():
            chosen = np.sort(np.concatenate(parts))
            for at in range(0, chosen.size, CHUNK):
                self._group(rows, number, group, chosen[at : at + CHUNK])
        if self._quantiles is not None:
            rows.left_out = self._quantiles.left_out(number, start, count)
        return rows

    # -- a group -------------------------------------------------------------------------

    def _wanted(self, rows: RowBlock, number: int, group: CompiledGroup, chosen: Ints) -> Ints:
        """Return the rows of a group that are not left out before anything is solved."""
        if number or not self.compiled.matrix.excluded:
            return chosen
        found = []
        for at in range(0, chosen.size, CHUNK):
            here = chosen[at : at + CHUNK]
            wanted = ~self._excluded(group, number, self._index(rows, number, here))
            rows.included[here[~wanted]] = False
            found.append(here[wanted])
        return np.concatenate(found)

    def _index(self, rows: RowBlock, number: int, chosen: Ints) -> Index:
        """Return which values of the axes rows have, and which of the groups that are one."""
        members = self._members[number][rows.group[chosen]]
        return (*(axis[chosen] for axis in rows.index), members)

    def _group(self, rows: RowBlock, number: int, group: CompiledGroup, chosen: Ints) -> None:
        """Solve some rows of structures that are one, and put their answers where they belong."""
        index = self._index(rows, number, chosen)
        left = self._answered(rows, group, self._mode_solvers(number, group), chosen, index)
        for group_number in np.unique(rows.group[left]):
            self._of_other_structures(
                rows, number, int(group_number), left[rows.group[left] == group_number]
            )

    def _of_other_structures(
        self, rows: RowBlock, number: int, group_number: int, left: Ints
    ) -> None:
        """Answer rows of a group whose structure is not that of the group."""
        known = self._others.setdefault((number, group_number), [])
        for other, its_solvers in known:
            left = self.of_structure(rows, other, its_solvers, left)
        while left.size > 1 and len(known) < _MOST_OTHERS:
            first = tuple(int(axis[left[0]]) for axis in rows.index)
            other = compile_like(self.compiled, number, first)
            its_solvers = self.solvers_of(number, other)
            known.append((other, its_solvers))
            left = self.of_structure(rows, other, its_solvers, left)
        for row in left:
            self.solve_alone(rows, number, int(row))

    def of_structure(
        self, rows: RowBlock, group: CompiledGroup, solvers: Sequence[ModeSolver], chosen: Ints
    ) -> Ints:
        """Put answers of a group that no other is one with; return rows of other structures."""
        index = (*(axis[chosen] for axis in rows.index), np.zeros_like(chosen))
        return self._answered(rows, group, solvers, chosen, index)

    def _answered(
        self,
        rows: RowBlock,
        group: CompiledGroup,
        solvers: Sequence[ModeSolver],
        chosen: Ints,
        index: Index,
    ) -> Ints:
        """Put the answers of some rows where they belong; return those of other structures."""
        if not chosen.size or not solvers:
            return chosen
        answers = self.answers_of(solvers, index, chosen.size)
        other, refused = np.zeros((2, chosen.size), dtype=bool)
        for mode, answer in zip(group.modes, answers, strict=True):
            bad = (answer.verdict != SOUND) & ~refused
            for verdict in np.unique(answer.verdict[bad]):
                those = np.flatnonzero(bad & (answer.verdict == verdict))
                reasons = reasons_of(mode.guards, int(verdict), those, answer.one_by_one.exactly)
                if reasons is None and has_no_value(int(verdict)):
                    reasons = self.reason_of_no_value(rows, int(chosen[those[0]]))
                if reasons is None:
                    other[those] = True
                    continue
                refused[those] = True
                if isinstance(reasons, str):
                    rows.reason[chosen[those]] = self._word(reasons)
                else:
                    rows.texts |= dict(zip(chosen[those].tolist(), reasons, strict=True))
        other = (other | (not group.is_sound)) & ~refused
        rows.one_by_one[chosen[sorted({row for a in answers for row in a.one_by_one.rows})]] = True
        for answer in answers:
            for own, refusal in answer.one_by_one.refused.items():
                if not refused[own] and not other[own]:
                    rows.texts[int(chosen[own])] = refusal.reason
                    rows.faulted[chosen[own]] = refusal.is_fault
                    refused[own] = True
        worst = self.worst_of(solvers, answers, index)
        for position, answer in enumerate(answers):
            mine = np.flatnonzero((worst == position) & ~refused & ~other)
            self._put(rows, group, position, answer, chosen[mine], mine)
        return chosen[other]

    def answers_of(
        self, solvers: Sequence[ModeSolver], index: Index, count: int
    ) -> list[ModeAnswers]:
        """Return the answers of each mode for some rows."""
        return [solver.solve(index, count) for solver in solvers]

    def worst_of(
        self, solvers: Sequence[ModeSolver], answers: Sequence[ModeAnswers], index: Index
    ) -> Ints:
        """Return the number of the worst mode of each row."""
        return worst_modes(solvers, answers, index)

    def reason_of_no_value(self, _rows: RowBlock, _row: int) -> str | None:
        """Return why rows have no answer in which something has no value, by the first of them.

        None where each has its own.
        """
        return None

    def _mode_solvers(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return the solvers of a group of the matrix, which all share that are one with it."""
        key = number, id(group.modes)
        if key not in self._solvers:
            self._solvers[key] = self.solvers_of(number, group)
        return self._solvers[key]

    def solvers_of(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return what solves the modes of a group."""
        axes, at = self.compiled.blocks[number].structure.axes, self.compiled.matrix.at
        quantiles = None if self._quantiles is None else partial(self._quantiles.of, number)
        only_first = not self.compiled.has_saturations
        return [
            ModeSolver(mode=mode, axes=axes, at=at, quantiles=quantiles, only_first=only_first)
            for mode in group.modes
        ]

    def solvers_alone(self, number: int, group: CompiledGroup) -> list[ModeSolver]:
        """Return what solves the modes of a group of one row."""
        return self.solvers_of(number, group)

    def _put(
        self,
        rows: RowBlock,
        group: CompiledGroup,
        position: int,
        answer: ModeAnswers,
        to: Ints,
        mine: Ints,
    ) -> None:
        """Put the answers of a mode into rows of which it is the worst."""
        if not mine.size:
            return
        mode = group.modes[position]
        names = [self._word(criterion.name) for criterion in mode.criteria]
        resources = [self._word(resource.name) for resource in mode.resources]
        first, limited = answer.first[mine], answer.limited[mine]
        rows.largest[to] = np.where(first == mode.low, NONE, first - 1)
        rows.known[to] = self._known(group, position)[(first == mode.low).astype(int), limited]
        rows.limited[to] = np.array([*names, 0])[limited]
        rows.bottleneck[to] = np.array([*resources, 0])[answer.bottleneck[mine]]
        rows.mode[to] = self._modes.index(mode.mode) if mode.mode in self._modes else 0
        rows.at[to] = answer.at[mine]
        rows.quality[to] = answer.quality[mine]
        rows.cost[to] = answer.cost[mine]
        rows.running_cost[to] = answer.running_cost[mine]
        if answer.saturates:
            rows.saturates_at[to] = np.min(answer.saturates, axis=0)[mine]
            rows.saturates_not_below[to] = np.fmin.reduce(answer.not_below)[mine]
        rows.from_start[to] = self._together(mode, answer.from_start[:, mine])
        ways = np.array([self._word(way) for way in ("", *StaysFull)], dtype=np.int64)
        rows.stays_full[to] = ways[answer.stays_full[mine]]
        for resource, load, saturates, not_below in zip(
            mode.resources, answer.loads, answer.saturates, answer.not_below, strict=True
        ):
            is_unknown = np.isinf(saturates) & ~np.isnan(not_below)
            known = np.where(is_unknown, nan, saturates)
            for columns, own in ((rows.loads, load), (rows.saturates, known)):
                columns.setdefault(resource.name, np.full(rows.count, nan))[to] = own[mine]
        for column, values in zip(rows.columns, answer.columns, strict=True):
            column[to] = values[mine]
        for sides, values_of in zip(rows.comparisons, answer.comparisons, strict=True):
            for side, values in zip(sides, values_of, strict=True):
                side[to] = values[mine]

    def _together(self, mode: CompiledMode, chosen: Bools) -> Ints:
        """Return the names of the resources that are chosen in each row as one word."""
        found = np.zeros(chosen.shape[1], dtype=np.int64)
        for rows in alike(chosen):
            own = zip(mode.resources, chosen[:, rows[0]], strict=True)
            found[rows] = self._word(", ".join(resource.name for resource, has in own if has))
        return found

    def _known(self, group: CompiledGroup, position: int) -> Ints:
        """Return how answers are known, as words: where any are acceptable, and where none are.

        By the criterion of a mode that limits them, with what nothing limits as the last.
        """
        every = [criterion for mode in group.modes for criterion in mode.criteria]
        limits = (*group.modes[position].criteria, None)
        words = [
            [self._word(known_by_limit(one, every, is_none=none).kind.value) for one in limits]
            for none in (False, True)
        ]
        return np.array(words, dtype=np.int64)

    # -- rows of structures of their own -------------------------------------------------

    def _configuration(self, number: int, index: Sequence[int]) -> Configuration:
        compiled = self.compiled
        axes = compiled.blocks[number].structure.axes
        return configured(compiled.model, compiled.matrix, axes, tuple(index))

    def solve_each(self, rows: RowBlock, number: int, chosen: Ints) -> None:
        """Answer rows by graphs of their own."""
        for row in chosen:
            self.solve_alone(rows, number, int(row))

    def solve_alone(self, rows: RowBlock, number: int, row: int) -> None:
        """Answer one row by a graph of its own: no other row has its structure."""
        refused: dict[int, Refusal] = {}
        with refusing(refused, row):
            at = tuple(int(axis[row]) for axis in rows.index)
            group = compile_alone(self._with_confidence(number, at), number, at)
            if group.reason is None:
                self.of_structure(rows, group, self.solvers_alone(number, group), np.array([row]))
            else:
                rows.texts[row] = group.reason
        for refusal in refused.values():
            rows.texts[row], rows.faulted[row] = refusal.reason, refusal.is_fault
        rows.one_by_one[row] = True

    def _with_confidence(self, number: int, index: Sequence[int]) -> CompiledMatrix:
        """Return the matrix with the capacity of one row at its confidence levels."""
        rows = self.compiled.confidence_rows
        if rows is None:
            return self.compiled
        model = rows.model_of(self._configuration(number, index))
        return replace(self.compiled, model=model)

    # -- conditions on inputs ------------------------------------------------------------

    def _excluded(self, group: CompiledGroup, number: int, index: Index) -> Bools:
        """Return which rows are left out before anything is solved."""
        compiled = self.compiled
        count = index[0].size
        if group.modes:
            (solver, *_) = self._mode_solvers(number, group)
            sides = solver.excluded(index, count)
            pairs = dict(zip(compiled.question.excluded, sides, strict=True))
        else:
            pairs = {
                compare: self._sides(compare, number, index)
                for compare in compiled.question.excluded
            }
        truth = ConditionRows(
            compiled=compiled, group=group, block=number, index=index, count=count, sides=pairs
        )
        found = np.zeros(count, dtype=bool)
        for condition in compiled.matrix.excluded:
            found |= truth.of(condition)
        return found

    def _sides(self, compare: ir.Compare, number: int, index: Index) -> tuple[Floats, Floats]:
        """Return both sides of a comparison of inputs, where no graph could be lowered."""
        found: list[tuple[float, float]] = []
        for *at, _ in zip(*index, strict=True):
            configuration = self._configuration(number, [int(i) for i in at])
            folder = Folder(configuration=configuration, population=configuration.low)  # type: ignore[arg-type]
            sides = [folder.fold(side) for side in (compare.left, compare.right)]
            left, right = (nan if side is None else float(side) for side in sides)
            found.append((left, right))
        both = np.array(found, dtype=float).reshape(-1, 2)
        return both[:, 0], both[:, 1]
