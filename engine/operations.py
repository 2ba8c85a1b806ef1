"""The table of operations: what each does, in one place.

A function of the language is a row here. Its word names it in programs, in the program of a page
and, where the language has it, in the language. All else of QPS that must know what an operation
does asks the row: for its value in floats, on arrays and on exact fractions, and for its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np

from qps.engine import elementary, queue_arrays
from qps.engine import row_bounds as bounds
from qps.engine.row_bounds import Bounds


class InexactError(Exception):
    """Raised where a value is no fraction: a root, a logarithm."""


class NoValueError(Exception):
    """Raised where there is no finite value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A row of the table.

    `array` takes floats or arrays, one for each operand, and gives not-a-number where there is no
    value. `bounds` takes and gives `Bounds`, those of many rows at once. `exact` takes fractions
    and gives one; InexactError where the value is none, NoValueError where there is none; None
    where values hardly ever are fractions.
    """

    word: str
    operands: int
    array: Callable[..., Any]
    bounds: Callable[..., Bounds]
    exact: Callable[..., Fraction] | None = None


def _ratio(above: Fraction, below: Fraction) -> Fraction:
    if below == 0:
        raise InexactError  # infinite: what it means is for the one who asks
    return above / below


def _mean(above: Fraction, below: Fraction) -> Fraction:
    return above / below if below else Fraction(0)


def _waiting(work: Fraction, load: Fraction) -> Fraction:
    if load >= 1:
        raise InexactError
    return work / (1 - load)


def _row(
    word: str,
    array: Callable[..., Any],
    bounded: Callable[..., Bounds],
    exact: Callable[..., Fraction] | None = None,
    *,
    operands: int = 1,
) -> Operation:
    return Operation(word=word, operands=operands, array=array, bounds=bounded, exact=exact)


def _of_queue(array: Callable[..., Any], *grows: int) -> Operation:
    """Return the row of a number of a queue, which rises or falls with each of its operands."""
    return _row(array.__name__, array, bounds.monotone(array, grows), operands=len(grows))


_ROWS = (
    _row("+", np.add, bounds.total, lambda a, b: a + b, operands=2),
    _row("*", np.multiply, bounds.product, lambda a, b: a * b, operands=2),
    _row("pow", np.power, bounds.raised, operands=2),
    _row("ratio", elementary.ratio, bounds.ratio, _ratio, operands=2),
    _row("mean", elementary.mean, bounds.mean, _mean, operands=2),
    _row("waiting", elementary.waiting, bounds.waiting, _waiting, operands=2),
    _row("max", np.maximum, bounds.maximum, max, operands=2),
    _row("min", np.minimum, bounds.minimum, min, operands=2),
    _row("abs", np.abs, bounds.absolute, abs),
    _row("sqrt", np.sqrt, bounds.root),
    _row("exp", np.exp, bounds.exponential),
    _row("ln", np.log, bounds.logarithm),
    _row("cos", np.cos, bounds.cosine),
    _row("acos", np.arccos, bounds.arc_cosine),
    _row("floor", elementary.floor, bounds.stepped(elementary.floor), lambda a: Fraction(floor(a))),
    _row(
        "ceil", elementary.ceiling, bounds.stepped(elementary.ceiling), lambda a: Fraction(ceil(a))
    ),
    _row("w", elementary.lambert, bounds.lambert),
    _row("lower_w", elementary.lower_lambert, bounds.lower_lambert),
    _row("effective", elementary.effective, bounds.effective, operands=2),
    _row("harmonic", elementary.harmonic, bounds.monotone(elementary.harmonic, (1,))),
    _of_queue(queue_arrays.erlang_b, -1, 1),
    _of_queue(queue_arrays.erlang_c, -1, 1),
    _of_queue(queue_arrays.periodic_wait, 1, 1),
    _of_queue(queue_arrays.md1_tail, 1, -1),
    _of_queue(queue_arrays.md1_quantile, 1, 1),
    _of_queue(queue_arrays.batch_quantile, 1, 1),
    _of_queue(queue_arrays.periodic_tail, 1, 1, -1),
    _of_queue(queue_arrays.periodic_quantile, 1, 1, 1),
    _of_queue(queue_arrays.sojourn_quantile, 1, -1, 1),
    _of_queue(queue_arrays.gamma_quantile, 1, 0, 1),
    _of_queue(queue_arrays.normal_tail, -1),
    _of_queue(queue_arrays.normal_quantile, 1),
)

OPERATIONS = {row.word: row for row in _ROWS}
"""Every operation by its word; numbers, inputs, the population and whole powers are none."""
