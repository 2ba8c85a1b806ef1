"""How operations move as one operand grows and the others stay: 1 up, -1 down, 0 either.

None is down that stays, and so none is up. What is not here moves as its row says, whatever its
operands are; here it depends on their ranges.
"""

from __future__ import annotations

from qps.engine.evaluators import on_ranges
from qps.engine.numerics.value_ranges import ValueRange
from qps.engine.queueing_networks.load_dependent_operands import growing

Moves = tuple[int, ...]


def product(*factors: ValueRange) -> Moves:
    """Return how a product moves: with each factor by the sign of all others."""
    others = (on_ranges.product(*factors[:i], *factors[i + 1 :]) for i in range(len(factors)))
    return tuple(_by_sign(other) for other in others)


def raised(base: ValueRange, exponent: ValueRange) -> Moves:
    """Return how a power moves; with its exponent it depends on whether the base is above 1."""
    by_base, whole = _by_sign(exponent), exponent.whole
    if not base.below:
        return by_base, 0
    if whole is None:
        return 0, 0
    if whole % 2:
        # 1/x jumps from below all numbers to above them where x passes zero.
        return 0 if base.above and by_base < 0 else by_base, 0
    return 0 if base.above else -by_base, 0


def ratio(above: ValueRange, below: ValueRange) -> Moves:
    """Return how a quotient moves: as long as its divisor is above zero."""
    if below.low <= 0:
        return 0, 0
    return 1, -_by_sign(above)


mean = ratio


def absolute(value: ValueRange) -> Moves:
    """Return how a size moves."""
    return (_by_sign(value),)


def waiting(work: ValueRange, _load: ValueRange) -> Moves:
    """Return how a wait moves."""
    return 1, 0 if work.below else 1


def nested_rate(*operands: ValueRange) -> Moves:
    """Return how the rate of a closed network moves."""
    return growing(operands)


def _by_sign(of: ValueRange) -> int:
    return 1 if not of.below else 0 if of.above else -1
