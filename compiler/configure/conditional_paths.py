"""Which way streams take where visits, links, calls or whole streams stand under conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.configure.fold import CircleError, Folder, UnstatedCaseError, ValueTooLargeError
from qps.compiler.diagnostics.diagnostic import Label
from qps.engine.exact_algebra.exact_values import NoValueError

ConditionTest = Callable[[ir.Condition], bool | None]
"""Tells whether a condition is true, None where that is not to be had."""


def condition_test(configuration: Configuration) -> ConditionTest:
    """Return what says which conditions hold in a configuration."""
    folder = Folder(configuration=configuration, population=Fraction(configuration.low))

    def test(condition: ir.Condition) -> bool | None:
        try:
            return folder.holds(condition)
        except (CircleError, NoValueError, ValueTooLargeError, UnstatedCaseError):
            return None  # that is reported where values are looked at

    return test


def legs_of(stream: ir.Stream, test: ConditionTest) -> list[ir.Leg]:
    """Return the way of a stream, nothing where the stream is not there.

    What cannot be determined is taken to be there.
    """
    if stream.condition is not None and test(stream.condition) is False:
        return []
    way = active_path(stream, test)
    return active_legs(stream.legs if way is None else way.legs, test)


def active_path(stream: ir.Stream, test: ConditionTest) -> ir.StreamPath | None:
    """Return the way by which a stream goes, None where it has but one, or is undecided."""
    if not stream.conditions:
        return None
    outcomes = tuple(test(condition) for condition in stream.conditions)
    return next((way for way in stream.paths if way.holds == outcomes), None)


def active_legs(legs: Iterable[ir.Leg], test: ConditionTest) -> list[ir.Leg]:
    """Return a way without the calls whose condition fails, as if they were not written."""
    found: list[ir.Leg] = []
    left_out: int | None = None
    joins = False
    for leg in legs:
        mark = leg if isinstance(leg, ir.CallMark) else None
        if left_out is not None:
            if mark and mark.point is ir.CallPoint.ENDS and mark.call.number == left_out:
                left_out, joins = None, True
            continue
        if mark and mark.point is ir.CallPoint.BEGINS and _fails(mark.call.condition, test):
            left_out = mark.call.number
            continue
        last = found[-1] if found else None
        if joins and isinstance(leg, ir.Visit) and isinstance(last, ir.Visit):
            found[-1] = ir.Visit(last.node, (*last.steps, *leg.steps), last.span)
        else:
            found.append(leg)
        joins = False
    return found


def _fails(condition: ir.Condition | None, test: ConditionTest) -> bool:
    return condition is not None and test(condition) is False


def visited(model: ir.Model, test: ConditionTest) -> Mapping[str, Label]:
    """Return the nodes at which streams are, each with who is first there."""
    if not model.derived(_has_conditions):
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
    return dict(_first_of_each(_visits(model, lambda _: True)))


def _first_of_each(visits: Iterable[tuple[str, Label]]) -> Iterator[tuple[str, Label]]:
    known: set[str] = set()
    for node, label in visits:
        if node not in known:
            known.add(node)
            yield node, label


def _visits(model: ir.Model, test: ConditionTest) -> Iterator[tuple[str, Label]]:
    for stream in model.streams:
        legs = legs_of(stream, test)
        if legs and isinstance(stream.flows_from, ir.EachPair) and stream.flows_from.node:
            label = Label(stream.span, f"`{stream.name}` has a flow for each pair")
            yield stream.flows_from.node, label
        if legs and isinstance(stream.flows_from, str):
            yield stream.flows_from, Label(stream.span, f"`{stream.name}` starts at each one")
        for leg in legs:
            if isinstance(leg, ir.Visit):
                yield leg.node, Label(leg.span, f"`{stream.name}` visits it here")
