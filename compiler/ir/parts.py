"""What expressions and conditions are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from msgspec import Struct

from qps.compiler import ir
from qps.compiler.diagnostics.source import Span


def names_own_rate(law: ir.Expr) -> bool:
    """Return whether a jitter law names the rate, or the rating, of what has it."""
    return ir.Measured(kind=ir.MeasureKind.RATE, subject=ir.OWN) in parts_of(law)


def parts_of(expr: ir.Expr) -> Iterator[ir.Expr]:
    """Yield an expression and what it is made of, each part before its own."""
    waiting = [expr]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(operands(part))


def parameters_in(value: Any) -> Iterator[str]:
    """Yield the parameters that any part of a model, or of a value in it, names."""
    waiting, seen = [value], set[int]()
    while waiting:
        one = waiting.pop()
        if isinstance(one, Span) or id(one) in seen:
            continue
        seen.add(id(one))
        if isinstance(one, ir.ParameterValue):
            yield one.name
        elif isinstance(one, Struct):
            waiting += [getattr(one, field) for field in one.__struct_fields__]
        elif isinstance(one, tuple | list | frozenset | set):
            waiting += one
        elif isinstance(one, Mapping):
            waiting += one.values()


def operands(expr: ir.Expr) -> Sequence[ir.Expr]:
    """Return what an expression is directly made of."""
    fields = _OPERANDS.get(type(expr))
    return () if fields is None else fields(expr)


_OPERANDS: dict[type, Callable[[Any], Sequence[ir.Expr]]] = {
    ir.Sum: attrgetter("terms"),
    ir.Product: attrgetter("factors"),
    ir.Apply: attrgetter("arguments"),
    ir.Power: attrgetter("base", "exponent"),
    ir.Choice: attrgetter("then", "otherwise"),
    ir.InCase: lambda case: (case.value,),
    ir.ByCase: lambda cases: [stated.value for stated in cases.values],
    ir.Mixture: lambda mixture: [ir.ParameterValue(kind.parameter) for kind in mixture.classes],
    ir.Lookup: lambda lookup: (lookup.argument,),
}
"""By the kind of an expression: this is called for every part of every value."""


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


def words_in(condition: ir.Condition) -> Iterator[str]:
    """Yield what a condition compares with a word: options, places, the mode and the scenario."""
    match condition:
        case ir.AllOf(parts) | ir.AnyOf(parts):
            for part in parts:
                yield from words_in(part)
        case ir.Negated(inner):
            yield from words_in(inner)
        case ir.RowIs(column):
            yield column
        case ir.OptionIs(option):
            yield option


def parted(group: ir.Group) -> ir.Expr:
    """Return what the parts of a group rest on: its size, and in an instance the users there."""
    return group.size.expr if group.users is None else ir.Sum((group.size.expr, group.users))


def subjects(*quantities: ir.Quantity | None) -> tuple[str, ...]:
    """Return the streams, resources, nodes and links whose measures some quantities name."""
    parts = [part for q in quantities if q is not None for part in parts_of(q.expr)]
    return tuple(dict.fromkeys(part.subject for part in parts if isinstance(part, ir.Measured)))
