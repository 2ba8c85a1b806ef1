"""What a spec covers, before and after: ranges, spreads, matrices."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.quantities.dimension import DIMENSIONLESS, Dimension
from qps.reports.text.words.quantities import quantity
from qps.reviewing.rules.condition_reader import ConditionReader
from qps.reviewing.rules.plain_values import new_name, plain
from qps.reviewing.rules.weakening import Weakening

_MOST_VALUES = 10_000
"""Values of an axis that are compared one by one; of more, the ends and the number are."""


def range_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the ranges and spreads that cover less than before."""
    yield from _population(old.model.population, new.model.population)
    after = {one.name: one for one in new.model.parameters}
    for one in old.model.parameters:
        other = after.get(new_name(one.name, old.renamed))
        if other is not None and one.place is None:
            yield from _range(old, new, one, other)
            yield from _spread(one, other)


def _population(old: ir.UserRange, new: ir.UserRange) -> Iterator[Weakening]:
    if (old.low < new.low or new.high < old.high) and new.span is not None:
        yield Weakening(
            rule="range-narrowed",
            message=f"users {new.name} in {old.low}..{old.high} -> {new.low}..{new.high}",
            span=new.span,
        )


def _range(
    old: ConditionReader, new: ConditionReader, one: ir.Parameter, other: ir.Parameter
) -> Iterator[Weakening]:
    before = _ends(old, one)
    after = _ends(new, other)
    if before is None or after is None:
        return
    least_lower = one.is_elastic and other.is_elastic and after[0] < before[0]
    if least_lower:
        yield Weakening(
            rule="requirement-loosened",
            message=f"`{other.name}` can be lower: {_interval(before, one)} -> "
            f"{_interval(after, other)}",
            span=other.span,
        )
    is_narrower = after[1] < before[1] or (after[0] > before[0] and not one.is_elastic)
    if is_narrower and not (one.is_elastic and other.is_elastic):
        yield Weakening(
            rule="range-narrowed",
            message=f"`{other.name}` in {_interval(before, one)} -> {_interval(after, other)}",
            span=other.span,
        )


def _ends(reader: ConditionReader, one: ir.Parameter) -> tuple[Fraction, Fraction] | None:
    if one.low is None or one.high is None:
        return None
    low, high = reader.number(one.low), reader.number(one.high)
    return None if low is None or high is None else (low, high)


def _interval(ends: tuple[Fraction, Fraction], one: ir.Parameter) -> str:
    return "..".join(_describe(end, one.dimension) for end in ends)


def _describe(value: Fraction, dimension: Dimension) -> str:
    number = float(value)
    if dimension == DIMENSIONLESS and number.is_integer():
        return f"{number:,.0f}"
    return quantity(number, dimension)


def _spread(old: ir.Parameter, new: ir.Parameter) -> Iterator[Weakening]:
    """Yield that a number is said to be more certain: narrower, as a part of what is typical."""
    if not isinstance(old.value, ir.Uncertain):
        return
    before = _width(old.value)
    after = _width(new.value) if isinstance(new.value, ir.Uncertain) else Fraction(0)
    if before is None or after is None or after >= before * Fraction(999_999, 1_000_000):
        return
    widths = [f"{float(width) * 50:.3g} %" for width in (before, after)]
    yield Weakening(
        rule="range-narrowed",
        message=f"`{new.name}` is more certain than before: +- {widths[0]} -> "
        f"{f'+- {widths[1]}' if after else 'certain'}",
        span=new.span,
    )


def _width(value: ir.Uncertain) -> Fraction | None:
    """Return how wide a spread is, as a part of its typical value."""
    low, high = value.distribution.ends
    typical = value.distribution.typical
    return abs((high - low) / typical) if typical else None


def matrix_weakenings(old: ConditionReader, new: ConditionReader) -> Iterator[Weakening]:
    """Yield the matrices that are gone, or cover fewer configurations."""
    after = {one.name: one for one in new.model.matrices}
    for one in old.model.matrices:
        other = after.get(new_name(one.name, old.renamed))
        if other is None:
            yield Weakening(
                rule="matrix-removed",
                message=f"matrix `{one.name}` was removed: {one.size:,} configurations",
                span=one.span,
                is_before=True,
            )
            continue
        reasons = [*_narrower(old, new, one, other)]
        if reasons:
            yield Weakening(
                rule="matrix-narrowed",
                message=f"matrix `{other.name}` was narrowed: {'; '.join(reasons)}",
                span=other.span,
            )


def _narrower(
    old: ConditionReader, new: ConditionReader, one: ir.Matrix, other: ir.Matrix
) -> Iterator[str]:
    axes = {axis.name: axis for axis in other.axes}
    for axis in one.axes:
        name = new_name(axis.name, old.renamed)
        counterpart = axes.get(name)
        if counterpart is None:
            yield f"axis `{axis.name}` was removed"
            continue
        lost = _lost(old, new, axis, counterpart)
        if lost:
            yield f"axis `{name}`: {lost}"
    if len(other.blocks) < len(one.blocks):
        yield "an `include` was removed"
    excluded = [plain(condition) for condition in other.excluded]
    before = [plain(condition, old.renamed) for condition in one.excluded]
    if any(condition not in before for condition in excluded):
        yield "more is excluded"
    narrower = None if one.wanted is None else plain(one.wanted, old.renamed)
    if other.wanted is not None and plain(other.wanted) != narrower:
        yield "fewer rows are kept" if narrower is None else "other rows are kept"
    if old.context(one.changes) != new.context(other.changes):
        yield "different conditions"
    if one.at != other.at and one.at is not None and other.at is not None and other.at < one.at:
        yield f"at {one.at:,} -> {other.at:,} users"


def _lost(old: ConditionReader, new: ConditionReader, one: ir.Axis, other: ir.Axis) -> str:
    """Return which values of an axis are gone, empty where none is."""
    if max(one.count, other.count) > _MOST_VALUES:
        is_less = other.count < one.count
        return f"{one.count:,} -> {other.count:,} values" if is_less else ""
    if one.kind is ir.AxisKind.PARAMETER and other.kind is ir.AxisKind.PARAMETER:
        before: set[object] = {one.number(index) for index in range(one.count)}
        after: set[object] = {other.number(index) for index in range(other.count)}
    elif one.kind is ir.AxisKind.DRAWN or other.kind is ir.AxisKind.DRAWN:
        return "" if one.kind is other.kind and one.count <= other.count else "other values"
    else:
        before = {old.context([change]) for change in one.choices}
        after = {new.context([change]) for change in other.choices}
    gone = before - after
    return f"{len(gone):,} of {len(before):,} values removed" if gone else ""
