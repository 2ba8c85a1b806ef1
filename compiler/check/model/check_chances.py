"""Calls by chance of which it is likely that something else is meant."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations

from qps.compiler import ir
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink

_Linear = dict[ir.Expr | None, Fraction]
"""The coefficient of each part of a sum, and of None the number in it."""


def report_coins(model: ir.Model, sink: Sink) -> None:
    """Warn of calls by shares that sum to 1: each is made or not by itself, not one of them.

    Of two calls by `share` and `1 - share` some items make both, and some make none.
    """
    for stream in model.streams:
        for calls in _side_by_side(stream.legs):
            found = next(_sums_to_one(calls), None)
            if found is None:
                continue
            first, *others = found
            told = " and ".join(f"`{call.node}`" for call in found)
            assert first.times is not None
            sink.report(
                codes.COINS,
                first.times.span,
                f"the calls of {told} are made by chance, each by itself: some items of "
                f"`{stream.name}` make all of them, and some make none",
                label="their shares sum to 1",
                secondary=[Label(call.times.span, "and this one") for call in others if call.times],
                hint="where each item makes one of them, send each share as a stream of its own",
            )


def _side_by_side(legs: tuple[ir.Leg, ...]) -> list[list[ir.Call]]:
    """Return the calls that are made one after the other, or together, by the same caller."""
    found: list[list[ir.Call]] = []
    open_ones: list[list[ir.Call]] = [[]]
    for leg in legs:
        if not isinstance(leg, ir.CallMark):
            continue
        if leg.point is ir.CallPoint.BEGINS:
            open_ones[-1].append(leg.call)
            open_ones.append([])
        elif leg.point is ir.CallPoint.ENDS:
            found.append(open_ones.pop())
    return [*open_ones, *found]


def _sums_to_one(calls: list[ir.Call]) -> Iterator[tuple[ir.Call, ...]]:
    by_share = [call for call in calls if call.condition is None and _may_be_share(call)]
    if len(by_share) > _MOST:
        return
    for often in range(2, len(by_share) + 1):
        for some in combinations(by_share, often):
            if len({call.node for call in some}) < often and all(map(_is_number, some)):
                continue  # a node that is called again, as likely as not
            total: _Linear = {}
            for call in some:
                assert call.times is not None
                _add(total, _linear(call.times.expr), Fraction(1))
            if {part: many for part, many in total.items() if many} == {None: 1}:
                yield some


def _may_be_share(call: ir.Call) -> bool:
    if call.times is None:
        return False
    expr = call.times.expr
    return not isinstance(expr, ir.Constant) or 0 < expr.value < 1


def _is_number(call: ir.Call) -> bool:
    return call.times is not None and isinstance(call.times.expr, ir.Constant)


_MOST = 8
"""Of more calls beside each other all sums are not tried."""


def _linear(expr: ir.Expr) -> _Linear:
    if isinstance(expr, ir.Constant):
        return {None: expr.value}
    if isinstance(expr, ir.Sum):
        found: _Linear = {}
        for term in expr.terms:
            _add(found, _linear(term), Fraction(1))
        return found
    if isinstance(expr, ir.Product):
        numbers = [one for one in expr.factors if isinstance(one, ir.Constant)]
        others = [one for one in expr.factors if not isinstance(one, ir.Constant)]
        if numbers and len(others) == 1:
            found = {}
            by = Fraction(1)
            for one in numbers:
                by *= one.value
            _add(found, _linear(others[0]), by)
            return found
    return {expr: Fraction(1)}


def _add(into: _Linear, more: _Linear, by: Fraction) -> None:
    for part, many in more.items():
        into[part] = into.get(part, Fraction(0)) + many * by
