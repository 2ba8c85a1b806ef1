"""What each number would buy: elasticities of the answer, by implicit differentiation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite

import sympy

from qps.compiler.lower.extremes import Maximum, Minimum, settled
from qps.compiler.lower.load_graph import LoadGraph
from qps.compiler.lower.substitution import Substitution
from qps.solver.compiled import number_function
from qps.solver.solution import Sensitivity

_NEGLIGIBLE = 1e-9
_DIGITS = 30


def elasticities(over: sympy.Expr, at: float, graph: LoadGraph) -> tuple[Sensitivity, ...]:
    """Return d ln N / d ln p for every assumption p, where `over(N, p) = 0` fixes N near `at`.

    `over` is symbolic; by the implicit function theorem dN/dp = -(d over/dp)/(d over/dN).
    The greatest come first; what does not move the answer is left out. Empty where the
    answer does not move smoothly (the limit is a jump).
    """
    put_in = Substitution(graph.values | {graph.population: sympy.Float(at, 20)})
    piece = _smooth_piece(over, put_in)
    if piece is None:
        return ()
    gradient = _gradient(piece, put_in)
    slope = _number(gradient.get(graph.population, sympy.S.Zero))
    if slope is None or abs(slope) < _NEGLIGIBLE:
        return ()
    found = []
    for assumption in graph.assumptions.values():
        if assumption.symbol not in gradient or assumption.value == 0:
            continue
        partial = _number(gradient[assumption.symbol])
        if partial is None:
            continue
        elasticity = -partial * float(assumption.value) / (slope * at)
        if abs(elasticity) > _NEGLIGIBLE:
            # The point was found to some twelve digits: what lies beyond nine is noise.
            found.append(Sensitivity(assumption.name, float(f"{elasticity:.9g}")))
    return tuple(sorted(found, key=lambda s: (-abs(s.elasticity), s.parameter)))


def _smooth_piece(expr: sympy.Expr, put_in: Substitution) -> sympy.Expr | None:
    """Return an expression with the alternatives that maxima and minima choose at a point.

    None where one of them has no value there.
    """
    known: dict[sympy.Expr, sympy.Expr | None] = {}

    def smooth(part: sympy.Expr) -> sympy.Expr | None:
        if part not in known:
            known[part] = _joined(part, [smooth(argument) for argument in part.args], put_in)
        return known[part]

    return smooth(expr)


def _joined(
    part: sympy.Expr, arguments: Sequence[sympy.Expr | None], put_in: Substitution
) -> sympy.Expr | None:
    """Return an expression of smooth arguments; of a maximum or minimum, the one it chooses."""
    if any(argument is None for argument in arguments):
        return None
    if isinstance(part, Maximum | Minimum):
        chosen = put_in(part)
        numbers = [settled(put_in(argument)) for argument in part.args]
        return arguments[numbers.index(chosen)] if chosen in numbers else None
    same = all(new is old for new, old in zip(arguments, part.args, strict=True))
    return part if same else part.func(*arguments)


def crossing(over: sympy.Expr, population: sympy.Symbol, below: int, above: int) -> float | None:
    """Return where `over` passes zero between two populations, by bisection.

    It is not above zero at `below` and not below zero at `above`, exactly; None where it has
    no value. Where it passes at one of the two, floats may lie to either side of zero there:
    their signs at the ends are not asked for.
    """
    compiled = number_function(population, over)
    low, high = float(below), float(above)
    try:
        if not all(isfinite(compiled(end)) for end in (low, high)):
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


def _gradient(expr: sympy.Expr, put_in: Substitution) -> dict[sympy.Expr, sympy.Expr]:
    """Return the derivatives of an expression by its symbols at a point.

    By the chain rule, from the whole down to its parts, each part once: written out, they
    are many times as many.
    """
    slopes = {expr: sympy.S.One}
    for part in _parts_first(expr)[::-1]:
        for argument, slope in _local_slopes(part, put_in):
            slopes[argument] = slopes.get(argument, sympy.S.Zero) + slopes[part] * slope
    return {part: slope for part, slope in slopes.items() if part.is_Symbol}


def _parts_first(expr: sympy.Expr) -> list[sympy.Expr]:
    """Return each part of an expression once, behind all of its own parts."""
    found: dict[sympy.Expr, None] = {}

    def visit(part: sympy.Expr) -> None:
        if part not in found:
            for argument in part.args:
                visit(argument)
            found[part] = None

    visit(expr)
    return list(found)


def _local_slopes(
    part: sympy.Expr, put_in: Substitution
) -> Iterator[tuple[sympy.Expr, sympy.Expr]]:
    """Yield each argument that is not fixed, and the derivative by it at a point."""
    if isinstance(part, sympy.ceiling | sympy.floor):
        yield part.args[0], sympy.S.Zero  # but where it jumps; sympy leaves this derivative open
        return
    stand_ins = [a if a.is_number else sympy.Dummy(real=True) for a in part.args]
    form = part.func(*stand_ins) if part.args else part
    values = {s: put_in(a).evalf(_DIGITS) for s, a in zip(stand_ins, part.args, strict=True)}
    for argument, stand_in in zip(part.args, stand_ins, strict=True):
        if stand_in is not argument:
            yield argument, form.diff(stand_in).xreplace(values)


def _number(value: sympy.Expr) -> float | None:
    number = value.evalf(15)
    return float(number) if number.is_real and number.is_finite else None
