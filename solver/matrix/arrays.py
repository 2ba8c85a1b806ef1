"""Programs run on arrays: a value for each row, in chunks that stay in the cache."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from qps.solver.compiled import rounded_in_arrays
from qps.solver.matrix.program import Op, Operation, Program

Array = NDArray[np.float64]
Values = dict[int, Any]
"""What operations came to: arrays, or plain numbers where all rows are alike."""

_BINARY: dict[Op, Callable[..., Any]] = {
    Op.ADD: np.add,
    Op.MULTIPLY: np.multiply,
    Op.MAXIMUM: np.maximum,
    Op.MINIMUM: np.minimum,
    Op.RAISE: np.power,
}
_UNARY: dict[Op, Callable[..., Any]] = {
    Op.ABSOLUTE: np.abs,
    Op.SQRT: np.sqrt,
    Op.EXP: np.exp,
    Op.LOG: np.log,
    Op.FLOOR: lambda value: rounded_in_arrays(np.floor, value),
    Op.CEILING: lambda value: rounded_in_arrays(np.ceil, value),
    Op.ENDLESS: lambda load: np.where(load < 1, 0.0, np.inf),
}


@dataclass
class Runner:
    """Runs one program; what is to be done for which outputs is worked out once."""

    program: Program
    _plans: dict[tuple[frozenset[int], frozenset[int]], list[_Step]] = field(default_factory=dict)

    def run(
        self,
        outputs: Iterable[int],
        known: Mapping[int, Any],
        inputs: Mapping[str, Any] | None = None,
        population: Any = None,
    ) -> Values:
        """Return the values of some operations, those of others being known."""
        wanted = frozenset(outputs)
        values: Values = dict(known)
        for step in self._plan(wanted, frozenset(known)):
            values[step.number] = _done(step.operation, values, inputs, population)
            for number in step.last_used:
                del values[number]
        return {number: values[number] for number in wanted}

    def _plan(self, outputs: frozenset[int], known: frozenset[int]) -> list[_Step]:
        key = (outputs, known)
        if key not in self._plans:
            self._plans[key] = _plan(self.program, outputs, known)
        return self._plans[key]


@dataclass(frozen=True, slots=True)
class _Step:
    """An operation to do, and which values nobody needs after it."""

    number: int
    operation: Operation
    last_used: tuple[int, ...]


def _plan(program: Program, outputs: frozenset[int], known: frozenset[int]) -> list[_Step]:
    """Return the operations to do, in order."""
    needed: set[int] = set()
    waiting = [number for number in outputs if number not in known]
    while waiting:
        number = waiting.pop()
        if number not in needed:
            needed.add(number)
            waiting += [o for o in program.operations[number].operands if o not in known]
    order = sorted(needed)
    last: dict[int, int] = {}
    for number in order:
        for operand in program.operations[number].operands:
            last[operand] = number
    unused: dict[int, list[int]] = {}
    for operand, number in last.items():
        if operand not in outputs:
            unused.setdefault(number, []).append(operand)
    return [_Step(n, program.operations[n], tuple(unused.get(n, ()))) for n in order]


def _done(
    operation: Operation, values: Values, inputs: Mapping[str, Any] | None, population: Any
) -> Any:
    """Return what an operation gives."""
    op, operands = operation.op, operation.operands
    if op in _BINARY:
        return _BINARY[op](values[operands[0]], values[operands[1]])
    if op is Op.POWER:
        assert isinstance(operation.value, int)
        return powered(values[operands[0]], operation.value)
    if op in _UNARY:
        return _UNARY[op](values[operands[0]])
    if op is Op.CONSTANT:
        return np.float64(operation.value)
    if op is Op.INPUT:
        assert inputs is not None
        return inputs[str(operation.value)]
    if op is Op.POPULATION:
        return population
    if op is Op.RATIO:
        above, below = values[operands[0]], values[operands[1]]
        return np.where(below == 0, np.inf, above / np.where(below == 0, 1.0, below))
    if op is Op.LAMBERT:
        return upper_lambert_w(values[operands[0]])
    return lower_lambert_w(values[operands[0]])


def powered(value: Any, exponent: int) -> Any:
    """Return an integer power; small ones by products, which are many times faster."""
    if exponent < 0:
        return 1.0 / powered(value, -exponent)
    if exponent == 1:
        return value
    if exponent == 2:  # noqa: PLR2004
        return value * value
    if exponent == 3:  # noqa: PLR2004
        return value * value * value
    half = powered(value, exponent // 2)
    return half * half if exponent % 2 == 0 else half * half * value


def upper_lambert_w(value: Any) -> Any:
    """Return the upper branch of Lambert's W on the reals; not-a-number where it is not real."""
    from scipy.special import lambertw  # noqa: PLC0415 - slow to import, seldom needed

    found = lambertw(value, 0)
    return np.where(np.isreal(found), found.real, np.nan)[()]


_NEAR_BRANCH = -0.25


def lower_lambert_w(value: Any) -> Any:
    """Return the lower branch of Lambert's W on the reals; not-a-number where it is not real.

    A series at the branch point and an asymptotic one elsewhere, each made exact to a few units
    in the last place by Fritsch's iteration (Fritsch, Shafer and Crowley 1973), which is of
    the fourth order: much faster than the complex function of scipy.
    """
    x = np.asarray(value, dtype=float)
    with np.errstate(all="ignore"):
        root = -np.sqrt(2 * (1 + np.e * x))
        series = -1 + root * (1 - root * (1 / 3 - root * (11 / 72 - root * (43 / 540))))
        log = np.log(-x)
        loglog = np.log(-log)
        w = np.where(x < _NEAR_BRANCH, series, log - loglog + loglog / log)
        for _ in range(2):
            z = np.log(x / w) - w
            next_to = 1 + w
            q = 2 * next_to * (next_to + 2 / 3 * z)
            step = z / next_to * (q - z) / (q - 2 * z)
            w = np.where(np.isfinite(step), w * (1 + step), w)
        w = np.where((x >= -1 / np.e) & (x < 0), np.minimum(w, -1.0), np.nan)
    return w[()]
