"""Each row of the table of operations, and drawn operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, isnan

import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.nightly import draws, examples
from helpers.operations import CASES, OF_NETWORKS, counted
from qps.engine.evaluators.on_balls import ball
from qps.engine.operation_rows import Operation
from qps.engine.operations import OPERATIONS

law = settings(max_examples=examples(25), deadline=None)
few = settings(law, max_examples=examples(8, least=2))
"""Points at which a law of a network is held: each may take a hundred times as long as others."""
shares = st.integers(0, 100).map(lambda share: Fraction(share, 100))

each_row = pytest.mark.parametrize("word", OPERATIONS)


def law_of_each_row(check: Callable[[str, st.DataObject], None]) -> Callable[[str], None]:
    """Hold a law at drawn points of every row."""

    @draws
    @each_row
    def held(word: str) -> None:
        points = few if word in OF_NETWORKS else law
        points(given(st.data())(lambda data: check(word, data)))()

    held.__name__, held.__doc__ = check.__name__, check.__doc__
    return held


def drawn(word: str, data: st.DataObject) -> list[Fraction]:
    """Return a point at which an operation has a value, in floats."""
    ends = [(Fraction(str(low)), Fraction(str(high))) for low, high in CASES[word]]
    at = [Fraction(float(low + data.draw(shares) * (high - low))) for low, high in ends]
    return [
        Fraction(ceil(one)) if is_whole else one
        for one, is_whole in zip(at, some_counted(word, data), strict=True)
    ]


def some_counted(word: str, data: st.DataObject) -> list[bool]:
    return [is_count and data.draw(st.booleans()) for is_count in counted(word)]


def in_digits(row: Operation, at: Sequence[Fraction | float], bits: int) -> arb:
    """Return the value of balls around numbers, in so many binary digits."""
    before, ctx.prec = ctx.prec, bits
    try:
        return row.ball(*map(ball, at))
    finally:
        ctx.prec = before


def same(one: float, other: float) -> bool:
    """Return whether two floats are one value."""
    return (isnan(one) and isnan(other)) or one == pytest.approx(other, rel=1e-9, abs=1e-13)
