"""Which way streams take where visits, links, calls or whole streams stand under conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import CircleError, Folder, UnstatedCaseError, ValueTooLargeError
from qps.compiler.diagnostics.diagnostic import Label
from qps.engine.exact_algebra.exact_values import NoValueError

ConditionTest = Callable[[ir.Condition], bool | None]
"""Tells whether a condition is true, None where that is not to be had."""

_FAULTS = (CircleError, NoValueError, ValueTooLargeError, UnstatedCaseError)
"""What is reported where values are looked at."""
_ONE, _LESS = ir.Constant(Fraction(1)), ir.Constant(Fraction(-1))


class PathTest(Struct, frozen=True, kw_only=True):
    """Tells which way streams take in a configuration.

    A call of which the probability `is_zero` is not made if it comes to one of the `empty` nodes:
    these have no machines.
    """

    holds: ConditionTest
    is_zero: Callable[[ir.Expr], bool]
    empty: frozenset[str]


def path_test(configuration: Configuration) -> PathTest:
    """Return what says which way streams take in a configuration."""
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))

    def holds(condition: ir.Condition) -> bool | None:
        try:
            return folder.holds(condition)
        except _FAULTS:
            return None

    def is_zero(expr: ir.Expr) -> bool:
        try:
            return folder.fold(expr) == 0
        except _FAULTS:
            return False

    return PathTest(holds=holds, is_zero=is_zero, empty=empty_nodes(configuration))


def empty_nodes(configuration: Configuration) -> frozenset[str]:
    """Return the nodes that are stated to have no machines."""
    counts = {name: node.count for name, node in configuration.nodes.items()}
    return frozenset(
        name for name, one in counts.items() if isinstance(one, ir.Constant) and one.value == 0
    )


def legs_of(stream: ir.Stream, test: PathTest) -> list[ir.Leg]:
    """Return the way of a stream, nothing where the stream is not there.

    What cannot be determined is taken to be there.
    """
    if stream.condition is not None and test.holds(stream.condition) is False:
        return []
    way = active_path(stream, test.holds)
    return active_legs(stream.legs if way is None else way.legs, test)


def active_path(stream: ir.Stream, test: ConditionTest) -> ir.StreamPath | None:
    """Return the way by which a stream goes, None where it has but one, or is undecided."""
    if not stream.conditions:
        return None
    outcomes = tuple(test(condition) for condition in stream.conditions)
    return next((way for way in stream.paths if way.holds == outcomes), None)


def active_legs(legs: Sequence[ir.Leg], test: PathTest) -> list[ir.Leg]:
    """Return a way without the calls that are not made, as if they were not written."""
    unmade = _unmade(legs, test)
    found: list[ir.Leg] = []
    left_out: int | None = None
    joins = False
    for leg in legs:
        mark = leg if isinstance(leg, ir.CallMark) else None
        if left_out is not None:
            if mark and mark.point is ir.CallPoint.ENDS and mark.call.number == left_out:
                left_out, joins = None, True
            continue
        if mark and mark.point is ir.CallPoint.BEGINS and mark.call.number in unmade:
            left_out = mark.call.number
            continue
        last = found[-1] if found else None
        if joins and isinstance(leg, ir.Visit) and isinstance(last, ir.Visit):
            found[-1] = ir.Visit(last.node, (*last.steps, *leg.steps), last.span)
        else:
            found.append(leg)
        joins = False
    return found


def _unmade(legs: Iterable[ir.Leg], test: PathTest) -> set[int]:
    """Return the calls whose condition fails, and those to no machines that nothing makes."""
    begun: list[ir.Call] = []
    choices: dict[int, list[ir.Expr]] = {}
    found: set[int] = set()
    for leg in legs:
        if isinstance(leg, ir.Visit) and leg.node in test.empty:
            shares = ((call, share_of(call, choices)) for call in begun)
            found |= {call.number for call, share in shares if share and test.is_zero(share)}
        if not isinstance(leg, ir.CallMark):
            continue
        call = leg.call
        if leg.point is ir.CallPoint.ENDS:
            begun = [one for one in begun if one.number != call.number]
        elif leg.point is ir.CallPoint.BEGINS:
            begun.append(call)
            if call.condition is not None and test.holds(call.condition) is False:
                found.add(call.number)
            if call.choice is not None and call.times is not None and not call.is_rest:
                choices.setdefault(call.choice, []).append(call.times.expr)
    return found


def share_of(call: ir.Call, choices: Mapping[int, Sequence[ir.Expr]]) -> ir.Expr | None:
    """Return how often a call is made, by the probabilities of choices; None if always once.

    The last alternative of a choice is made as often as all others of it are not.
    """
    if call.is_rest and call.choice is not None:
        others = (ir.Product((_LESS, one)) for one in choices.get(call.choice, ()))
        return ir.Sum((_ONE, *others))
    if call.times is None:
        return None
    if call.event is not None and not call.event.happens:
        return ir.Sum((_ONE, ir.Product((_LESS, call.times.expr))))
    return call.times.expr


def may_be_left_out(model: ir.Model, node: str) -> bool:
    """Return whether streams may go without a node if it has no machines; not without a link."""
    if all(one.name != node for one in model.nodes):
        return False
    test = PathTest(holds=lambda _: False, is_zero=lambda _: True, empty=frozenset([node]))
    always = (one for one in model.streams if not one.conditions)
    return all(node != name for stream in always for name, _ in _visits_of(stream, test))


def visited(model: ir.Model, test: PathTest) -> Mapping[str, Label]:
    """Return the nodes at which streams are, each with who is first there."""
    if not test.empty and not model.derived(_has_conditions):
        return model.derived(_visited_always)
    return dict(_first_of_each(_visits(model, test)))


def conditions_of(stream: ir.Stream) -> Iterator[ir.Condition | None]:
    """Yield the conditions on which it rests where a stream goes."""
    yield stream.condition
    yield from stream.conditions
    for call in stream.calls:
        yield call.condition
    for mark in stream.pools:
        yield mark.condition


def _has_conditions(model: ir.Model) -> bool:
    return any(condition for stream in model.streams for condition in conditions_of(stream))


def _visited_always(model: ir.Model) -> Mapping[str, Label]:
    always = PathTest(holds=lambda _: True, is_zero=lambda _: False, empty=frozenset())
    return dict(_first_of_each(_visits(model, always)))


def _first_of_each(visits: Iterable[tuple[str, Label]]) -> Iterator[tuple[str, Label]]:
    known: set[str] = set()
    for node, label in visits:
        if node not in known:
            known.add(node)
            yield node, label


def _visits(model: ir.Model, test: PathTest) -> Iterator[tuple[str, Label]]:
    for stream in model.streams:
        yield from _visits_of(stream, test)


def _visits_of(stream: ir.Stream, test: PathTest) -> Iterator[tuple[str, Label]]:
    legs = legs_of(stream, test)
    if legs and isinstance(stream.flows_from, ir.EachPair) and stream.flows_from.node:
        label = Label(stream.span, f"`{stream.name}` has a flow for each pair")
        yield stream.flows_from.node, label
    if legs and isinstance(stream.flows_from, str):
        yield stream.flows_from, Label(stream.span, f"`{stream.name}` starts at each one")
    for leg in legs:
        if isinstance(leg, ir.Visit):
            yield leg.node, Label(leg.span, f"`{stream.name}` visits it here")
