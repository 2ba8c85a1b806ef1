"""What expressions and conditions are made of."""

from __future__ import annotations

from collections.abc import Iterator

from qps.compiler.ir.expressions import (
    AllOf,
    AnyOf,
    Apply,
    ByCase,
    Choice,
    Compare,
    Condition,
    Expr,
    InCase,
    Lookup,
    Mixture,
    Negated,
    OptionIs,
    ParameterValue,
    Power,
    Product,
    Sum,
)


def parts_of(expr: Expr) -> Iterator[Expr]:
    """Yield an expression and what it is made of."""
    yield expr
    for part in operands(expr):
        yield from parts_of(part)


def operands(expr: Expr) -> tuple[Expr, ...]:
    """Return what an expression is directly made of."""
    match expr:
        case Sum(parts) | Product(parts) | Apply(_, parts):
            return parts
        case Power(base, exponent):
            return (base, exponent)
        case Choice(_, then, otherwise):
            return (then, otherwise)
        case InCase(_, value, _):
            return (value,)
        case ByCase(values):
            return tuple(stated.value for stated in values)
        case Mixture(kinds=kinds):
            return tuple(ParameterValue(kind.parameter) for kind in kinds)
        case Lookup(argument=argument):
            return (argument,)
    return ()


def operands_of(condition: Condition) -> Iterator[Expr]:
    """Yield what the comparisons of a condition compare."""
    match condition:
        case Compare(_, left, right):
            yield from (left, right)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from operands_of(part)
        case Negated(inner):
            yield from operands_of(inner)
        case OptionIs():
            pass
