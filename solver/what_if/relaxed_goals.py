"""What is gained by a goal that is less strict: the limit, or the target, that fails first.

That is no change of the system but of what is required of it, and somebody else's decision. The
page tries the same steps: `scripts/live/panels/relaxed_goals.js`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, floor

from qps.compiler import ir
from qps.compiler.configure.configuration import Configuration
from qps.compiler.ir.measure_names import utilization_of
from qps.compiler.lower.load_graph import Assumption, Criterion
from qps.compiler.quantities.dimension import DIMENSIONLESS
from qps.solver.answers.graph_criteria import all_criteria
from qps.solver.answers.solution import Solution
from qps.solver.what_if.candidates import (
    Candidate,
    involved_numbers,
    is_within,
    numbers_of_limits,
)
from qps.solver.what_if.first_users import Ladder

_HALF = Fraction(1, 2)
_TENTHS = (11, 12, 13, 14, 15)
"""Up to half as much again, in steps of a tenth."""
_FAR = (16, 18, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300, 500, 1000, 10_000)
"""Further, where not even the smallest population meets the goal."""
_FEWER, _FAR_FEWER = (90, 80, 70), (60, 50, 40, 30, 20, 10, 5, 2, 1)
"""In hundredths: what is to be at least so much is less by up to a third, and further."""
_QUARTERS = 4


def goal_ladders(
    model: ir.Model, configuration: Configuration, solution: Solution
) -> Iterator[Ladder]:
    """Yield the goals that the answer is limited by, each in steps that require less and less.

    One goal is one number that is the limit of a requirement or the target of a resource.
    """
    parameters = {one.name: one for one in model.parameters}
    limits = numbers_of_limits(solution.graph) - solution.graph.basis.decided
    resources = {utilization_of(name) for name in solution.graph.resources}
    criteria = all_criteria(solution.graph)
    for one in involved_numbers(solution):
        stated = next((each for each in criteria if each.limit is one.symbol), None)
        parameter = parameters.get(one.name)
        if one.name not in limits or stated is None or stated.confidence is not None:
            continue
        if parameter is not None and (not parameter.is_own or parameter.is_elastic):
            continue
        is_load, is_far = stated.name in resources, solution.capacity is None
        ladder = [
            _relaxed(configuration, one, value)
            for value in _whole(one, stated, _values(one.fraction, stated, is_load, is_far))
            if parameter is None or is_within(parameter, value)
        ]
        if ladder:
            yield ladder


def _whole(
    number: Assumption, criterion: Criterion, values: Sequence[Fraction]
) -> Sequence[Fraction]:
    """Return the same values, of what counts things the whole ones that are no milder."""
    if not number.counts_things:
        return values
    whole = [Fraction((floor if criterion.at_most else ceil)(value)) for value in values]
    return [value for value in dict.fromkeys(whole) if value not in (0, number.fraction)]


def _values(
    limit: Fraction,
    criterion: Criterion,
    is_load: bool,  # noqa: FBT001
    is_far: bool,  # noqa: FBT001
) -> list[Fraction]:
    """Return limits that are less and less strict.

    A utilization, and any other share of more than half, has 100 % as its end: it comes closer to
    that by half of what is left, or all the way; what is missing to 100 % grows as an amount does.
    """
    if limit <= 0:
        return []
    factors = [Fraction(one, 10) for one in (*_TENTHS, *(_FAR if is_far else ()))]
    is_share = criterion.dimension == DIMENSIONLESS and limit <= 1
    if is_share and (is_load or limit > _HALF):
        rest = 1 - limit
        if not rest:
            return []
        if criterion.at_most:
            steps = range(1, _QUARTERS + 1)
            most = rest if is_far else rest / 2
            return [limit + most * step / _QUARTERS for step in steps]
        return [1 - rest * factor for factor in factors if rest * factor < 1]
    if not criterion.at_most:
        factors = [Fraction(one, 100) for one in (*_FEWER, *(_FAR_FEWER if is_far else ()))]
    return [limit * factor for factor in factors]


def _relaxed(configuration: Configuration, number: Assumption, value: Fraction) -> Candidate:
    factor = value / number.fraction
    return Candidate(
        name=number.name,
        text=f"{float(factor):g} times the {number.name}",
        configuration=configuration,
        is_capacity=False,
        is_goal=True,
        is_setting=False,
        factor=factor,
        factors={number.name: factor},
    )
