"""What a name means where an expression stands."""

from __future__ import annotations

from enum import Flag, auto

from msgspec import Struct, field
from msgspec.structs import replace

from qps.compiler.check.names.declarations import Module
from qps.compiler.ir import Quantity


class Allowed(Flag):
    """What an expression may mention, besides numbers, parameters and functions."""

    NOTHING = 0
    POPULATION = auto()
    MEASURES = auto()
    ANSWERS = auto()  # saturation points, the largest acceptable population
    ELASTIC = auto()  # parameters that take what capacity is left
    QUALITY = auto()  # the metric over all requirements
    FORMALS = auto()  # formals without a value: of a function that nothing calls
    FLOWS = POPULATION | ELASTIC
    MODEL = POPULATION | ELASTIC | MEASURES


class Scope(Struct, frozen=True):
    """A module, the values of the formals in force, and what may be spoken of."""

    module: Module
    allowed: Allowed = Allowed.POPULATION
    formals: dict[str, Quantity] = field(default_factory=dict)

    def within(self, module: Module, formals: dict[str, Quantity] | None = None) -> Scope:
        """Return the scope of a definition that stands in a module."""
        return replace(self, module=module, formals=formals or {})
