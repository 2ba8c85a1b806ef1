"""Numbers compared without a doubt."""

from __future__ import annotations

from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.memo import memoized
from qps.engine.expressions.point_values import EvaluationPoint, NoSignError


def compare(operator: str, left: Formula, right: Formula) -> bool:
    """Compare two numbers."""
    order = order_of(left, right)
    return {
        "<": order < 0,
        "<=": order <= 0,
        ">": order > 0,
        ">=": order >= 0,
        "==": order == 0,
        "!=": order != 0,
    }[operator]


def order_of(left: Formula, right: Formula) -> int:
    """Return 1 where the left number is larger, -1 where it is smaller, else 0.

    What ten thousand digits do not distinguish is equal, and so is what has no value.
    """
    one, other = left.exact, right.exact
    if one is None or other is None:
        return _order_of(left, right)
    return (one > other) - (one < other)


@memoized
def _order_of(left: Formula, right: Formula) -> int:
    point = EvaluationPoint({})
    one, other = point.exact(left), point.exact(right)
    if one is not None and other is not None:
        return (one > other) - (one < other)
    try:
        return point.sign(left - right) or 0
    except NoSignError:
        return 0
