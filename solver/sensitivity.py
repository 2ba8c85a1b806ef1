"""What each number would buy: elasticities of the answer, by implicit differentiation."""

from __future__ import annotations

import sympy

from qps.compiler.extremes import Maximum, Minimum
from qps.compiler.load_graph import LoadGraph
from qps.solver.compiled import number_function
from qps.solver.solution import Sensitivity

_NEGLIGIBLE = 1e-9


def elasticities(over: sympy.Expr, at: float, graph: LoadGraph) -> tuple[Sensitivity, ...]:
    """Return d ln N / d ln p for every assumption p, where `over(N, p) = 0` fixes N near `at`.

    `over` is symbolic; by the implicit function theorem dN/dp = -(d over/dp)/(d over/dN).
    The greatest come first; what does not move the answer is left out. Empty where the
    answer does not move smoothly (the limit is a jump).
    """
    values = graph.values | {graph.population: sympy.Float(at, 20)}
    piece = _smooth_piece(over, values)
    if piece is None or piece.has(sympy.floor, sympy.ceiling):
        return ()  # steps have no slope that would tell anything
    over = piece
    slope = _number(sympy.diff(over, graph.population), values)
    if slope is None or abs(slope) < _NEGLIGIBLE:
        return ()
    free = over.free_symbols
    found = []
    for assumption in graph.assumptions.values():
        if assumption.symbol not in free or assumption.value == 0:
            continue
        partial = _number(sympy.diff(over, assumption.symbol), values)
        if partial is None:
            continue
        elasticity = -partial * float(assumption.value) / (slope * at)
        if abs(elasticity) > _NEGLIGIBLE:
            # The point was found to some twelve digits: what lies beyond nine is noise.
            found.append(Sensitivity(assumption.name, float(f"{elasticity:.9g}")))
    return tuple(sorted(found, key=lambda s: (-abs(s.elasticity), s.parameter)))


def _smooth_piece(expr: sympy.Expr, values: dict[sympy.Symbol, sympy.Expr]) -> sympy.Expr | None:
    """Return an expression with the alternatives that maxima and minima choose at a point.

    None where one of them has no value there.
    """
    while True:
        kinks = [
            part for part in sympy.postorder_traversal(expr) if isinstance(part, Maximum | Minimum)
        ]
        if not kinks:
            return expr
        kink = kinks[0]  # the innermost: no other one is inside
        chosen = kink.xreplace(values)
        numbers = [argument.xreplace(values) for argument in kink.args]
        if chosen not in numbers:
            return None
        expr = expr.xreplace({kink: kink.args[numbers.index(chosen)]})


def crossing(over: sympy.Expr, population: sympy.Symbol, below: int, above: int) -> float | None:
    """Return where `over` passes zero between two populations, by bisection."""
    compiled = number_function(population, over)
    low, high = float(below), float(above)
    try:
        if not compiled(low) <= 0 < compiled(high):
            return None
        while high - low > 1e-12 * high:
            middle = (low + high) / 2
            if middle in (low, high):
                break
            if compiled(middle) <= 0:
                low = middle
            else:
                high = middle
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return (low + high) / 2


def _number(expr: sympy.Expr, values: dict[sympy.Symbol, sympy.Expr]) -> float | None:
    number = expr.xreplace(values).evalf(15)
    return float(number) if number.is_real and number.is_finite else None
