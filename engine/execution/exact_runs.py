"""Programs run on exact fractions, for many rows at once: where floats cannot determine a sign.

Floats say which operand of a maximum or a minimum it is, where the two are well apart: the other
one is left alone. So what elastic parameters fill, min(…, 1, …), is 1 without any arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice, repeat
from math import nan
from operator import add, mul
from typing import Any, TypeAlias

import numpy as np
from flint import fmpq

from qps.engine.exact_algebra.exact_powers import PowerTooLongError
from qps.engine.exact_algebra.exact_values import InexactError, NoValueError, as_float
from qps.engine.execution.array_runs import Runner, in_floats
from qps.engine.execution.programs import ProgramStep, StraightLineProgram
from qps.engine.expressions import formulas
from qps.engine.expressions.formulas import Formula
from qps.engine.leaves import INPUT, NUMBER, POPULATION, WHOLE_POWER
from qps.engine.operations import EXTREMES, OPERATIONS, PRODUCT, SUM

Exact: TypeAlias = Any
"""An exact fraction (`fmpq`), or a float from the first root on; not-a-number for no value."""

_WELL_APART = 1e-6
"""Parts of the larger of two by which they differ where floats determine which one it is."""
_ANY = -1


def exact(number: Fraction | int) -> Exact:
    """Return a number as the fraction that is computed with."""
    return fmpq(number.numerator, number.denominator)


class ExactColumns(dict[str, Sequence[Exact]]):
    """Columns of exact numbers by the names of inputs; each is made when it is first requested."""

    def __init__(self, read: Callable[[str], Sequence[Exact]]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, name: str) -> Sequence[Exact]:
        found = self[name] = self._read(name)
        return found


def as_fraction(value: Exact) -> Fraction:
    """Return an exact number as a fraction of Python's."""
    return Fraction(int(value.numerator), int(value.denominator))


@dataclass(frozen=True, slots=True)
class _Plan:
    """Steps that are left where it is known which extremes are which of their operands.

    `same` has for each output the step, or the constant, that it comes to.
    """

    steps: tuple[tuple[int, ProgramStep, tuple[int, ...]], ...]
    constants: Mapping[int, Exact]
    same: Mapping[int, int]


def alike(columns: np.ndarray) -> list[list[int]]:
    """Return which columns of a table are equal: their numbers, by what they hold."""
    if not columns.size or (columns == columns[:, :1]).all():
        return [list(range(columns.shape[1]))] if columns.shape[1] else []
    found: dict[bytes, list[int]] = {}
    lines = np.ascontiguousarray(columns.T)
    for number, line in enumerate(lines):
        found.setdefault(line.tobytes(), []).append(number)
    return list(found.values())


@dataclass
class ExactRunner:
    """Runs a program on columns of exact numbers."""

    program: StraightLineProgram
    runner: Runner
    _plans: dict[tuple[tuple[int, ...], bytes], _Plan] = field(default_factory=dict)
    _extremes: dict[tuple[int, ...], list[int]] = field(default_factory=dict)

    def columns(
        self,
        outputs: Iterable[int],
        inputs: Mapping[str, Sequence[Exact]],
        population: Sequence[Any] | np.ndarray | None,
        count: int,
        floats: Mapping[str, np.ndarray] | None = None,
    ) -> dict[int, list[Exact]]:
        """Return values that are exact as far as they can be: floats from the first root on.

        So a load that is 1 is 1 for what waits for it, whatever floats make of it. Not-a-number
        where there is no finite value. `floats` are the inputs as floats, where these are known.
        """
        wanted = tuple(dict.fromkeys(outputs))
        found: dict[int, list[Exact]] = {number: [nan] * count for number in wanted}
        chosen = self._chosen(wanted, inputs if floats is None else floats, population, count)
        for rows in alike(chosen):
            plan = self._plan(wanted, chosen[:, rows[0]])
            values = _run(plan, rows, inputs, population)
            for output in wanted:
                own = found[output]
                if len(rows) == count:
                    own[:] = islice(values[plan.same[output]], count)
                    continue
                for row, value in zip(rows, values[plan.same[output]], strict=False):
                    own[row] = value
        return found

    def _chosen(
        self,
        wanted: tuple[int, ...],
        inputs: Mapping[str, Any],
        population: Sequence[Any] | np.ndarray | None,
        count: int,
    ) -> np.ndarray:
        """Return which operand each extreme is in each row, by floats."""
        if wanted not in self._extremes:
            needed, steps = self.program.needed(wanted), self.program.steps
            self._extremes[wanted] = [n for n in needed if steps[n].word in EXTREMES]
        extremes = self._extremes[wanted]
        chosen = np.zeros((len(extremes), count), dtype=np.int64)
        if not extremes:
            return chosen
        floats = {name: _as_floats(column) for name, column in inputs.items()}
        at = None if population is None else _as_floats(population)
        steps = self.program.steps
        with np.errstate(all="ignore"):
            operands = {operand for number in extremes for operand in steps[number].operands}
            values = self.runner.run(operands, {}, floats, at)
            for line, number in zip(chosen, extremes, strict=True):
                among = [np.broadcast_to(values[o], (count,)) for o in steps[number].operands]
                is_most = OPERATIONS[steps[number].word].chooses > 0
                line[:] = _clearly(np.array(among), is_most=is_most)
        return chosen

    def _plan(self, wanted: tuple[int, ...], pattern: np.ndarray) -> _Plan:
        key = (wanted, pattern.tobytes())
        if key not in self._plans:
            chosen = dict(zip(self._extremes[wanted], pattern.tolist(), strict=True))
            self._plans[key] = _planned(self.program, wanted, chosen)
        return self._plans[key]


def _as_floats(column: Sequence[Any] | np.ndarray) -> np.ndarray:
    if isinstance(column, np.ndarray):
        return column.astype(float)
    return np.array([as_float(value) for value in column])


def _clearly(among: np.ndarray, *, is_most: bool) -> np.ndarray:
    """Return which line has the largest value, or the least, where no other comes near it."""
    ranked = among if is_most else -among
    best = np.argmax(ranked, axis=0)
    top = np.take_along_axis(ranked, best[None], axis=0)[0]
    others = np.where(np.arange(len(among))[:, None] == best, -np.inf, ranked)
    second = np.max(others, axis=0)
    apart = top - second > _WELL_APART * np.maximum(np.abs(top), np.abs(second))
    return np.where(apart & np.isfinite(top) & np.isfinite(second), best, _ANY)


def _planned(
    program: StraightLineProgram, wanted: tuple[int, ...], chosen: Mapping[int, int]
) -> _Plan:
    """Return the steps that are left, constants folded."""

    def meant(number: int) -> int:
        while chosen.get(number, _ANY) != _ANY:
            number = program.steps[number].operands[chosen[number]]
        return number

    made: dict[int, Formula] = {}
    constants: dict[int, Exact] = {}
    for number in _resting(program, map(meant, wanted), meant, ()):
        step, operands = program.steps[number], tuple(map(meant, program.steps[number].operands))
        made[number] = own = _formula(step, [made[operand] for operand in operands])
        if own.word == NUMBER:
            constants[number] = _number(own)
        elif operands and all(operand in constants for operand in operands):
            constants[number] = _column(step, [[constants[operand]] for operand in operands])[0]
    left = _resting(program, map(meant, wanted), meant, constants)
    each = [(number, program.steps[number]) for number in left]
    steps = tuple((number, step, tuple(map(meant, step.operands))) for number, step in each)
    return _Plan(steps, constants, {number: meant(number) for number in wanted})


def _resting(
    program: StraightLineProgram,
    wanted: Iterable[int],
    meant: Callable[[int], int],
    known: Container[int],
) -> list[int]:
    """Return what some steps rest on, in order; what is known rests on nothing."""
    needed: set[int] = set()
    waiting = [number for number in wanted if number not in known]
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            own = map(meant, program.steps[number].operands)
            waiting += [operand for operand in own if operand not in known]
    return sorted(needed)


def _formula(step: ProgramStep, operands: Sequence[Formula]) -> Formula:
    """Return a step as a formula, in which equal parts cancel."""
    value = step.value
    if step.word == INPUT:
        return formulas.symbol(str(value))
    if step.word == POPULATION:
        return formulas.population("")
    if step.word == NUMBER:
        assert isinstance(value, Fraction | float)
        return formulas.number(value)
    if step.word == WHOLE_POWER:
        assert isinstance(value, int)
        return formulas.power(operands[0], value)
    return formulas.apply(step.word, *operands)


def _number(own: Formula) -> Exact:
    return nan if own.exact is None else exact(own.exact)


def _run(
    plan: _Plan,
    rows: Sequence[int],
    inputs: Mapping[str, Sequence[Exact]],
    population: Sequence[Any] | np.ndarray | None,
) -> dict[int, Iterable[Exact]]:
    """Return a column for each step of a plan, some rows of it."""
    values: dict[int, Iterable[Exact]] = {n: repeat(v) for n, v in plan.constants.items()}
    fractions = {n for n, v in plan.constants.items() if isinstance(v, fmpq)}
    for number, step, operands in plan.steps:
        if step.word == INPUT:
            column = inputs[str(step.value)]
            values[number] = [column[row] for row in rows]
        elif step.word == POPULATION:
            assert population is not None
            populations = population.tolist() if isinstance(population, np.ndarray) else population
            values[number] = [_counted(populations[row]) for row in rows]
        elif step.word in (SUM, PRODUCT) and fractions.issuperset(operands):
            join = add if step.word == SUM else mul
            first, *others = (values[operand] for operand in operands)
            for other in others:
                first = map(join, first, other)
            values[number] = list(first)
        else:
            own = _column(step, [values[operand] for operand in operands])
            values[number] = own
            if not all(isinstance(value, fmpq) for value in own):
                continue
        fractions.add(number)
    return values


def _counted(number: Any) -> Exact:
    return number if isinstance(number, fmpq) else exact(Fraction(number))


def _column(step: ProgramStep, columns: Sequence[Iterable[Exact]]) -> list[Exact]:
    """Return what a step gives in each row: exactly where it can be, else in floats together."""
    each = list(zip(*columns, strict=False))
    found: list[Exact] = [nan] * len(each)
    left = []
    for row, operands in enumerate(each):
        try:
            found[row] = _exactly(step, operands)
        except InexactError:
            left.append(row)
        except NoValueError:
            pass
    if left:
        floats = [np.array([as_float(each[row][i]) for row in left]) for i in range(len(columns))]
        with np.errstate(all="ignore"):
            values = np.broadcast_to(in_floats(step, floats), (len(left),)).tolist()
        for row, value in zip(left, values, strict=True):
            found[row] = value
    return found


def _exactly(step: ProgramStep, operands: Sequence[Exact]) -> Exact:
    """Return what a step gives; InexactError where that is no fraction."""
    row = OPERATIONS.get(step.word)
    if not all(isinstance(operand, fmpq) for operand in operands):
        raise InexactError
    if step.word in EXTREMES:  # one of the operands: it is an exact number already
        assert row is not None
        return row.exact(*operands)
    if row is not None:
        if row.divisor is not None:  # as a quotient it needs no other fractions
            below = row.divisor(operands[1])
            if below > 0 or (below != 0 and not row.is_of_queue):
                return operands[0] / below
        try:
            found = row.exact(*map(as_fraction, operands))
        except PowerTooLongError:
            raise InexactError from None
        if not isinstance(found, Fraction):
            raise InexactError  # infinite: what it means is for the caller
        return exact(found)
    if step.word == WHOLE_POWER:
        assert isinstance(step.value, int)
        if operands[0] == 0 and step.value < 0:
            raise NoValueError
        return operands[0] ** step.value
    if isinstance(step.value, Fraction):
        return exact(step.value)
    raise InexactError
