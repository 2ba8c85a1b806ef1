"""Solved rows, before they are made a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import nan

import numpy as np

from qps.solver.matrix.compilation.compiled_matrix import CompiledMatrix
from qps.solver.matrix.limits.row_preparation import Bools, Floats, Ints
from qps.solver.matrix.rows.exact_decisions import Index

NONE = -1
"""In place of the largest acceptable population where there is none."""


@dataclass(kw_only=True)
class RowBlock:
    """Solved rows, one after the other, before any is left out.

    `block` says of which product of axes they are, `index` which values of the axes they have.
    Words are kept by their numbers in the matrix's list; `largest` is -1 for none, `known` how it
    is known. `from_start` are the resources that are full where the range starts, `stays_full`
    how the first of all stays full up to the answer, both as words. `texts` holds reasons that are
    in no list, by row; `faulted` are the rows that a fault of ours left without an answer,
    `one_by_one` those that arrays did not decide wholly. `left_out` is the share of
    the samples that quantiles do not rest on, where there is any. Values are in base units.
    """

    compiled: CompiledMatrix
    block: int
    index: Index
    count: int
    largest: Ints
    known: Ints
    limited: Ints
    bottleneck: Ints
    saturates_at: Floats
    saturates_not_below: Floats
    from_start: Ints
    stays_full: Ints
    mode: Ints
    at: Ints
    quality: Floats
    cost: Floats
    running_cost: Floats
    reason: Ints
    loads: dict[str, Floats]
    saturates: dict[str, Floats]
    columns: list[Floats]
    comparisons: list[tuple[Floats, Floats]]
    group: Ints
    included: Bools
    faulted: Bools
    one_by_one: Bools
    left_out: Floats
    words: list[str]
    texts: dict[int, str] = field(default_factory=dict)

    @property
    def is_answered(self) -> Bools:
        """Which rows have an answer: there is no reason why they have none."""
        found: Bools = self.reason == 0
        found[list(self.texts)] = False
        return found

    @property
    def reasons(self) -> dict[int, str]:
        """Why rows have no answer, of each of the others."""
        listed = np.flatnonzero(self.reason).tolist()
        return self.texts | {row: self.words[self.reason[row]] for row in listed}


def empty(
    compiled: CompiledMatrix, block: int, index: Index, count: int, words: list[str]
) -> RowBlock:
    """Return rows that have no answers yet."""

    def nothing() -> Floats:
        return np.full(count, nan)

    def no_word() -> Ints:
        return np.zeros(count, dtype=np.int64)

    question = compiled.question
    return RowBlock(
        compiled=compiled,
        block=block,
        index=index,
        count=count,
        largest=np.full(count, NONE, dtype=np.int64),
        known=no_word(),
        limited=no_word(),
        bottleneck=no_word(),
        saturates_at=nothing(),
        saturates_not_below=nothing(),
        from_start=no_word(),
        stays_full=no_word(),
        mode=no_word(),
        at=no_word(),
        quality=nothing(),
        cost=nothing(),
        running_cost=nothing(),
        reason=no_word(),
        loads={name: nothing() for name in compiled.resources},
        saturates={name: nothing() for name in compiled.resources},
        columns=[nothing() for _ in range(question.column_count)],
        comparisons=[(nothing(), nothing()) for _ in question.comparisons],
        group=no_word(),
        included=np.ones(count, dtype=bool),
        faulted=np.zeros(count, dtype=bool),
        one_by_one=np.zeros(count, dtype=bool),
        left_out=nothing(),
        words=words,
    )
