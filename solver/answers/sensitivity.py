"""What each number would buy: elasticities of the answer, by implicit differentiation."""

from __future__ import annotations

from math import isfinite

from qps.compiler.lower.load_graph import LoadGraph
from qps.engine.exact_algebra.exact_values import as_float
from qps.engine.execution.float_runs import number_function
from qps.engine.expressions.formulas import Formula
from qps.engine.expressions.gradients import gradient
from qps.engine.numerics.bisection import first_above_zero
from qps.solver.answers.solution import Sensitivity

_NEGLIGIBLE = 1e-9


def elasticities(over: Formula, at: float, graph: LoadGraph) -> tuple[Sensitivity, ...]:
    """Return d ln N / d ln p for every assumption p, where `over(N, p) = 0` fixes N near `at`.

    `over` is symbolic; by the implicit function theorem dN/dp = -(d over/dp)/(d over/dN).
    The greatest come first; what does not move the answer is left out. Empty where the
    answer does not move smoothly (the limit is a jump).
    """
    slopes = gradient(over, graph.at(at))
    slope = slopes.get(graph.population, 0.0)
    if not isfinite(slope) or abs(slope) < _NEGLIGIBLE:
        return ()
    found = []
    for assumption in graph.assumptions.values():
        partial = slopes.get(assumption.symbol)
        if partial is None or not isfinite(partial):
            continue
        elasticity = -partial * as_float(assumption.fraction) / (slope * at)
        if isfinite(elasticity) and abs(elasticity) > _NEGLIGIBLE:
            # The point was found to some twelve digits: what lies beyond nine is noise.
            found.append(Sensitivity(assumption.name, float(f"{elasticity:.9g}")))
    return tuple(sorted(found, key=lambda s: (-abs(s.elasticity), s.parameter)))


def crossing(over: Formula, population: Formula, below: int, above: int) -> float | None:
    """Return where `over` passes zero between two populations.

    It is not above zero at `below` and not below zero at `above`, exactly; None where it has
    no value. Where it passes at one of the two, floats may lie to either side of zero there:
    their signs at the ends are not requested.
    """
    value = number_function(population, over)
    low, high = float(below), float(above)
    if not all(isfinite(value(end)) for end in (low, high)):
        return None
    return first_above_zero(value, low, high)
