"""Limits of quantiles, by the share of items that are later than the limit.

A search for the population at which a requirement begins to fail needs its sign alone; only what
is near zero is looked at again by the quantile itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from qps.engine.execution.array_runs import Values
from qps.engine.execution.programs import StraightLineProgram
from qps.engine.operations import OPERATIONS
from qps.solver.matrix.limits.row_preparation import CompiledCriterion, Floats, Rows, margin_of

QUANTILES = frozenset(word for word, row in OPERATIONS.items() if row.lateness is not None)
"""Words of quantiles that are found by their transforms: many values for each."""


@dataclass(frozen=True)
class LateShare:
    """The operations of a limit: of the quantile that `word` has, the first operand is its level.

    What the limit is of is made of it from the inside out in some `steps`: what has an inverse, as
    sums and products, or the least of it and others, each by its word.
    """

    limit: int
    word: str
    operands: tuple[int, ...]
    steps: tuple[tuple[str, tuple[int, ...]], ...]

    @staticmethod
    def of(program: StraightLineProgram, criterion: CompiledCriterion) -> LateShare | None:
        """Return that of a criterion, None where it limits something else."""
        if not criterion.at_most or criterion.is_strict:
            return None
        steps: list[tuple[str, tuple[int, ...]]] = []
        number = criterion.measure
        while (step := program.steps[number]).word not in QUANTILES:
            inside = [one for one in step.operands if _is_sought(program, one, step.word)]
            if not (_has_inverse(step.word) or _is_least(step.word)) or len(inside) != 1:
                return None
            (number,) = inside
            steps.append((step.word, tuple(one for one in step.operands if one != number)))
        return LateShare(
            limit=criterion.limit, word=step.word, operands=step.operands, steps=tuple(steps)
        )

    @property
    def outputs(self) -> set[int]:
        """The operations that it rests on."""
        return {self.limit, *self.operands, *(one for _, others in self.steps for one in others)}

    @property
    def guards(self) -> set[int]:
        """The operations that are not the quantile, but may be less than what has it."""
        others = [(_is_least(word), set(each)) for word, each in self.steps]
        needed = {self.limit, *self.operands}.union(*(each for least, each in others if not least))
        return set().union(*(each for least, each in others if least)) - needed

    @property
    def quantile(self) -> tuple[str, tuple[int, ...]]:
        """What it is of; other limits may be of the same."""
        return self.word, self.operands

    def at(self, rows: Rows, population: Floats) -> Floats:
        """Return what is above zero where a limit is passed; not-a-number where it is not known."""
        values = rows.at(self.outputs, population)
        return np.minimum(self.found(values, self.longest(values)), self.least(values))

    def guard(self, rows: Rows, population: Floats) -> Floats:
        """Return what is above zero where nothing that may be less than the quantile holds."""
        outputs = {self.limit, *(one for _, others in self.steps for one in others)}
        return np.broadcast_to(self.least(rows.at(outputs, population)), rows.count)

    def longest(self, values: Values) -> Floats:
        """Return how long the quantile may be; not-a-number where it is not known."""
        time = values[self.limit]
        for word, others in self.steps:
            if inverse := OPERATIONS[word].inverse:
                time = inverse(time, *(values[other] for other in others))
        return np.asarray(time)

    def least(self, values: Values) -> Floats:
        """Return the margin of what may be less than the quantile: of all, or none decides."""
        time, most = values[self.limit], np.asarray(np.inf)
        for word, others in self.steps:
            each = [values[other] for other in others]
            if inverse := OPERATIONS[word].inverse:
                time = inverse(time, *each)
            else:
                with np.errstate(divide="ignore", invalid="ignore"):
                    margins = [np.where(time > 0, one / time - 1, one - time) for one in each]
                most = reduce(np.minimum, margins, most)
        return most

    def found(self, values: Values, time: Floats) -> Floats:
        """Return what is above zero where the quantile is longer than a time."""
        lateness = OPERATIONS[self.word].lateness
        assert lateness is not None, self.word
        found = lateness(time, *(values[operand] for operand in self.operands))
        return np.where(np.asarray(time) < 0, np.inf, found)


def latest(lates: Sequence[LateShare], rows: Rows, population: Floats) -> Floats:
    """Return the same of several limits of one quantile, of that which it passes first.

    What may be less than the quantile is left out.
    """
    without = set().union(*(late.guards for late in lates))
    values = rows.at(set().union(*(late.outputs for late in lates)) - without, population)
    time = reduce(np.minimum, (late.longest(values) for late in lates))
    return lates[0].found(values, time)


_DECISIVE, _SAME = 1e-6, 1e-12
"""A margin of the share that is late from which its sign is that of the limit's own margin; a part
of a time by which one is the same."""


def margins_beyond(
    rows: Rows, criteria: Mapping[int, CompiledCriterion], population: Floats
) -> dict[int, Floats]:
    """Return how far criteria are passed at a population of each row: mostly by its sign alone.

    What is near its limit has the margin of its sides. Limits of one quantile that are the same
    are looked at once.
    """
    program, known = rows.runner.program, dict[object, tuple[Floats, Floats]]()
    found = {number: LateShare.of(program, one) for number, one in criteria.items()}
    lates = {number: late for number, late in found.items() if late is not None}
    values = rows.at(set().union(*(late.outputs for late in lates.values())), population)
    margins = {}
    for number, criterion in criteria.items():
        margin = np.full(rows.count, np.nan)
        if late := lates.get(number):
            time, before = late.longest(values), known.get(late.quantile)
            if before is None or not (np.abs(time - before[0]) <= _SAME * np.abs(time)).all():
                before = known[late.quantile] = (time, late.found(values, time))
            margin[:] = np.minimum(before[1], late.least(values))
        near = np.flatnonzero(~(np.isfinite(margin) & (np.abs(margin) > _DECISIVE)))
        if near.size:
            some = rows.take(near) if near.size < rows.count else rows
            sides = (criterion.measure, criterion.limit)
            margin[near] = margin_of(criterion, some.at(sides, population[near]))
        margins[number] = margin
    return margins


def _is_sought(program: StraightLineProgram, number: int, word: str) -> bool:
    """Return whether the quantile is in an operand of a word: of the least others vary, too."""
    if not _is_least(word):
        return program.varies[number]
    while _has_inverse(program.steps[number].word):
        varying = [one for one in program.steps[number].operands if program.varies[one]]
        if len(varying) != 1:
            return False
        (number,) = varying
    return program.steps[number].word in QUANTILES


def _has_inverse(word: str) -> bool:
    row = OPERATIONS.get(word)
    return row is not None and row.inverse is not None


def _is_least(word: str) -> bool:
    row = OPERATIONS.get(word)
    return row is not None and row.chooses < 0
