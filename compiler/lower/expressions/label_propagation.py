"""How the value of a checked expression is known: as what it names, through what is made of it.

A value that rises with a bound is a bound of the same side, one that falls of the other. Where
neither is certain, or bounds of both sides meet, it is an approximation. Which it is, the table of
operations says of the formula in which a symbol stands for each measure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from qps.compiler import ir
from qps.compiler.ir.parts import parts_of
from qps.compiler.lower.expressions.lower_expressions import ExpressionLowering
from qps.compiler.quantities.certainty import EXACT, Certainty, approximation, opposite, together
from qps.engine.expressions.formula_parts import parts_first
from qps.engine.expressions.formulas import Formula, symbol
from qps.engine.expressions.signs import ranges_of
from qps.engine.numerics.value_ranges import ANY, NOT_NEGATIVE, ValueRange
from qps.engine.operations import OPERATIONS

Measurable = ir.Measured | ir.Changed
CertaintyOf = Callable[[Measurable], Certainty]


def certainty_of(expr: ir.Expr, expressions: ExpressionLowering, known: CertaintyOf) -> Certainty:
    """Return how an expression is known; `known` says it of the measures that it names."""
    return certainties_of(expr, expressions, (known,))[0]


def certainties_of(
    expr: ir.Expr, expressions: ExpressionLowering, known: Sequence[CertaintyOf]
) -> list[Certainty]:
    """Return how an expression is known in several cases."""
    measures = dict.fromkeys(p for p in parts_of(expr) if isinstance(p, ir.Measured | ir.Changed))
    cases = [tuple(map(one, measures)) for one in known]
    found: dict[tuple[Certainty, ...], Certainty] = {}
    for case in cases:
        if case not in found:
            found[case] = _certainty(expr, expressions, dict(zip(measures, case, strict=True)))
    return [found[case] for case in cases]


def _certainty(
    expr: ir.Expr, expressions: ExpressionLowering, of_each: Mapping[Measurable, Certainty]
) -> Certainty:
    is_open, leaves = expressions.with_open()
    if not leaves and all(each.is_exact for each in of_each.values()):
        return together(*of_each.values())
    symbols = {measure: symbol(f"the measure {k}") for k, measure in enumerate(of_each)}
    lowered = is_open.lower(expr, symbols.__getitem__)
    ranges = dict.fromkeys(leaves, NOT_NEGATIVE)
    leaves |= {symbols[measure]: each for measure, each in of_each.items()}
    ranges |= {symbols[measure]: _range_of(measure) for measure in of_each}

    def certainty_of(formula: Formula, numbers: Mapping[Formula, ValueRange]) -> Certainty:
        return followed(formula, leaves, ranges | dict(numbers))

    found = expressions.of_what_stays(lowered, certainty_of)
    because = dict.fromkeys(reason for each in leaves.values() for reason in each.because)
    return replace(found, because=tuple(one for one in because if one in found.because))


def _range_of(measurable: Measurable) -> ValueRange:
    """Return a range of what a measure truly is.

    Times, shares, rates, loads and prices are not negative, whatever they come to.
    """
    measure = measurable.value if isinstance(measurable, ir.Changed) else measurable
    if not isinstance(measure, ir.Measured) or measure.kind is ir.MeasureKind.QUALITY:
        return ANY
    return NOT_NEGATIVE


def followed(
    formula: Formula,
    leaves: Mapping[Formula, Certainty],
    ranges: Mapping[Formula, ValueRange] | None = None,
) -> Certainty:
    """Follow certainties from leaves through a formula: no other leaf is negative by default."""
    if ranges is None:
        ranges = dict.fromkeys(formula.symbols, NOT_NEGATIVE)
    found: dict[Formula, Certainty] = {}
    within = ranges_of(formula, ranges)
    for part in parts_first(formula):
        own = [found[operand] for operand in part.operands]
        if all(one.is_exact for one in own):
            found[part] = leaves.get(part, EXACT)
        else:
            moves = OPERATIONS[part.word].moves(*(within[operand] for operand in part.operands))
            found[part] = together(*(_moved(*each) for each in zip(own, moves, strict=True)))
    return found[formula]


def _moved(part: Certainty, move: int) -> Certainty:
    """Return how a value is known that moves with a part in some way, and rests on it alone."""
    if part.is_exact or move > 0:
        return part
    return opposite(part) if move else approximation(*part.because)
