"""The question turned round: which values of a number carry a given population?

The criteria at that population are functions of the one number alone. Where they are made of
rational functions, maxima and minima, their critical points are found exactly; where not, bounds
over boxes find where they change (`search/sign_changes`). Between two neighboring points all
values are alike; at one of each stretch the model is evaluated as it is where that is set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from msgspec import Struct, field

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration, uncertain_in_any_mode
from qps.compiler.ir.measure_names import current_text
from qps.compiler.lower.certainty_requirements import refuse_confidence
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.quantities.certainty import EXACT, Certainty, together
from qps.compiler.quantities.methods import known_by
from qps.engine.expressions.formulas import number as number_of
from qps.engine.expressions.substitution import substituted
from qps.solver.answers.capacity import excess
from qps.solver.answers.graph_criteria import all_criteria, largest_acceptable
from qps.solver.answers.solution import QUALITY, SolverFault
from qps.solver.search.certain_signs import sign_at
from qps.solver.what_if.acceptable_values import AcceptableInterval, RequirementsOfNumber
from qps.solver.what_if.boundaries import Excess, Failure, FailureAt, boundaries_of
from qps.solver.what_if.fewer_users import passes_for_fewer
from qps.solver.what_if.inverse_unknown import Unknown, refuse, refuse_outside, unknown_of
from qps.solver.what_if.overridden_model import ModelAsSet

_NEARLY = Fraction(1, 10**9)
_MOST_EVALUATIONS, _MOST_OTHERS = 12, 3
"""Between so many points the model is evaluated as it is where a value is set.

And of these between so many that are not next to acceptable values.
"""


class InverseSolution(Struct, frozen=True, kw_only=True):
    """The values of a number, in base units, with which a population is acceptable.

    Where nothing is acceptable, `fails` is what fails at every value of the range; where nothing
    does so by itself, it is what fails at one or the other, and not `fails_throughout`.
    `known` is a lower bound where more values may be acceptable in truth, an upper one where fewer.
    """

    number: Unknown
    population: str
    at: int
    intervals: tuple[AcceptableInterval, ...]
    fails: tuple[FailureAt, ...]
    fails_throughout: bool
    known: Certainty = EXACT
    ports: Mapping[str, str] = field(default_factory=dict)
    """The ports of switches, with the link that each is a port of."""
    nominal_inputs: tuple[str, ...] = ()
    """The other numbers that nobody knows exactly: typical values stand for them."""


def solve_for(
    model: ir.Model, configuration: Configuration, name: str, population: int
) -> InverseSolution:
    """Return the values of a parameter, or of any number of the model, that carry a population.

    QpsError where there is no such number, where a condition depends on it, or where what it
    gives carries the population but not a smaller one.
    """
    trying = f"for the capacity at one value, run `qps solve --set '{name} = …'`"
    is_set = any(parameter.name == name for parameter in model.parameters)
    name = name if is_set else current_text(name)
    refuse_confidence(model, configuration, trying if is_set else "")
    refuse_outside(model, configuration, population)
    number = unknown_of(model, configuration, name, population)
    excesses = [
        Excess(failure=Failure(r.message, None, refused=True), value=r.over, strict=r.strict)
        for r in number.refused
    ]
    as_set = ModelAsSet(model, configuration, number, population)
    excesses += [over for graph in number.graphs for over in as_set.excesses_of(graph)]
    found_at = boundaries_of(
        excesses,
        number.symbol,
        (number.low, number.high),
        unit=str(number.dimension),
        is_whole=number.is_count,
    )
    judged, as_tried = _requirements_of(as_set, number, found_at.excesses, found_at.points)
    found = judged.intervals()
    for interval in found:
        _check_interval(number, interval, population, as_set)
    below = together(*(_known_below(number, interval, population) for interval in found))
    found = [judged.with_known_ends(interval) for interval in found]
    throughout = () if found else judged.fails_throughout()
    fails = throughout or tuple(dict.fromkeys(r for r in judged.reasons if r is not None))
    return InverseSolution(
        number=number,
        population=model.population.name,
        at=population,
        intervals=tuple(found),
        fails=() if found else fails,
        fails_throughout=bool(throughout),
        known=together(judged.known(is_none=not found), found_at.known, as_tried, below),
        ports=number.graphs[0].ports,
        nominal_inputs=tuple(
            one for one in uncertain_in_any_mode(model, configuration) if one != name
        ),
    )


def _requirements_of(
    as_set: ModelAsSet, number: Unknown, excesses: Sequence[Excess], points: Sequence[Fraction]
) -> tuple[RequirementsOfNumber, Certainty]:
    """Return what is required, judged between points, as it is where values are set.

    And what that adds to how it is known.
    """
    ends = [number.low, *points, number.high]
    by_formulas = RequirementsOfNumber(number, excesses, ends)
    known = as_set.criteria_with_signs(
        excesses, {number.low, number.high, *by_formulas.undefined_ends()}
    )
    judged = RequirementsOfNumber(number, known, ends)
    if as_set.agrees(known, judged.representative_middles(_MOST_EVALUATIONS, _MOST_OTHERS)):
        return judged, EXACT
    alone = as_set.alone(excesses)
    changes = as_set.changes(alone)
    if changes is None:
        return judged, EXACT
    points, certainty = changes
    return RequirementsOfNumber(
        number, alone, sorted({number.low, *points, number.high})
    ), certainty


def _check_interval(
    number: Unknown, interval: AcceptableInterval, population: int, as_set: ModelAsSet
) -> None:
    """Check an interval: just inside it every population up to the given one is acceptable."""
    for at in _just_inside(interval, is_whole=number.is_count):
        valued = [graph.with_values({number.name: number_of(at)}) for graph in number.graphs]
        for graph in as_set.known(at) or valued:
            largest = largest_acceptable(graph.up_to(population)) or graph.low - 1
            if largest >= population:
                continue
            if _accepts(graph, population):
                mode = f" in mode {graph.mode}" if graph.mode else ""
                value = _plainly(at, number)
                refuse(
                    f"{population:,} users are supported with {number.name} at "
                    f"{value}{mode}, but {largest + 1:,} are not",
                    "a smaller population fails: raise the lower end of `users`, or "
                    "solve for the failing population",
                )
            raise SolverFault(f"{number.name} = {float(at)!r} does not support {population}")


def _known_below(number: Unknown, interval: AcceptableInterval, population: int) -> Certainty:
    """Return how it is known that fewer users are carried throughout an interval, too."""
    values = float(interval.low), float(interval.high)
    for graph in number.graphs:
        symbols, users = (graph.population, number.symbol), (float(graph.low), float(population))
        own = {s: value for s, value in graph.values.items() if s != number.symbol}
        for criterion in all_criteria(graph) if graph.low < population else ():
            if criterion.name == QUALITY and graph.metric is ir.Metric.WORST:
                continue  # it holds where its axes do
            over, strict = substituted(excess(criterion), own), criterion.strict
            if not passes_for_fewer(over, symbols, users, values, strict=strict):
                return known_by(
                    "lower-populations-unchecked", population=population, criterion=criterion.name
                )
    return EXACT


def _plainly(value: Fraction, number: Unknown) -> str:
    if number.is_share:
        return f"{float(100 * value):g} %"
    return f"{float(value):g} {number.dimension}".rstrip()


def _just_inside(interval: AcceptableInterval, *, is_whole: bool) -> tuple[Fraction, Fraction]:
    if interval.exact is not None:
        return interval.exact, interval.exact
    low, high = Fraction(interval.low), Fraction(interval.high)
    if is_whole:
        return low, high
    half = (high - low) / 2
    return (
        low + min(half, (abs(low) or half) * _NEARLY),
        high - min(half, (abs(high) or half) * _NEARLY),
    )


def _accepts(graph: LoadGraph, population: int) -> bool:
    point = Fraction(population)
    signs = [
        (sign_at(graph.valued(excess(c)), graph.population, point), c.strict)
        for c in all_criteria(graph)
    ]
    return all(sign is not None and (sign < 0 or (sign == 0 and not s)) for sign, s in signs)
