"""Resources where no waiting is counted, though nothing says that none is meant."""

from __future__ import annotations

from fractions import Fraction

from msgspec import Struct

from qps.compiler import ir
from qps.engine.expressions.formulas import ZERO, Formula, apply, number

_ROUNDING = number(Fraction(1, 10**9))


class UnmodeledQueue(Struct, frozen=True):
    """A resource on the way of a stream of which nothing says how it is waited for.

    It is `label` itself, or as the link that it is a port of. `called` is what a line of
    `station_queue` calls it and all of its kind, and `discipline` how it may be waited for; None
    where none would help, as the stream there names no item that could wait.
    """

    resource: str
    label: str
    called: str
    discipline: ir.Discipline | None


def fitting(resource: ir.Resource) -> ir.Discipline:
    """Return how a resource of a machine may be waited for: one queue for whole, equal cores."""
    cores = resource.capacity.expr
    is_whole = not isinstance(cores, ir.Constant) or cores.value.denominator == 1
    is_processor = resource.kind is ir.ResourceKind.PROCESSOR
    has_equal_cores = is_processor and is_whole and resource.efficiency is None
    return ir.Discipline.MMC if has_equal_cores else ir.Discipline.MM1


def endless(load: Formula) -> Formula:
    """Return what waits for a resource of which nobody says how: nothing, infinite beyond 1.

    At 1 it is as much as it can do. A load that is 1 but for rounding counts as 1.
    """
    return apply("waiting", ZERO, load - _ROUNDING)
