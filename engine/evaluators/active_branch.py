"""What operations with kinks come to where their operands have given values, as formulas.

What is not here has one form everywhere. `value` says that of a formula.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import inf
from typing import Any, TypeAlias

# Formulas rest on the table, and no column of it on them.
Formula: TypeAlias = Any
Value = Callable[[Formula], Fraction]


def maximum(value: Value, *operands: Formula) -> Formula:
    """Return the largest."""
    return max(operands, key=value)


def minimum(value: Value, *operands: Formula) -> Formula:
    """Return the smallest."""
    return min(operands, key=value)


def absolute(value: Value, of: Formula) -> Formula:
    """Return a size."""
    return of if value(of) >= 0 else -of


def waiting(value: Value, work: Formula, load: Formula) -> Formula:
    """Return a wait; without an end behind what is full."""
    return work / (1 - load) if value(load) < 1 else inf
