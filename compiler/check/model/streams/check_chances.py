"""Calls and steps by chance, of which it is likely that something else is meant."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from qps.compiler import ir
from qps.compiler.check.model.parameters.nominal_values import nominal_value
from qps.compiler.diagnostics import codes
from qps.compiler.diagnostics.diagnostic import Label, Sink
from qps.compiler.diagnostics.suggest import listed
from qps.compiler.ir.parts import operands_of, parts_of

_ALMOST_ALL = Fraction(9, 10)
"""Alternatives of so many items at least are likely meant for all of them."""
_PLAIN = re.compile(r"[\d._]+\s*%?|\w+|\([^()]*\)")
"""What needs no brackets before a colon."""
_Linear = dict[ir.Expr | None, Fraction]
"""The coefficient of each part of a sum, and of None the number in it."""


def report_chances(model: ir.Model, sink: Sink) -> None:
    """Warn of calls and steps by shares that sum to 1, and of several by one share.

    Each is drawn by itself: of two calls by `share` and `1 - share` some items make both, and some
    make none; of two by the same share some items make one of them alone. The means
    of users who wait for answers are the same either way: nothing is said of them where nothing but
    means is requested.
    """
    with_a_law = _with_a_law(model)
    for stream in model.streams:
        _report_almost_all(stream, sink)
        if stream.is_closed and stream.name not in with_a_law:
            continue
        for calls in _side_by_side(stream.legs):
            found = next(_sums_to_one(calls), None)
            if found is None:
                for alike in _by_one_share(calls, model):
                    _report_one_share(alike, stream, sink)
                continue
            _report_coins(found, sink)


def _report_almost_all(stream: ir.Stream, sink: Sink) -> None:
    """Warn of alternatives by plain numbers that leave out only a few of the items."""
    choices: dict[int, list[ir.Call]] = {}
    for call in stream.calls:
        if call.choice is not None and call.event is None:
            choices.setdefault(call.choice, []).append(call)
    for ways in choices.values():
        if len(ways) < 2 or any(way.is_rest for way in ways):  # noqa: PLR2004
            continue
        numbers = [way.times.expr for way in ways if way.times is not None]
        shares = [one.value for one in numbers if isinstance(one, ir.Constant)]
        if len(shares) < len(ways) or not _ALMOST_ALL <= sum(shares) < 1:
            continue
        last = ways[-1].times
        assert last is not None
        percent = f"{float(100 * sum(shares)):g} %"
        sink.report(
            codes.ALMOST_ALL,
            last.span,
            f"the probabilities in `one of` add up to {percent}: other items of `{stream.name}` "
            "run none of the alternatives",
            hint="if each item runs one of them, replace this probability by `else`",
        )


def _report_coins(calls: Sequence[ir.Call], sink: Sink) -> None:
    first, *others = calls
    are_calls = not any(call.is_local for call in calls)
    calls_text = " and ".join(f"`{call.node if are_calls else _done(call)}`" for call in calls)
    make = "make" if are_calls else "run"
    assert first.times is not None
    sink.report(
        codes.COINS,
        first.times.span,
        f"{'calls to ' if are_calls else ''}{calls_text} are independent: items can {make} "
        + ("both" if len(others) == 1 else "all of them"),
        label="these probabilities sum to 1",
        secondary=[
            Label(call.times.span, f"probability of the call to `{call.node}`")
            if are_calls
            else Label(call.times.span, "drawn separately")
            for call in others
            if call.times
        ],
        hint=f"if each item {make}s exactly one of them, write "
        f"`one of {{ {_done(first)}; else: … }}`",
    )


def _report_one_share(calls: list[ir.Call], stream: ir.Stream, sink: Sink) -> None:
    first, *others = calls
    called = listed(list(dict.fromkeys(call.node for call in calls)), "and")
    share = _probability(first)
    assert first.times is not None
    if any(call.is_local for call in calls):
        message = f"`{share}:` is drawn separately each time: some items of `{stream.name}` run "
        message += "only one of these"
        hint = "if the same items run all of them, declare an event, which is drawn once: "
        hint += f"`event happens = {share}`, and write `happens: …`"
    else:
        message = f"calls to {called} are independent: some items of `{stream.name}` make only "
        message += "one of them"
        hint = "if the same items make all of them, write "
        hint += f"`{share}: {{ call {first.node} {{ … }}; … }}`"
    sink.report(
        codes.ONE_SHARE,
        first.times.span,
        message,
        label="this probability",
        secondary=[Label(call.times.span, "the same probability") for call in others if call.times],
        hint=hint,
    )


def _done(call: ir.Call) -> str:
    """Return what is done by chance, briefly: `15 %: …`, `15 %: call db { … }`."""
    done = "…" if call.is_local else f"call {call.node} {{ … }}"
    return f"{_probability(call)}: {done}"


def _probability(call: ir.Call) -> str:
    """Return how often a call is made, as it is written before a colon."""
    assert call.times is not None
    text = " ".join(call.times.span.text.split())
    return text if _PLAIN.fullmatch(text) else f"({text})"


def _by_one_share(calls: list[ir.Call], model: ir.Model) -> Iterator[list[ir.Call]]:
    """Yield calls of several nodes by the same share, or of one by the same parameters.

    Of steps, too, the same number is no reason to think that one draw is meant.
    """
    alike: dict[frozenset[tuple[ir.Expr | None, Fraction]], list[ir.Call]] = {}
    for call in calls:
        if call.condition is not None or call.times is None or call.others is not None:
            continue
        if _is_share(call.times.expr, model):
            key = frozenset(_linear(call.times.expr).items())
            alike.setdefault(key, []).append(call)
    for same in alike.values():
        are_calls = not any(call.is_local for call in same)
        are_several = are_calls and len({call.node for call in same}) > 1
        if len(same) > 1 and (are_several or not all(map(_is_number, same))):
            yield same


def _with_a_law(model: ir.Model) -> frozenset[str]:
    """Return the streams of which a spec requests more than means."""
    numbers = [one.value for one in model.measures]
    numbers += [side for one in model.requirements for side in (one.measure, one.limit)]
    numbers += [column.value for one in model.observations for column in one.measured]
    expressions = [number.expr for number in numbers]
    for claim in (claim for one in model.expectations for claim in one.claims):
        value = claim.value
        expressions += [value.expr] if isinstance(value, ir.Quantity) else operands_of(value)
    measured = (
        part for expr in expressions for part in parts_of(expr) if isinstance(part, ir.Measured)
    )
    return frozenset(part.subject for part in measured if part.kind in _OF_A_LAW)


_OF_A_LAW = frozenset(
    {
        *(ir.MeasureKind.QUANTILE, ir.MeasureKind.JITTER),
        *(ir.MeasureKind.WAIT_QUANTILE, ir.MeasureKind.TIME_SHARE),
    }
)


def _is_share(expr: ir.Expr, model: ir.Model) -> bool:
    """Return whether a number is between 0 and 1, as the spec states it."""
    value = nominal_value(expr, model)
    return value is not None and 0 < value < 1


def _side_by_side(legs: tuple[ir.Leg, ...]) -> list[list[ir.Call]]:
    """Return what is called or done by chance, one after the other or together, by one caller.

    What stands in `one of` or depends on an event is drawn once, as it should be.
    """
    marks = [leg for leg in legs if isinstance(leg, ir.CallMark)]
    ways = Counter(one.call.choice for one in marks if one.point is ir.CallPoint.BEGINS)
    found: list[list[ir.Call]] = []
    open_ones: list[list[ir.Call]] = [[]]
    for leg in marks:
        if leg.point is ir.CallPoint.BEGINS:
            is_drawn_alone = leg.call.event is None and ways[leg.call.choice] < 2  # noqa: PLR2004
            open_ones[-1] += [leg.call] if not leg.call.is_local or is_drawn_alone else []
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
            if all(map(_is_number, some)) and _is_by_accident(some, by_share):
                continue
            total: _Linear = {}
            for call in some:
                assert call.times is not None
                _add(total, _linear(call.times.expr), Fraction(1))
            if {part: many for part, many in total.items() if many} == {None: 1}:
                yield some


def _is_by_accident(some: Sequence[ir.Call], by_share: Sequence[ir.Call]) -> bool:
    """Return whether plain numbers are likely to sum to 1 without a meaning.

    A node may be called again, as likely as not; of many steps by chance some two may be so.
    """
    if any(call.is_local for call in some):
        return len(some) < len(by_share)
    return len({call.node for call in some}) < len(some)


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
