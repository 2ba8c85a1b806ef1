"""Whether a constraint says less than before: which way its ends, levels and conditions moved."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.quantities.dimension import Dimension
from qps.reports.text.words.quantities import quantity
from qps.reviewing.rules.constraints import Atom, Constraint, End

_GROWING = frozenset(
    {
        *(ir.MeasureKind.LATENCY, ir.MeasureKind.QUANTILE, ir.MeasureKind.QUEUE),
        *(ir.MeasureKind.WAIT, ir.MeasureKind.WAIT_QUANTILE, ir.MeasureKind.MAX_WAIT),
        *(ir.MeasureKind.LOSS, ir.MeasureKind.VOLUNTARY_LOSS, ir.MeasureKind.SATURATION_LOSS),
        *(ir.MeasureKind.LOAD, ir.MeasureKind.JITTER, ir.MeasureKind.BUFFER),
    }
)
"""What grows with the population: an upper bound is weaker at a smaller one."""


class Move(Enum):
    """What became of what is claimed."""

    SAME = "same"
    TIGHTER = "tighter"
    LOOSER = "looser"
    OTHER = "other"


class Moved(Struct, frozen=True):
    """What became of a constraint, and how, in words."""

    move: Move
    how: str = ""


def together(moves: Iterable[Moved]) -> Moved:
    """Return what several moves come to: one way, or neither."""
    found = [one for one in moves if one.move is not Move.SAME]
    kinds = {one.move for one in found}
    how = "; ".join(dict.fromkeys(one.how for one in found if one.how))
    if not kinds:
        return Moved(Move.SAME)
    return Moved(kinds.pop() if len(kinds) == 1 else Move.OTHER, how)


def turned(one: Moved) -> Moved:
    """Return what a move comes to where the opposite is claimed."""
    opposite = {Move.TIGHTER: Move.LOOSER, Move.LOOSER: Move.TIGHTER}
    return replace(one, move=opposite.get(one.move, one.move))


def implied(old: Constraint, new: Sequence[Constraint]) -> bool:
    """Return whether constraints of the same form, all of which hold, leave no more room."""
    if old.is_always_so:
        return True
    same = [one for one in new if one.exact == old.exact]
    if not same:
        ways = (all(implied(part, new) for part in way) for way in old.alternatives)
        return any(ways)
    if old.low is None and old.high is None:
        return True
    lows = [one.low for one in same if one.low is not None]
    highs = [one.high for one in same if one.high is not None]
    low = max(lows, key=lambda end: (end.value, end.strict), default=None)
    high = min(highs, key=lambda end: (end.value, not end.strict), default=None)
    if old.tag == "other than":
        return any(one.low == old.low for one in same)
    return _end(old.low, low, 1, old.dimension).move in _NO_LOOSER and (
        _end(old.high, high, -1, old.dimension).move in _NO_LOOSER
    )


def is_alternative(one: Constraint, other: Constraint) -> bool:
    """Return whether a constraint is one of several alternatives of another one."""
    return any(implied(one, way) for way in other.alternatives)


def compared(old: Constraint, new: Constraint) -> Moved:
    """Return which way a constraint moved, of the same shape or with alternatives."""
    if new.is_always_so and not old.is_always_so:
        return Moved(Move.LOOSER, "it is now always true")
    if old.alternatives or new.alternatives:
        return _alternatives(old, new)
    if old.tag == "other than":
        return Moved(Move.SAME if old.low == new.low else Move.OTHER)
    low = _end(old.low, new.low, 1, old.dimension)
    high = _end(old.high, new.high, -1, old.dimension)
    ends = _both_ends(old, new, low, high)
    moves = [ends]
    for (before, coefficient), (after, factor) in zip(old.terms, new.terms, strict=True):
        upper = old.high is not None if coefficient > 0 else old.low is not None
        lower = old.low is not None if coefficient > 0 else old.high is not None
        moves += [
            _level(before, after, is_upper=upper, is_lower=lower),
            _context(before, after, is_upper=upper, is_lower=lower),
            _inner(before, after, is_upper=upper, is_lower=lower),
            _factor(old, coefficient, factor),
        ]
    return together(moves)


def _both_ends(old: Constraint, new: Constraint, low: Moved, high: Moved) -> Moved:
    """Return which way an interval moved; one that went aside is looser where it is wider."""
    moves = {low.move, high.move}
    if moves != {Move.LOOSER, Move.TIGHTER}:
        return together([low, high])
    if None in (old.low, old.high, new.low, new.high):
        return Moved(Move.OTHER, "a different relation")
    middles = [(end.low.value + end.high.value) / 2 for end in (old, new) if end.low and end.high]
    how = f"value {_describe(middles[0], old.dimension)} -> {_describe(middles[1], old.dimension)}"
    was, is_now = _share(old), _share(new)
    if old.tolerance and new.tolerance and old.tolerance.relative is new.tolerance.relative:
        is_wider = new.tolerance.amount > old.tolerance.amount
    else:
        is_wider = was is not None and is_now is not None and is_now > was
    if is_wider:
        how = f"{how}; tolerance {_percent(was)} -> {_percent(is_now)}"
    return Moved(Move.LOOSER if is_wider else Move.OTHER, how)


def _share(one: Constraint) -> Fraction | None:
    """Return the tolerance of an interval as a share of its middle."""
    if one.low is None or one.high is None:
        return None
    middle = (one.low.value + one.high.value) / 2
    return abs((one.high.value - one.low.value) / 2 / middle) if middle else None


def _percent(share: Fraction | None) -> str:
    return "none" if share is None else f"{float(share) * 100:g} %"


def _end(old: End | None, new: End | None, sign: int, dimension: Dimension) -> Moved:
    """Return which way an end moved: the lower one for a `sign` of 1, the upper for -1."""
    word = "at least" if sign > 0 else "at most"
    if old is None or new is None:
        if old is new:
            return Moved(Move.SAME)
        if new is None:
            assert old is not None
            return Moved(Move.LOOSER, f"no longer {word} {_describe(old.value, dimension)}")
        return Moved(Move.TIGHTER, f"{word} {_describe(new.value, dimension)}")
    if old.value != new.value:
        how = f"{word} {_describe(old.value, dimension)} -> {_describe(new.value, dimension)}"
        is_tighter = (new.value - old.value) * sign > 0
        return Moved(Move.TIGHTER if is_tighter else Move.LOOSER, how)
    if old.strict == new.strict:
        return Moved(Move.SAME)
    return Moved(Move.TIGHTER if new.strict else Move.LOOSER, "the bound itself")


def _describe(value: Fraction, dimension: Dimension) -> str:
    number = float(value)
    if not dimension.exponents and number.is_integer():
        return f"{number:,.0f}"
    return quantity(number, dimension)


def _factor(old: Constraint, before: Fraction, after: Fraction) -> Moved:
    """Return what another factor of a measure comes to: no measure is less than zero."""
    if before == after:
        return Moved(Move.SAME)
    how = f"factor {float(before):g} -> {float(after):g}"
    has_high, has_low = old.high is not None, old.low is not None
    return _direction(how, is_easier=after < before, is_upper=has_high, is_lower=has_low)


def _level(old: Atom, new: Atom, *, is_upper: bool, is_lower: bool) -> Moved:
    """Return what another quantile comes to: below a lower one, less must stay."""
    if old.level == new.level or old.level is None or new.level is None:
        return Moved(Move.SAME if old.level == new.level else Move.OTHER)
    how = f"quantile {_percent(old.level)} -> {_percent(new.level)}"
    return _direction(how, is_easier=new.level < old.level, is_upper=is_upper, is_lower=is_lower)


def _direction(how: str, *, is_easier: bool, is_upper: bool, is_lower: bool) -> Moved:
    """Return what a smaller value (where it `is_easier` for upper bounds) comes to."""
    if is_upper is is_lower:
        return Moved(Move.OTHER, how)
    return Moved(Move.LOOSER if is_easier is is_upper else Move.TIGHTER, how)


def _context(old: Atom, new: Atom, *, is_upper: bool, is_lower: bool) -> Moved:
    """Return what another model comes for a measure."""
    if old.context == new.context:
        return Moved(Move.SAME)
    if old.context < new.context:
        return Moved(Move.LOOSER, "more conditions")
    before: dict[Hashable, Any] = dict(old.context)
    after: dict[Hashable, Any] = dict(new.context)
    was, is_now = before.pop("population", None), after.pop("population", None)
    if before == after and was and is_now and old.kind in _GROWING:
        how = f"at {was[1]:,} -> {is_now[1]:,} users"
        easier = is_now[1] < was[1]
        return _direction(how, is_easier=easier, is_upper=is_upper, is_lower=is_lower)
    return Moved(Move.OTHER, "different conditions")


def _inner(old: Atom, new: Atom, *, is_upper: bool, is_lower: bool) -> Moved:
    """Return what a probability comes to whose condition is another one."""
    found = _all_of(old.inner, new.inner)
    if found.move in (Move.SAME, Move.OTHER) or is_lower is is_upper:
        return found if found.move is Move.SAME else replace(found, move=Move.OTHER)
    return found if is_lower else turned(found)


def _all_of(old: Sequence[Constraint], new: Sequence[Constraint]) -> Moved:
    """Return which way a conjunction moved."""
    moves = []
    left = [one for one in new if not one.is_always_so]
    for one in old:
        other = next((n for n in left if n.exact == one.exact), None)
        other = other or next((n for n in left if n.shape == one.shape), None)
        other = other or next((n for n in left if _is_alternative(one, n)), None)
        if other is None:
            moves.append(Moved(Move.LOOSER, "a part is dropped"))
        else:
            left.remove(other)
            moves.append(compared(one, other))
    return together([*moves, *(Moved(Move.TIGHTER, "a part is added") for _ in left)])


def _alternatives(old: Constraint, new: Constraint) -> Moved:
    """Return which way a condition moved of which one alternative must hold."""
    before, after = _branches(old), _branches(new)
    is_within, holds_all = _is_within(before, after), _is_within(after, before)
    if is_within and holds_all:
        return Moved(Move.SAME)
    if is_within or (not old.alternatives and is_alternative(old, new)):
        more = len(after) > len(before)
        return Moved(Move.LOOSER, "an alternative is " + ("added" if more else "looser"))
    if holds_all:
        fewer = len(after) < len(before)
        return Moved(Move.TIGHTER, "an alternative is " + ("dropped" if fewer else "stricter"))
    moves = []
    if len(before) == len(after):
        moves = [_all_of(a, b) for a, b in zip(before, after, strict=True)]
    return together(moves) if moves else Moved(Move.OTHER, "different alternatives")


def _branches(one: Constraint) -> tuple[tuple[Constraint, ...], ...]:
    return one.alternatives or ((one,),)


def _is_within(
    alternatives: Sequence[Sequence[Constraint]], others: Sequence[Sequence[Constraint]]
) -> bool:
    """Return whether whatever one of some ways lets pass, one of the others does."""
    return all(
        any(all(implied(part, way) for part in other) for other in others) for way in alternatives
    )


def _is_alternative(one: Constraint, other: Constraint) -> bool:
    """Return whether one of two constraints is an alternative of the other."""
    if not (one.alternatives or other.alternatives):
        return False
    return _alternatives(one, other).move is not Move.OTHER


_NO_LOOSER = (Move.SAME, Move.TIGHTER)
conjunction = _all_of
