"""What expressions and conditions are made of."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler import ir


def parts_of(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield an expression and what it is made of."""
    yield expr
    for part in operands(expr):
        yield from parts_of(part)


def operands(expr: ir.Expr) -> tuple[ir.Expr, ...]:
    """Return what an expression is directly made of."""
    match expr:
        case ir.Sum(parts) | ir.Product(parts) | ir.Apply(_, parts):
            return parts
        case ir.Power(base, exponent):
            return (base, exponent)
        case ir.Choice(_, then, otherwise):
            return (then, otherwise)
        case ir.InCase(_, value, _):
            return (value,)
        case ir.ByCase(values):
            return tuple(stated.value for stated in values)
        case ir.Mixture(kinds=kinds):
            return tuple(ir.ParameterValue(kind.parameter) for kind in kinds)
        case ir.Lookup(argument=argument):
            return (argument,)
    return ()


def operands_of(condition: ir.Condition) -> Iterator[ir.Expr]:
    """Yield what the comparisons of a condition compare."""
    match condition:
        case ir.Compare(_, left, right):
            yield from (left, right)
        case ir.AllOf(parts) | ir.AnyOf(parts):
            for part in parts:
                yield from operands_of(part)
        case ir.Negated(inner):
            yield from operands_of(inner)
        case ir.OptionIs():
            pass
