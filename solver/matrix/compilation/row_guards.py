"""What must hold of the inputs of a row, so that it has an answer, and so that its graph is right.

Values have bounds: a cost is never negative, a share at most 1. Where the inputs of a row break
one, the row has no answer, for the reason that `qps solve` gives. A few things about numbers
decide about the structure of the graph (a limit that is the ideal itself, a load that does not
grow with an elastic rate): rows that differ there are solved one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, isnan
from typing import Any

import numpy as np

from qps.compiler import ir
from qps.compiler.configure.bound_hints import more_flows_than_users
from qps.compiler.configure.configuration import Configuration, in_force
from qps.compiler.configure.fold import Folder
from qps.compiler.configure.fractional_runs import is_scaled, repeated_steps
from qps.compiler.configure.values_in_use import flows_in_groups, is_alike, points_of, values_in_use
from qps.compiler.lower.closed_networks.elastic_parameters import ElasticFormula
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.requirements.active_requirements import requirements_in_force
from qps.compiler.lower.requirements.lower_targets import bounds_load
from qps.engine.execution.exact_runs import Exact, ExactRunner, as_fraction, exact
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.monomials import monomials
from qps.engine.expressions.substitution import substituted
from qps.solver.matrix.compilation.row_questions import QuestionLowering
from qps.solver.matrix.limits.row_preparation import Ints

SOUND = 2**63 - 1
"""What looking at guards gives for a row of which none is broken."""

_TOLERANCE = 1e-9
_TINY = 1e-13
_KINDS = 3
_NO_VALUE = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RowGuard:
    """A value that must be in bounds, the operation that gives it; `least`, `most` None for none.

    `below` and `above` explain why a row has no answer then; empty where it must be solved by
    itself, or where the numbers of `flows` decide. `is_least_out`, `is_most_out`: the bound itself
    is out of bounds.
    """

    value: int
    least: Fraction | None = None
    most: Fraction | None = None
    is_least_out: bool = False
    is_most_out: bool = False
    below: str = ""
    above: str = ""
    flows: FlowsInGroup | None = None


@dataclass(frozen=True, slots=True)
class FlowsInGroup:
    """A stream with flows in each group, and operations that give these and the group's users."""

    stream: str
    group: str
    sides: tuple[int, int]

    def reason(self, flows: Fraction, users: Fraction) -> str:
        """Return why a row has no answer in which the flows are more than the users."""
        return more_flows_than_users(self.stream, flows, self.group, users)


@dataclass(frozen=True, slots=True)
class RowGuards:
    """Guards before they are compiled: they name values by their places among `values`."""

    guards: tuple[RowGuard, ...]
    values: tuple[Formula, ...]

    def built(self, numbers: Sequence[int]) -> tuple[RowGuard, ...]:
        """Return them compiled: `numbers` are the operations that give the values."""
        found = []
        for guard in self.guards:
            flows = guard.flows
            if flows is not None:
                own, users = flows.sides
                flows = replace(flows, sides=(numbers[own], numbers[users]))
            found.append(replace(guard, value=numbers[guard.value], flows=flows))
        return tuple(found)


def guards_of(
    model: ir.Model,
    configuration: Configuration,
    graph: LoadGraph,
    questions: QuestionLowering,
    inputs: Collection[Formula],
) -> RowGuards:
    """Return what must hold of the inputs; only what rests on one of them."""
    if not inputs:
        return RowGuards((), ())
    guarded = _Guarded(inputs)
    guards = (
        *_parameters(model, questions, guarded),
        *_values(model, configuration, questions, guarded),
        *_runs(model, configuration, questions, guarded),
        *_structure(model, graph, questions, guarded),
    )
    return RowGuards(guards, tuple(guarded.values))


class _Guarded:
    """The values that guards request, each by its number."""

    def __init__(self, inputs: Collection[Formula]) -> None:
        self.values: dict[Formula, int] = {}
        self._inputs = frozenset(inputs)

    def number(self, value: Formula) -> int:
        """Return the number of a value."""
        return self.values.setdefault(value, len(self.values))

    def rests_on_input(self, expr: Formula) -> bool:
        """Return whether an input is in an expression."""
        return not expr.symbols.isdisjoint(self._inputs)


def _parameters(
    model: ir.Model, questions: QuestionLowering, guarded: _Guarded
) -> Iterator[RowGuard]:
    """Yield the ranges of parameters; each is looked at before anything that rests on them."""
    for parameter in model.parameters:
        low, high = parameter.low, parameter.high
        if low is None or high is None or parameter.is_elastic:
            continue
        own = (ir.ParameterValue(parameter.name), low, high)
        sides = [questions.expressions.in_symbols(expr) for expr in own]
        known = [side for side in sides if side is not None]
        if len(known) < len(sides) or not any(guarded.rests_on_input(s) for s in known):
            continue
        value, least, most = known
        for end, is_low in ((least, True), (most, False)):
            gap = guarded.number(value - end if is_low else end - value)
            where = "below" if is_low else "above"
            reason = f"`{parameter.name}` is {where} its range"
            yield RowGuard(value=gap, least=Fraction(0), below=reason)


def _values(
    model: ir.Model, configuration: Configuration, questions: QuestionLowering, guarded: _Guarded
) -> Iterator[RowGuard]:
    active = in_force(configuration)
    points = points_of(active)
    in_symbols, population = questions.expressions.in_symbols, questions.graph.population
    for bounded in values_in_use(model, active):
        value = None if is_alike(bounded.expr) else in_symbols(bounded.expr)
        if value is None or not guarded.rests_on_input(value):
            continue
        interval = bounded.bound.interval
        reason = bounded.requirement
        varies = population in value.symbols
        for point in points if varies else points[:1]:
            at = substituted(value, {population: number_of(point)}) if varies else value
            yield RowGuard(
                value=guarded.number(at),
                least=interval.least,
                most=interval.most,
                is_least_out=interval.is_least_out,
                is_most_out=interval.is_most_out,
                below=reason,
                above=reason,
            )
            if interval.is_whole:
                rest = guarded.number(at - floor(at))
                yield RowGuard(value=rest, most=Fraction(0), above=reason)
    for stream, flows, group in flows_in_groups(model, active):
        both = ir.Sum((flows.expr, group.size.expr))
        is_of_kinds = Folder(configuration=active, population=Fraction(points[0])).rests_on_kinds(
            both
        )
        in_group = [in_symbols(side) for side in (flows.expr, group.size.expr)]
        known = [side for side in in_group if side is not None]
        if len(known) == len(in_group) and guarded.rests_on_input(known[1] - known[0]):
            for point in points:
                here = {population: number_of(point)}
                own, size = (guarded.number(substituted(side, here)) for side in known)
                yield RowGuard(
                    value=guarded.number(substituted(known[1] - known[0], here)),
                    least=Fraction(0),
                    flows=None if is_of_kinds else FlowsInGroup(stream, group.name, (own, size)),
                )


def _runs(
    model: ir.Model, configuration: Configuration, questions: QuestionLowering, guarded: _Guarded
) -> Iterator[RowGuard]:
    """Yield that steps run whole numbers of times; other rows are solved by themselves.

    The rest of a number of runs is a chance, which the graph of whole ones does not have, or it is
    refused. An uncertain factor scales the demand of each run.
    """
    active = in_force(configuration)
    points = points_of(active)
    at_first = Folder(configuration=active, population=Fraction(points[0]))
    population = questions.graph.population
    for stream in model.streams:
        for step in repeated_steps(stream, model, active):
            runs = questions.expressions.in_symbols(step.repeat)
            if runs is None or not guarded.rests_on_input(runs):
                continue
            if is_scaled(step.repeat, at_first):
                continue
            for point in points if population in runs.symbols else points[:1]:
                at = substituted(runs, {population: number_of(point)})
                yield RowGuard(value=guarded.number(at - floor(at)), most=Fraction(0))


def _structure(
    model: ir.Model, graph: LoadGraph, questions: QuestionLowering, guarded: _Guarded
) -> Iterator[RowGuard]:
    """Yield what the structure of the graph rests on."""
    requirements = requirements_in_force(model, graph.mode, graph.stated.absent)
    low, high = graph.low, graph.high
    points = [number_of(at) for at in (Fraction(low), Fraction(2 * low + high, 3), Fraction(high))]

    def built(expr: Formula | None) -> Iterator[int]:
        """Yield what gives an expression that rests on an input, at some populations."""
        if expr is None or not guarded.rests_on_input(expr):
            return
        varies = graph.population in expr.symbols
        for point in points if varies else points[:1]:
            yield guarded.number(substituted(expr, {graph.population: point}))

    for times, is_share in graph.basis.supposed.items():
        for more in built(times - 1):
            yield (
                RowGuard(value=more, most=Fraction(0))
                if is_share
                else RowGuard(value=more, least=Fraction(0), is_least_out=True)
            )
    for requirement, criterion in zip(requirements, graph.criteria, strict=False):
        if requirement.is_axis:
            for distance in built(_room(requirement, questions)):
                yield from _stays_an_axis(distance, requirement, is_axis=criterion.axis is not None)
    for elastic in graph.elastic:
        for name, most in elastic.at_most.items():
            yield from map(_below_one, built(graph.resources[name].target))
            for requirement in requirements:
                if bounds_load(requirement, name, graph.resources):
                    limit = questions.expressions.in_symbols(requirement.limit.expr)
                    yield from map(_below_one, built(limit))
            for growth in built(most - elastic.at_least[name]):
                yield RowGuard(value=growth, least=Fraction(0), is_least_out=True)
        for slope in _slopes_left_out(graph, elastic):
            for zero in built(slope):
                yield from _stays(zero, is_zero=True)


def _room(requirement: ir.Requirement, questions: QuestionLowering) -> Formula | None:
    """Return how far the limit of an axis lies from its ideal; None where that is not known."""
    limit = questions.expressions.in_symbols(requirement.limit.expr)
    if limit is None or requirement.ideal is None:
        return limit
    ideal = questions.expressions.in_symbols(requirement.ideal.expr)
    return None if ideal is None else limit - ideal


def _stays_an_axis(
    distance: int, requirement: ir.Requirement, *, is_axis: bool
) -> Iterator[RowGuard]:
    """Yield the guards of whether a requirement is an axis, by how far its limit is from its ideal.

    With a limit below the ideal of zero that nobody stated it is none.
    """
    if requirement.ideal is not None:
        yield from _stays(distance, is_zero=not is_axis)
    elif is_axis:
        yield RowGuard(value=distance, least=Fraction(0), is_least_out=True)
    else:
        yield RowGuard(value=distance, most=Fraction(0))


def _slopes_left_out(graph: LoadGraph, elastic: ElasticFormula) -> Iterator[Formula]:
    """Yield what loads that do not limit an elastic parameter grow by with it: nothing, here."""
    symbol = elastic.parameter.symbol
    for name, resource in graph.resources.items():
        if name not in elastic.at_most:
            yield from (by for of, by in monomials(resource.unresolved, {symbol}).items() if of)


def _below_one(value: int) -> RowGuard:
    """Return the guard of how full something elastic fills a resource.

    At 1 there may be no answer: what waits for a full resource waits without end.
    """
    return RowGuard(value=value, most=Fraction(1), is_most_out=True)


def _stays(value: int, *, is_zero: bool) -> Iterator[RowGuard]:
    """Yield the guards of a value that must stay zero, or must never be."""
    if is_zero:
        yield RowGuard(value=value, least=Fraction(0), most=Fraction(0))
        return
    yield RowGuard(value=value, is_least_out=True)


# -- looking at rows ---------------------------------------------------------------------


def broken(
    guards: Sequence[tuple[int, RowGuard]],
    runner: ExactRunner,
    inputs: Mapping[str, Any],
    count: int,
    exact_inputs: Callable[[Ints], Mapping[str, Sequence[Exact]]],
) -> Ints:
    """Return for each row a verdict: the first guard that it breaks, and how; see `verdict`."""
    found = np.full(count, SOUND, dtype=np.int64)
    with np.errstate(all="ignore"):
        values = runner.runner.run({guard.value for _, guard in guards}, {}, inputs)
    for number, guard in guards:
        value = np.broadcast_to(np.asarray(values[guard.value], dtype=float), (count,))
        below, above, near = _sides(guard, value)
        unknown = np.zeros(count, dtype=bool)
        rows = np.flatnonzero(near & (found == SOUND))
        if rows.size:
            names = runner.program.inputs[guard.value]
            floats = {name: inputs[name][rows] for name in names}
            columns = runner.columns([guard.value], exact_inputs(rows), None, rows.size, floats)
            for row, value_here in zip(rows, columns[guard.value], strict=True):
                bound = _bound_side(guard, value_here)
                below[row], above[row], unknown[row] = bound == -1, bound == 1, bound is None
        for kind, out in enumerate((below, above, unknown)):
            found[out & (found == SOUND)] = _KINDS * number + kind
    return found


def reasons_of(
    guards: Sequence[RowGuard],
    verdict: int,
    rows: Ints,
    exactly: Callable[[Sequence[int], Ints], Mapping[int, Sequence[Exact]]],
) -> str | list[str] | None:
    """Return why rows have no answer, all of them or each; None where they are solved alone.

    `exactly` gives operations of some rows.
    """
    guard, kind = guards[verdict // _KINDS], verdict % _KINDS
    if guard.flows is not None and kind == 0:
        values = exactly(guard.flows.sides, rows)
        flows, users = (map(as_fraction, values[side]) for side in guard.flows.sides)
        return list(map(guard.flows.reason, flows, users))
    return (guard.below, guard.above, "")[kind] or None


def has_no_value(verdict: int) -> bool:
    """Return whether what a guard looks at has no value in the rows of a verdict."""
    return verdict % _KINDS == _NO_VALUE


def _sides(guard: RowGuard, value: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which values are below, above, and too near a bound for a float."""
    below, above = np.zeros(value.shape, dtype=bool), np.zeros(value.shape, dtype=bool)
    near = ~np.isfinite(value)
    size = np.max(np.abs(value), initial=_TINY, where=~near)
    if guard.least is None and guard.most is None and guard.is_least_out:
        return below, above, near | (np.abs(value) < _TOLERANCE * size)
    for bound, out, sign in ((guard.least, below, 1.0), (guard.most, above, -1.0)):
        if bound is not None:
            gap = sign * (value - float(bound))
            np.less(gap, 0, out=out)
            near |= np.abs(gap) <= max(_TOLERANCE * max(size, abs(float(bound))), _TINY)
    return below, above, near


def _bound_side(guard: RowGuard, value: Exact) -> int | None:
    """Return -1 for a value below its bounds, 1 for one above, 0 for one in bounds, else None.

    A value that is no fraction is not judged, as it is not elsewhere.
    """
    if isinstance(value, float):
        return None if isnan(value) else 0
    if guard.least is None and guard.most is None:
        return -1 if value == 0 and guard.is_least_out else 0
    if guard.least is not None:
        gap = value - exact(guard.least)
        if gap < 0 or (gap == 0 and guard.is_least_out):
            return -1
    if guard.most is not None:
        gap = value - exact(guard.most)
        if gap > 0 or (gap == 0 and guard.is_most_out):
            return 1
    return 0
